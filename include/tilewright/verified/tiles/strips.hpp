#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "tilewright/lower/plan.hpp"
#include "tilewright/rules/ipu/rules_of_ops.hpp"
#include "tilewright/verified/terms.hpp"

namespace tilewright::internal::proof::detail {

/// A convolution over parts of images: its parts, one of which is a product, and the shape of that one's result.
struct Strips {
  List<OpPart> parts{};
  Shape shape{};
};

/// All stages of a plan, and their operands.
struct PlanStages {
  std::span<const Stage> stages{};
  std::span<const StageOperand> operands{};
  const Target* target = nullptr;  ///< a simulated IPU, or null

  /// Calls f with the attributes and the shape of the first input of each stage that has an op.
  constexpr void for_each(const OpTag* op, auto&& f) const {
    for (const Stage& stage : stages)
      if (const auto first = static_cast<std::size_t>(stage.first_operand); stage.op == op && first < operands.size())
        f(stage.attributes, operands[first].view.shape);
  }
};

/// Returns the ops that stand for an op in a plan; none: it has the op itself.
constexpr List<OpPart> parts_in(const PlanStages& plan, const OpInfo& op, const PackedAttributes& attributes,
                                std::span<const TensorSpec> operands, std::size_t inputs) {
  if (op.expand) return op.expand(operands, static_cast<int>(inputs), attributes);
  if (!may_expand_on_tiles(op) || plan.target == nullptr) return {};
  if (const TileRule expand = ipu_rules_of(op).expand)
    return expand(operands, static_cast<int>(inputs), attributes, *plan.target);
  return {};
}

/// Returns the parts of a convolution over images that are cut so, if a plan has a product of their attributes and extents.
constexpr Strips strips_of(const PlanStages& plan, const OpInfo& op, const PackedAttributes& attributes,
                           std::span<const TensorSpec> operands, const ImageCut& cut) {
  const std::size_t inputs = operands.size() - 1;
  Strips strips{ipu_rules_of(op).expand_in_blocks(operands, static_cast<int>(inputs), attributes, cut), {}};
  for (const OpPart& part : strips.parts) {
    if (part.op->work_kind != WorkKind::convolution) continue;
    const auto first = static_cast<std::size_t>(part.inputs[0]) - inputs;  // it reads a part's result
    const Shape& images = strips.parts[first].outputs[0].shape;
    bool is_planned = false;
    plan.for_each(part.op->tag, [&](const PackedAttributes& other, const Shape& shape) {
      bool is_equal = other == part.attributes && shape.rank == images.rank;
      for (int axis = 2; is_equal && axis < images.rank; ++axis) is_equal = shape[axis] <= images[axis];
      is_planned = is_planned || is_equal;
    });
    if (!is_planned) return {};
    strips.shape = part.outputs[0].shape;
    return strips;
  }
  return {};
}

/// Returns the convolution over each cut of images for which a plan has a product of its windows and extents.
constexpr List<Strips> strips_in(const PlanStages& plan, const OpInfo& op, const PackedAttributes& attributes,
                                 std::span<const TensorSpec> operands) {
  List<Strips> result;
  const auto add = [&](const ImageCut& cut) {
    if (Strips strips = strips_of(plan, op, attributes, operands, cut); !strips.parts.empty())
      result.push_back(std::move(strips));
  };
  if (plan.stages.empty()) return result;
  add({});
  if (!result.empty()) return result;
  List<ImageCut> cuts;
  const OpTag* const tags[] = {op_info<ConvInBlocks>.tag, op_info<ConvDataGradInBlocks>.tag,
                               op_info<ConvWeightsGradInBlocks>.tag};
  for (const OpTag* const tag : tags)
    plan.for_each(tag, [&](const PackedAttributes&, const Shape& shape) {
      const int rank = operands[0].shape.rank, axes = tilewright::detail::axes_with_blocks(rank - 2);
      if (shape.rank != rank + axes) return;
      ImageCut cut{{1, 1, 1}};
      for (int axis = 0; axis < axes; ++axis) cut.blocks[static_cast<std::size_t>(axis)] = shape[2 + 2 * axis];
      for (const ImageCut& known : cuts)
        if (known == cut) return;
      cuts.push_back(cut);
    });
  for (const ImageCut& cut : cuts) add(cut);
  return result;
}

/// Returns what an op gives that makes the data of a convolution's results, whose kernel has one element: at the places of
/// windows the elements of `product` in their order, and zeros elsewhere, where no window is. Unwritten for other windows.
constexpr Content data_of(ValueTerms& terms, const OpInfo& op, const PackedAttributes& attributes,
                          const List<TensorSpec>& operands, ValueId product) {
  const std::span<const TensorSpec> all(operands.data(), operands.size());
  const TensorSpec& data = all[2];
  const kernel::Windows windows = op.tag == op_info<ConvTranspose>.tag
                                      ? tilewright::detail::windows_of_op<ConvTranspose>(
                                            operands, unpack<ConvTranspose::Attributes>(attributes))
                                      : tilewright::detail::windows_of_op<ConvDataGrad>(
                                            operands, unpack<ConvDataGrad::Attributes>(attributes));
  const Access whole = access_of(0, {data.shape, uint8}, dense_strides(data.shape));
  Access places = whole;
  for (int axis = 2; axis < data.shape.rank; ++axis) {
    const kernel::Window& window = windows[axis + 3 - data.shape.rank];
    if (window.kernel != 1 || !window.contains(window.at(0, 0)) || !window.contains(window.at(window.out - 1, 0))) return {};
    places.offset += window.at(0, 0) * whole.strides[axis];
    places.strides[axis] *= window.stride;
    places.extents[axis] = window.out;
  }
  const ValueId zeros = terms.result(terms.term_of(op_info<InitZero>.tag, pack(init_attributes(data)), {}, 0), data);
  Memory memory;
  memory.write(whole, whole_of(zeros, whole));
  memory.write(places, whole_of(product, places));
  return memory.read(whole);
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
/// `whole` has in their order. What `whole` does not have are elements of `rest`.
constexpr Content in_elements_of(ValueId whole, const Content& result, const Shape& shape_of_whole, ValueId value,
                                 const Shape& shape, ValueId rest) {
  const Access access = access_of(0, {shape_of_whole, uint8}, dense_strides(shape_of_whole));
  Memory memory;
  const Access all = access_of(0, {shape, uint8}, dense_strides(shape));
  memory.write(all, whole_of(rest, all));
  write_inverse(memory, result, access, whole_of(whole, access), value);
  return memory.read(all);
}

}  // namespace tilewright::internal::proof::detail
