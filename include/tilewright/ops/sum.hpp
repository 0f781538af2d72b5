#pragma once
#include "tilewright/kernel/reduce.hpp"
#include "tilewright/ops/reduction.hpp"

namespace tilewright {

/// Base of scaled sums over axes: scale * sum. D gives `name`.
template <class D>
struct SumOp : ReductionOp<D> {
  constexpr operator VertexCost() const { return reduction_cost({1, 2}, {1, 4}, Confidence::published); }
  static constexpr WorkAxisKind axis_kind = WorkAxisKind::reduction;
  constexpr operator Fusion() const { return Fusion{.has_epilogue = true}; }
  using Attributes = ReductionAttributes;
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const Tensor dy = ReductionRules::with_all_axes(op, op.output_gradient(0));
    op.input_gradient(0, ops::expand(dy, op.input_spec(0).shape));
  }
  template <PackedAttributes A, class In, class Out>
  static void compute(In in, Out out) {
    constexpr auto attributes = unpack<Attributes>(A);
    assign_sum<ReductionRules::axis_bits(attributes, In::shape.rank)>(in, out, attributes.scale);
  }
  template <PackedAttributes A, class Out, class Epilogue, class In>
  static void compute_with(const Epilogue& epilogue, In in) {
    constexpr auto attributes = unpack<Attributes>(A);
    sum_elements<ReductionRules::axis_bits(attributes, In::shape.rank), Out>(in, attributes.scale, epilogue);
  }
  /// Sums are in registers.
  template <PackedAttributes, class... V>
  static constexpr std::int64_t stack_bytes() {
    return 0;
  }
};

/// Sum over axes.
struct ReduceSum : SumOp<ReduceSum> {
  static constexpr std::string_view name = "ReduceSum";
};

namespace ops {
/// Sum over axes (all of them by default); `keep_axes` leaves them with extent 1. x: any number type; result: the same.
/// Integers wrap around.
constexpr Tensor sum(Tensor x, const Axes& axes = {}, bool keep_axes = false) {
  return apply<ReduceSum>({x}, ReduceSum::make(axes, keep_axes));
}
/// The gradient of an operand that was broadcast: summed over the axes along which it was, in the operand's shape.
constexpr Tensor sum_to(Tensor gradient, const Shape& shape) {
  if (!gradient.is_usable() || gradient.shape() == shape) return gradient;
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
constexpr Tensor Tensor::sum() const { return ops::sum(*this); }
constexpr Tensor Tensor::sum(const Axes& axes, bool keep_axes) const { return ops::sum(*this, axes, keep_axes); }

}  // namespace tilewright
