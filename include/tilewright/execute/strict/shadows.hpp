#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "tilewright/execute/aligned_memory.hpp"
#include "tilewright/execute/strict/plan.hpp"

namespace tilewright::internal {

/// Bytes of poison that are checked on both sides of the memory that a vertex declares.
inline constexpr std::int64_t strict_guard = 64;

/// Memory in the layout of the fast mode, filled with poison. Declared elements are written to it before a vertex runs, and
/// removed afterwards. It exists twice, with two poisons: negative and positive numbers of all dtypes, except bool.
class StrictShadows {
 public:
  explicit StrictShadows(const StrictPlan& plan) : plan_(plan) {}

  static std::byte poison_of(DType dtype, int side) {
    switch (dtype) {  // floats: large enough to be the largest or least, and small enough to change if something is added
      case boolean: return static_cast<std::byte>(side);
      case float16: return static_cast<std::byte>(side == 0 ? 0xCF : 0x4C);  // -31.2, 17.2
      case bfloat16:
      case float32: return static_cast<std::byte>(side == 0 ? 0xC5 : 0x44);  // -6,328, 785
      case float64: return static_cast<std::byte>(side == 0 ? 0xC0 : 0x40);  // -8,577, 32.5
      default: return static_cast<std::byte>(side == 0 ? 0xCB : 0x4C);
    }
  }
  /// Returns element 0 of a storage.
  std::byte* data(std::size_t body, int storage, int side) {
    if (bodies_.empty()) bodies_.resize(plan_.bodies.size());
    auto& shadows = bodies_[body];
    if (shadows.empty()) shadows.resize(plan_.bodies[body].storages.size());
    Shadow& shadow = shadows[static_cast<std::size_t>(storage)];
    if (!shadow.sides[0]) {
      shadow.bytes = bytes_of(body, storage) + 2 * guard;
      for (auto& each : shadow.sides) each = std::make_unique<AlignedMemory>(shadow.bytes, "shadows in strict mode");
      poison(shadow, plan_.bodies[body].storages[static_cast<std::size_t>(storage)].dtype);
    }
    return shadow.sides[static_cast<std::size_t>(side)]->data() + guard;
  }
  /// Fills all memory with poison again.
  [[gnu::cold]] void poison() {
    for (std::size_t b = 0; b < bodies_.size(); ++b)
      for (std::size_t s = 0; s < bodies_[b].size(); ++s)
        if (bodies_[b][s].sides[0]) poison(bodies_[b][s], plan_.bodies[b].storages[s].dtype);
  }

 private:
  static constexpr std::int64_t guard = 256;
  struct Shadow {
    std::unique_ptr<AlignedMemory> sides[2];
    std::int64_t bytes = 0;
  };
  [[gnu::cold]] static void poison(Shadow& shadow, DType dtype) {
    for (int side = 0; side < 2; ++side)
      std::memset(shadow.sides[side]->data(), static_cast<int>(poison_of(dtype, side)), static_cast<std::size_t>(shadow.bytes));
  }
  /// Returns the bytes of a storage. Tables in streaming memory are larger than their elements.
  [[gnu::cold]] std::int64_t bytes_of(std::size_t body, int s) const {
    const StrictStorage& storage = plan_.bodies[body].storages[static_cast<std::size_t>(s)];
    std::int64_t elements = storage.elements;
    for (const StrictGroup& group : plan_.bodies[body].groups)
      for (const StrictOperand& operand : group.operands) {
        if (operand.storage != s || !operand.is_remote) continue;
        std::int64_t last = operand.offset;
        for (const LayoutAxis& axis : operand.axes) last += (axis.extent - 1) * axis.stride;
        elements = (std::max)(elements, last + 1);
      }
    return elements * storage.bytes;
  }

  const StrictPlan& plan_;
  std::vector<std::vector<Shadow>> bodies_;  // by body and storage
};

}  // namespace tilewright::internal
