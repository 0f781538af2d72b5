#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>

#include "tilewright/op/elementwise.hpp"
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright {

/// Axes of a reduction: all, one or several; negative ones count from the last.
struct Axes {
  List<std::int64_t> list;
  bool all = false;
  constexpr Axes() : all(true) {}
  constexpr Axes(int axis) : list{axis} {}
  constexpr Axes(std::initializer_list<std::int64_t> axes) : list(axes) {}
  constexpr Axes(const Shape& axes) {
    for (int i = 0; i < axes.rank; ++i) list.push_back(axes[i]);
  }
};

struct ReductionAttributes {
  std::int64_t count = -1;  ///< number of axes, or -1 for all
  std::array<std::int64_t, max_rank> axes{};
  std::int32_t keep_axes = 0;
  /// Of a sum on the host, chosen by the planner: the smallest extent of a vertex along axis 0, which makes a part of the sums;
  /// 0: a vertex has all terms
  std::int32_t extent_of_part = 0;
  double scale = 1;  ///< factor of sums
};

/// Rules that all reductions over axes share.
struct ReductionRules : OpDefaults {
  using Attributes = ReductionAttributes;
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  static constexpr Attributes make(const Axes& axes, bool keep_axes, double scale = 1) {
    Attributes result{.keep_axes = keep_axes, .scale = scale};
    if (axes.all) return result;
    result.count = static_cast<std::int64_t>(axes.list.size());
    for (std::size_t i = 0; i < axes.list.size() && i < max_rank; ++i) result.axes[i] = axes.list[i];
    return result;
  }
  /// Returns the axes as bits; fails for an axis out of range or given twice.
  static constexpr std::uint64_t axis_bits(const Attributes& attributes, int rank, Inference* op = nullptr) {
    if (attributes.count < 0) return (std::uint64_t{1} << rank) - 1;
    if (attributes.count > max_rank) {
      if (op) op->fail(attributes.count, " axes: at most ", max_rank, " expected");
      return 0;
    }
    std::uint64_t bits = 0;
    for (std::int64_t i = 0; i < attributes.count; ++i) {
      std::int64_t axis = attributes.axes[static_cast<std::size_t>(i)];
      if (op) {
        axis = op->require_axis(axis, rank);
        if (axis < 0) return 0;
        if (bits >> axis & 1) return op->fail("axis ", axis, " twice: distinct axes expected"), 0;
      }
      bits |= std::uint64_t{1} << (axis < 0 ? axis + rank : axis);
    }
    return bits;
  }
  static constexpr Shape reduced_shape(const Shape& shape, std::uint64_t bits, bool keep_axes) {
    Shape result;
    for (int axis = 0; axis < shape.rank; ++axis)
      if ((bits >> axis & 1) == 0) result.push_back(shape[axis]);
      else if (keep_axes) result.push_back(1);
    return result;
  }
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    if (!op.require_number_dtype(0)) return;
    const auto bits = axis_bits(attributes, op.input(0).shape.rank, &op);
    if (op.failed()) return;
    op.output({reduced_shape(op.input(0).shape, bits, attributes.keep_axes != 0), op.input(0).dtype});
  }

 protected:
  /// Returns a result of the forward op with the reduced axes as extents of 1.
  static constexpr Tensor with_all_axes(GradientContext& op, Tensor result) {
    const TensorSpec in = op.input_spec(0);
    return result.reshape(reduced_shape(in.shape, axis_bits(op.attributes<Attributes>(), in.shape.rank), true));
  }
  static constexpr Work work_of_kind(WorkAxisKind kind, std::span<const TensorSpec> operands, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    const Shape& in = operands[0].shape;
    const auto bits = axis_bits(attributes, in.rank);
    Work work;
    int out_axis = 0;
    for (int axis = 0; axis < in.rank; ++axis) {
      const bool reduced = (bits >> axis & 1) != 0;
      const int work_axis = work.add_axis(
          {.extent = in[axis], .kind = reduced ? kind : WorkAxisKind::parallel, .vectorised = axis == in.rank - 1});
      work.follow(0, axis, work_axis);
      if (!reduced) work.follow(1, out_axis, work_axis);
      if (!reduced || attributes.keep_axes != 0) ++out_axis;
    }
    return work;
  }
};

/// Base of reductions over axes. The result has the input's dtype and its axes without the reduced ones, or with extent 1. D
/// defines `name`, `compute`, and `axis_kind` if its partial results can be summed, or combined by another op with `partials`.
template <class D>
struct ReductionOp : Op<D, ReductionRules> {
  using Attributes = ReductionAttributes;
  static constexpr WorkAxisKind axis_kind = WorkAxisKind::whole;  ///< of the reduced axes
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    return ReductionRules::work_of_kind(D::axis_kind, operands, packed);
  }

 protected:
  /// Returns the partials of an op that can reduce the results of parts: the op itself combines them.
  static constexpr Partials combined_by_itself() { return {&op_info<D>, pack(ReductionRules::make(Axes(0), false))}; }
};

}  // namespace tilewright
