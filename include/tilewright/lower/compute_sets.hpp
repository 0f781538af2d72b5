#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// The slice of an operand that a vertex of the given extents takes: its extents, in the operand's own strides.
constexpr ViewSpec slice_of(const ViewSpec& operand, int number, const Work& work,
                            const FixedVector<std::int64_t, max_work_axes>& extents) {
  ViewSpec slice = written_out(operand);
  for (int axis = 0; axis < slice.shape.rank; ++axis)
    if (const int followed = work.follows(number, axis); followed >= 0) slice.shape[axis] = extents[followed];
  return slice;
}

/// The slice of an operand of a fused stage, which broadcasts to the result of the op, for a block of that result.
constexpr ViewSpec broadcast_slice(const ViewSpec& operand, const Shape& block) {
  ViewSpec slice = written_out(operand);
  for (int axis = 1; axis <= slice.shape.rank; ++axis)
    if (slice.shape[-axis] != 1) slice.shape[-axis] = block[-axis];
  return slice;
}

/// The distinct compute sets of a plan, found by hash.
class ComputeSets {
 public:
  /// The index of an equal compute set, added if there is none.
  constexpr int add(std::vector<ComputeSet>& sets, const ComputeSet& set, const Work& work) {
    if (2 * (sets.size() + 1) > table_.size()) grow();
    const std::size_t key = hash(set);
    std::size_t slot = key % table_.size();
    for (; table_[slot].second >= 0; slot = (slot + 1) % table_.size())
      if (table_[slot].first == key && sets[static_cast<std::size_t>(table_[slot].second)] == set) return table_[slot].second;
    table_[slot] = {key, static_cast<int>(sets.size())};
    sets.push_back(set);
    std::int64_t bytes = 0;
    for (int i = 0; i < set.operands.size(); ++i) {
      const ViewSpec slice = slice_of(set.operands[i], i, work, set.blocks);
      bytes += slice.shape.nelms() * size_of(slice.dtype);
    }
    largest_vertex_ = std::max(largest_vertex_, bytes);
    return table_[slot].second;
  }
  /// Bytes of the operands' slices of the vertex that has most.
  constexpr std::int64_t largest_vertex() const { return largest_vertex_; }

 private:
  static constexpr std::size_t hash(const ComputeSet& set) {
    std::size_t value = 1469598103934665603u;  // FNV-1a, by words
    const auto add = [&value](std::int64_t word) { value = (value ^ static_cast<std::size_t>(word)) * 1099511628211u; };
    for (const ViewSpec& operand : set.operands)
      for (int axis = 0; axis < operand.shape.rank; ++axis) add(operand.shape[axis]), add(operand.stride(axis));
    for (const FusedStage& stage : set.fused)
      for (const ViewSpec& operand : stage.operands) add(operand.stride(0)), add(operand.shape.nelms());
    add(set.attributes.words[0]), add(set.attributes.words[1]);
    return value;
  }
  constexpr void grow() {
    const auto old = std::exchange(table_, std::vector<std::pair<std::size_t, int>>(2 * table_.size() + 32, {0, -1}));
    for (const auto& entry : old) {
      if (entry.second < 0) continue;
      std::size_t slot = entry.first % table_.size();
      while (table_[slot].second >= 0) slot = (slot + 1) % table_.size();
      table_[slot] = entry;
    }
  }

  std::vector<std::pair<std::size_t, int>> table_{};  // open addressing, at most half full
  std::int64_t largest_vertex_ = 0;
};

}  // namespace tilewright
