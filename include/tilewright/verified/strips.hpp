#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "tilewright/graph/op_info/op_info.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/verified/memory.hpp"

namespace tilewright::internal::proof::detail {

/// A convolution over strips of images: its parts, one of which is a convolution, and the shape of that one's result.
struct Strips {
  List<OpPart> parts{};
  Shape shape{};
};

/// Returns the convolution over each number of strips for which a plan's stages have an op of its windows.
constexpr List<Strips> strips_in(std::span<const Stage> stages, const OpInfo& op, const PackedAttributes& attributes,
                                 std::span<const TensorSpec> operands) {
  const auto has_stage = [&](const OpTag* tag, const auto& is_right) {
    for (const Stage& stage : stages)
      if (stage.op == tag && is_right(stage.attributes)) return true;
    return false;
  };
  List<Strips> result;
  std::int64_t most = 1;  // rows
  for (const TensorSpec& operand : operands) most = std::max(most, operand.shape[2]);
  for (std::int64_t count = 2; count <= most; ++count) {
    Strips strips{op.expand_in_blocks(operands, static_cast<int>(operands.size()) - 1, attributes, count), {}};
    const OpPart* product = nullptr;
    for (const OpPart& part : strips.parts)
      if (part.op->work_kind == WorkKind::convolution) product = &part;
    if (product == nullptr) continue;
    const OpTag* const tag = product->op->tag;
    if (!has_stage(tag, [&](const PackedAttributes& other) { return tag != op.tag || other != attributes; })) return result;
    if (!has_stage(tag, [&](const PackedAttributes& other) { return other == product->attributes; })) continue;
    strips.shape = product == &strips.parts.back() ? operands.back().shape : product->outputs[0].shape;
    result.push_back(std::move(strips));
  }
  return result;
}

/// Writes, at the number of each element of `value` that `result` has, what `whole` has in its place. `axis`: that of the runs.
constexpr void write_inverse(Memory& memory, const Content& result, Access extents, Content whole, ValueId value, int axis = 0) {
  if (result.parts.empty()) {
    if (result.value != value) return;
    extents.offset = result.first;
    for (int i = 0; i < extents.rank; ++i) {
      extents.strides[i] = result.steps[i];
      if (extents.extents[i] == 1) whole.steps[i] = 0;
    }
    return memory.write(extents, whole);
  }
  for (const Content& part : result.parts) {
    extents.extents[axis] = part.count;
    write_inverse(memory, part, extents, whole, value, axis + 1);
    whole.first += part.count * whole.steps[axis];
  }
}
/// Returns the elements of `value`, a tensor of `shape`, in those of `whole`, where `result` are the elements of `value` that
/// `whole` has in their order. What `whole` does not have is unwritten.
constexpr Content in_elements_of(ValueId whole, const Content& result, const Shape& shape_of_whole, ValueId value,
                                 const Shape& shape) {
  const Access access = access_of(0, {shape_of_whole, uint8}, dense_strides(shape_of_whole));
  Memory memory;
  write_inverse(memory, result, access, whole_of(whole, access), value);
  return memory.read(access_of(0, {shape, uint8}, dense_strides(shape)));
}

}  // namespace tilewright::internal::proof::detail
