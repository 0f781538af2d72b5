#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "tilewright/lower/plan.hpp"
#include "tilewright/rules/ipu/rules_of_ops.hpp"
#include "tilewright/verified/memory/memory.hpp"

namespace tilewright::internal::proof::detail {

/// A convolution over strips of images: its parts, one of which is a convolution, and the shape of that one's result.
struct Strips {
  List<OpPart> parts{};
  Shape shape{};
};

/// All stages of a plan, and their operands.
struct PlanStages {
  std::span<const Stage> stages{};
  std::span<const StageOperand> operands{};
  const Target* target = nullptr;  ///< a simulated IPU, or null

  /// Returns whether a stage has an op, and `is_right(attributes, rows)` holds for its attributes and the rows of its first
  /// input.
  constexpr bool has(const OpTag* op, const auto& is_right) const {
    for (const Stage& stage : stages) {
      const auto first = static_cast<std::size_t>(stage.first_operand);
      if (stage.op == op && first < operands.size() && is_right(stage.attributes, operands[first].view.shape[2])) return true;
    }
    return false;
  }
};

/// Returns the ops that stand for an op in a plan; none: it has the op itself.
constexpr List<OpPart> parts_in(const PlanStages& plan, const OpInfo& op, const PackedAttributes& attributes,
                                std::span<const TensorSpec> operands, std::size_t inputs) {
  if (op.expand) return op.expand(operands, static_cast<int>(inputs), attributes);
  if (op.work_kind != WorkKind::indexed || plan.target == nullptr) return {};
  if (const TileRule expand = ipu_rules_of(op).expand)
    return expand(operands, static_cast<int>(inputs), attributes, *plan.target);
  return {};
}

/// Returns the convolution over each number of strips for which a plan has an op of its windows and rows.
constexpr List<Strips> strips_in(const PlanStages& plan, const OpInfo& op, const PackedAttributes& attributes,
                                 std::span<const TensorSpec> operands) {
  List<Strips> result;
  if (plan.stages.empty()) return result;
  const BlockRule expand_in_blocks = ipu_rules_of(op).expand_in_blocks;
  std::int64_t most = 1;  // rows
  for (const TensorSpec& operand : operands) most = (std::max)(most, operand.shape[2]);
  for (std::int64_t count = 2; count <= most; ++count) {
    Strips strips{expand_in_blocks(operands, static_cast<int>(operands.size()) - 1, attributes, count), {}};
    const OpPart* product = nullptr;
    for (const OpPart& part : strips.parts)
      if (part.op->work_kind == WorkKind::convolution) product = &part;
    if (product == nullptr) continue;
    const OpTag* const tag = product->op->tag;
    const auto is_other = [&](const PackedAttributes& other, std::int64_t rows) {
      return tag != op.tag || other != attributes || rows != operands[0].shape[2];
    };
    if (!plan.has(tag, is_other)) return result;
    const auto first = static_cast<std::size_t>(product->inputs[0]), inputs = operands.size() - 1;
    const std::int64_t rows = (first < inputs ? operands[first] : strips.parts[first - inputs].outputs[0]).shape[2];
    const auto is_equal = [&](const PackedAttributes& other, std::int64_t its_rows) {
      return other == product->attributes && its_rows == rows;
    };
    if (!plan.has(tag, is_equal)) continue;
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
