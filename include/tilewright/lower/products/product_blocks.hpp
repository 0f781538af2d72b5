#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/lower/products/product_partition.hpp"
#include "tilewright/rules/ipu/rules_of_ops.hpp"

namespace tilewright::internal {

/// Role of an axis in the work of a product, which follows from the operands that have it.
enum class ProductAxis : std::uint8_t { group, row, inner, column, other };

namespace detail {

constexpr ProductAxis product_axis(const Work& work, int axis) {
  const bool first = work.has_follower(0, axis), second = work.has_follower(1, axis), result = work.has_follower(2, axis);
  if (first && second) return result ? ProductAxis::group : ProductAxis::inner;
  if (!result) return ProductAxis::other;
  return first ? ProductAxis::row : second ? ProductAxis::column : ProductAxis::other;
}

/// Calls f with the extents of the operand's axes that no axis of the work divides, the last ones of a tensor: positions of a
/// convolution.
constexpr void for_each_uncut_axis(const Work& work, int operand, const Shape& shape, auto f) {
  int place = 2;
  for (int axis = shape.rank - 1; axis >= 0 && place >= 0; --axis)
    if (work.follows(operand, axis) < 0) f(place--, shape[axis]);
}

/// Returns the extents together of the axes with the role `kind` that are never cut.
constexpr std::int64_t whole_extent(const Work& work, ProductAxis kind) {
  std::int64_t extent = 1;
  for (int i = 0; i < work.axes.size(); ++i)
    if (work.axes[i].kind == WorkAxisKind::whole && product_axis(work, i) == kind) extent *= work.axes[i].extent;
  return extent;
}

/// Returns the product that an op of two inputs and a result computes. `form`: of a convolution.
constexpr ProductProblem problem_of(const OpInfo& op, std::span<const TensorSpec> operands, const Work& work, DType partials,
                                    const Target& target, const ConvolutionForm& form = {}) {
  const DType result = operands[2].dtype;
  ProductProblem problem;
  problem.element_bytes = size_of(operands[0].dtype);
  problem.partial_bytes = size_of(partials);
  problem.output_bytes = size_of(result);
  for (int i = 0; i < work.axes.size(); ++i) {
    const WorkAxis& axis = work.axes[i];
    const std::int64_t grain = (std::min)(grain_of(axis, result, target), axis.extent);
    switch (product_axis(work, i)) {
      case ProductAxis::group: problem.groups *= axis.extent; break;
      case ProductAxis::row: problem.rows *= axis.extent; break;  // of any number: the grain is the host kernel's
      case ProductAxis::inner:
        problem.inner *= axis.extent;
        if (axis.kind != WorkAxisKind::whole) problem.inner_grain = grain;
        break;
      case ProductAxis::column: problem.columns *= axis.extent, problem.column_grain = grain; break;
      case ProductAxis::other: break;
    }
  }
  problem.inner_grain *= whole_extent(work, ProductAxis::inner);
  if (op.work_kind != WorkKind::convolution) return problem;
  problem.is_convolution = true;
  for_each_uncut_axis(work, 2, operands[2].shape, [&](int place, std::int64_t extent) {
    problem.axes[place].field = extent;
    problem.rows *= extent, problem.row_grain *= extent;
  });
  for_each_uncut_axis(work, 1, operands[1].shape, [&](int place, std::int64_t extent) { problem.axes[place].kernel = extent; });
  for_each_uncut_axis(work, 0, operands[0].shape, [&](int place, std::int64_t extent) {
    ConvolutionAxis& axis = problem.axes[place];
    if (axis.field > 1)  // as if there were no padding; rounded to the nearest
      axis.stride = std::max<std::int64_t>(1, (extent - axis.kernel + (axis.field - 1) / 2) / (axis.field - 1));
    axis.spacing = form.spacing[place];
  });
  problem.sums_positions = form.sums_positions && problem.kernel_elements() > 1;
  return problem;
}

/// Returns how vertices compute a convolution.
constexpr ConvolutionForm form_of(const OpInfo& op, const PackedAttributes& attributes) {
  const auto form = ipu_rules_of(op).convolution_form;
  return form ? form(attributes) : ConvolutionForm{};
}
constexpr ProductProblem problem_of(const Operation& product, DType partials, const Target& target) {
  const List<TensorSpec> operands = operand_specs(product);
  return problem_of(*product.op, {operands.data(), operands.size()}, product.work, partials, target,
                    form_of(*product.op, product.attributes));
}

/// Sets the blocks of those axes of the work that have the role `kind`, `parts` altogether, from the first axis to the last.
/// `axis`: the first one to set. Returns the elements of a block along them.
constexpr std::int64_t set_blocks(Work& work, ProductAxis kind, std::int64_t parts, std::int64_t grain, int axis = 0) {
  const std::int64_t whole = whole_extent(work, kind);
  std::int64_t elements = whole;
  for (; axis < work.axes.size(); ++axis) {
    WorkAxis& each = work.axes[axis];
    if (each.kind == WorkAxisKind::whole || product_axis(work, axis) != kind) continue;
    // groups of a convolution are not cut
    const std::int64_t least = kind == ProductAxis::group ? each.grain : std::max<std::int64_t>(1, grain / whole);
    each.block = block_for(each, (std::min)(least, each.extent), parts);
    parts /= block_count(each.extent, each.block);
    elements *= each.block;
  }
  return elements;
}
/// Sets the blocks of the terms of a sum over images: of as few images as possible, because an exchange has pieces for each of
/// them, with at most `terms` in a block and at most `parts` blocks. Returns whether there are such blocks.
constexpr bool set_terms(Work& work, std::int64_t terms, std::int64_t parts, std::int64_t grain) {
  const auto next = [&](int axis) {
    while (axis < work.axes.size() &&
           (work.axes[axis].kind == WorkAxisKind::whole || product_axis(work, axis) != ProductAxis::inner))
      ++axis;
    return axis;
  };
  const int axis = next(0);
  if (next(axis + 1) >= work.axes.size()) return false;  // there is one axis
  const std::int64_t images = work.axes[axis].extent;
  for (std::int64_t block = block_count(images, (std::min)(images, parts)); block <= (std::min)(images, terms); ++block) {
    const std::int64_t others = parts / block_count(images, block);
    if (block * set_blocks(work, ProductAxis::inner, others, ceil_divide(grain, block), axis + 1) > terms) continue;
    work.axes[axis].block = block;
    return true;
  }
  return false;
}

/// Sets the blocks of the rows of a convolution, which several axes may have, so that the largest has the fewest of at most
/// `parts`. Each image of a block counts as a 32nd more rows unless it is whole: an exchange has pieces for each channel of it.
/// [16 and 64: inference of ResNet-50] `axis`: the first one to set. Returns the rows of that block.
constexpr std::int64_t set_even_rows(Work& work, std::int64_t parts, int axis = 0) {
  const auto is_row = [&](int i) {
    return work.axes[i].kind != WorkAxisKind::whole && product_axis(work, i) == ProductAxis::row;
  };
  const bool has_images = axis == 0;
  while (axis < work.axes.size() && !is_row(axis)) ++axis;
  if (axis == work.axes.size()) return 1;
  const std::int64_t extent = work.axes[axis].extent;
  std::int64_t of_one = 1;
  for (int i = axis + 1; i < work.axes.size(); ++i)
    if (is_row(i)) of_one *= work.axes[i].extent;
  if (of_one == 1) return work.axes[axis].block = block_for(work.axes[axis], 1, parts);
  std::int64_t best = 0;
  double least = 0;  // images may have more elements than products of integers
  for (std::int64_t count = 1; count <= (std::min)(parts, extent);) {
    const std::int64_t block = block_count(extent, count), rows = set_even_rows(work, parts / count, axis + 1);
    const double of_block = static_cast<double>(block) * static_cast<double>(rows);
    const double cost = of_block * (has_images && rows < of_one ? 32 + static_cast<double>(block) : 32);
    if (best == 0 || cost <= least) best = block, least = cost;
    if (block == 1) break;
    count = block_count(extent, block - 1);
  }
  work.axes[axis].block = best;
  return best * set_even_rows(work, parts / block_count(extent, best), axis + 1);
}

}  // namespace detail

/// Returns whether it is a product of two operands whose partition is chosen by cycles.
constexpr bool is_product(const Operation& operation) {
  const WorkKind kind = operation.op->work_kind;
  return (kind == WorkKind::product || kind == WorkKind::convolution) && operation.input_count == 2 &&
         operation.operands.size() == 3;
}

/// Partition of a product, and the grains of its blocks and slices.
struct ProductCut {
  ProductPartition part{};
  detail::ProductGrains grains{};
  bool is_convolution = false;
  std::int64_t tiles = 1;  ///< of the machine
};

/// Returns the dtype of an op's parts of an output.
constexpr DType dtype_of_parts(const OpInfo& op, const PackedAttributes& attributes, DType output) {
  if (op.partials_dtype) return op.partials_dtype(attributes, output);
  return computed_dtype(output);
}
/// Returns the partition with the fewest cycles on a simulated IPU, for a product or a convolution. `operands` are its two
/// operands and its result.
constexpr ProductCut cut_product_on_tiles(const OpInfo& op, std::span<const TensorSpec> operands,
                                          const PackedAttributes& attributes, const Work& work, const Target& target,
                                          ProductPartitions& partitions) {
  const ProductProblem problem = detail::problem_of(op, operands, work, dtype_of_parts(op, attributes, operands[2].dtype), target,
                                                    detail::form_of(op, attributes));
  const auto memory_proportion = ipu_rules_of(op).memory_proportion;
  const double given = memory_proportion ? memory_proportion(attributes) : -1;
  const ProductPartition& part = partitions.find(problem, given < 0 ? default_memory_proportion : given);
  return {part, detail::grains_of(problem, partitions.machine(), part.method), problem.is_convolution,
          partitions.machine().tiles};
}
/// Sets the blocks of a product's work, or of a slice's.
constexpr void set_blocks(Work& work, const ProductCut& cut) {
  detail::set_blocks(work, ProductAxis::group, cut.part.group_parts, 1);
  if (cut.is_convolution) detail::set_even_rows(work, cut.part.row_parts);
  else detail::set_blocks(work, ProductAxis::row, cut.part.row_parts, 1);
  detail::set_blocks(work, ProductAxis::column, cut.part.column_parts, cut.grains.columns);
  const std::int64_t parts = cut.tiles / (cut.part.tiles() / cut.part.inner_parts);
  // with all tiles, not only those of the partition: parts then have fewer images, and the code of their exchange is shorter
  if (cut.is_convolution && detail::set_terms(work, cut.part.tile_inner, parts, cut.grains.inner)) return;
  detail::set_blocks(work, ProductAxis::inner, cut.part.inner_parts, cut.grains.inner);
}

}  // namespace tilewright::internal
