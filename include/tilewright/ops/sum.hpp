#pragma once
#include <initializer_list>

#include "tilewright/kernel/reduce.hpp"
#include "tilewright/ops/elementwise.hpp"
#include "tilewright/ops/shape.hpp"

namespace tilewright {

/// The axes of a reduction: all, one or several; negative ones count from the last.
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

/// Base of scaled sums over axes: scale * sum. D gives `name`.
template <class D>
struct SumOp : Op<D> {
  static constexpr WorkKind work_kind = WorkKind::reduction;
  static constexpr bool any_layout = true;
  static constexpr bool has_epilogue = true;
  struct Attributes {
    std::int64_t count = -1;  ///< number of axes, or -1 for all
    std::array<std::int64_t, max_rank> axes{};
    std::int64_t keep_axes = 0;
    double scale = 1;
  };
  static constexpr Attributes make(const Axes& axes, bool keep_axes, double scale = 1) {
    Attributes result{.keep_axes = keep_axes, .scale = scale};
    if (axes.all) return result;
    if (axes.list.size() > max_rank) throw std::length_error(text("Axes: more than ", max_rank, " axes").string());
    result.count = static_cast<std::int64_t>(axes.list.size());
    for (std::size_t i = 0; i < axes.list.size() && i < max_rank; ++i) result.axes[i] = axes.list[i];
    return result;
  }
  /// The axes as bits; fails for an axis out of range or given twice.
  static constexpr std::uint64_t axis_bits(const Attributes& attributes, int rank, Inference* op = nullptr) {
    if (attributes.count < 0) return (std::uint64_t{1} << rank) - 1;
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
    const auto attributes = op.template attributes<Attributes>();
    const auto bits = axis_bits(attributes, op.input(0).shape.rank, &op);
    if (op.failed()) return;
    op.output({reduced_shape(op.input(0).shape, bits, attributes.keep_axes != 0), op.input(0).dtype});
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const TensorSpec in = op.input_spec(0);
    const auto bits = axis_bits(op.template attributes<Attributes>(), in.shape.rank);
    Tensor dy = ops::reshape(op.output_gradient(0), reduced_shape(in.shape, bits, true));
    op.input_gradient(0, ops::expand(dy, in.shape));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    const Shape& in = operands[0].shape;
    const auto bits = axis_bits(attributes, in.rank);
    Work work;
    int out_axis = 0;
    for (int axis = 0; axis < in.rank; ++axis) {
      const bool reduced = (bits >> axis & 1) != 0;
      const int work_axis = work.add_axis({.extent = in[axis],
                                           .kind = reduced ? WorkAxisKind::reduction : WorkAxisKind::parallel,
                                           .vectorised = axis == in.rank - 1});
      work.follow(0, axis, work_axis);
      if (!reduced) work.follow(1, out_axis, work_axis);
      if (!reduced || attributes.keep_axes != 0) ++out_axis;
    }
    return work;
  }
  template <PackedAttributes A, class In, class Out>
  static void compute(In in, Out out) {
    constexpr auto attributes = unpack<Attributes>(A);
    assign_sum<axis_bits(attributes, In::shape.rank)>(in, out, attributes.scale);
  }
  template <PackedAttributes A, class Out, class Epilogue, class In>
  static void compute_with(const Epilogue& epilogue, In in) {
    constexpr auto attributes = unpack<Attributes>(A);
    sum_elements<axis_bits(attributes, In::shape.rank), Out>(in, attributes.scale, epilogue);
  }
};

/// Sum over axes.
struct ReduceSum : SumOp<ReduceSum> {
  static constexpr std::string_view name = "ReduceSum";
};

namespace ops {
/// Sum over axes (all of them by default); `keep_axes` leaves them with extent 1. x: any number type; result: the same.
constexpr Tensor sum(Tensor x, const Axes& axes = {}, bool keep_axes = false) {
  return apply<ReduceSum>({x}, ReduceSum::make(axes, keep_axes));
}
/// The gradient of an operand that was broadcast: summed over the axes along which it was, in the operand's shape.
constexpr Tensor sum_to(Tensor gradient, const Shape& shape) {
  if (!gradient.valid() || gradient.shape() == shape) return gradient;
  const Shape from = gradient.shape();
  Shape axes;
  for (int axis = 0; axis < from.rank; ++axis)
    if (const int to_axis = axis - (from.rank - shape.rank); to_axis < 0 || shape[to_axis] != from[axis]) axes.push_back(axis);
  const Tensor total = sum(gradient, axes);
  return total.shape() == shape ? total : reshape(total, shape);
}
}  // namespace ops

constexpr void Expand::gradient(GradientContext& op) {
  op.input_gradient(0, ops::sum_to(op.output_gradient(0), op.input_spec(0).shape));
}

}  // namespace tilewright
