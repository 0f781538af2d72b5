#pragma once
// Sums and expansions, which are each the gradient of the other.
#include "tilewright/ops/reduce/reduction_op.hpp"
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright {

/// Repeats elements along axes of extent 1, and along new axes in front, to a larger shape: a view with strides of 0.
struct Expand : Op<Expand> {
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  static constexpr std::string_view name = "Expand";
  using Attributes = detail::AxisList;

  static constexpr void infer(Inference& op) {
    const Shape wanted = op.attributes<Attributes>().shape();
    const TensorSpec& in = op.input(0);
    bool fits = in.shape.rank <= wanted.rank;
    for (int axis = 0; fits && axis < wanted.rank; ++axis) fits = wanted[axis] >= 1;
    for (int axis = 1; fits && axis <= in.shape.rank; ++axis) fits = in.shape[-axis] == wanted[-axis] || in.shape[-axis] == 1;
    if (!fits) return op.fail(to_text(in), " to ", to_text(wanted), ": a shape that it broadcasts to expected");
    op.output({wanted, in.dtype});
  }
  static constexpr void gradient(GradientContext& op);  // a sum
  static constexpr Layout view(const Shape& input, const Layout& layout, const Shape& output, const PackedAttributes&) {
    Layout result{layout.offset, {}};
    for (int axis = 1; axis <= input.rank; ++axis)
      if (input[-axis] == output[-axis])
        result.strides[static_cast<std::size_t>(output.rank - axis)] =
            layout.strides[static_cast<std::size_t>(input.rank - axis)];
    return result;
  }
};

namespace ops {
/// Broadcasts x to a larger shape.
[[nodiscard]] constexpr Tensor expand(Tensor x, const Shape& shape) { return apply<Expand>({x}, detail::axis_list(shape)); }
}  // namespace ops

/// Base of scaled sums over axes: scale * sum. D defines `name`.
template <class D>
struct SumOp : ReductionOp<D> {
  // Loops, not arrays: an epilogue takes each sum while it is in a register.
  constexpr operator VertexCost() const { return sum_cost(); }
  static constexpr WorkAxisKind axis_kind = WorkAxisKind::reduction;
  constexpr operator Fusion() const { return Fusion{.has_epilogue = true}; }
  using Attributes = ReductionAttributes;
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    Work work = ReductionRules::work_of_kind(axis_kind, operands, packed);
    if (const std::int64_t extent = unpack<Attributes>(packed).extent_of_part; extent > 0) {
      for (int axis = 1; axis < work.axes.size(); ++axis)
        if (work.axes[axis].kind == axis_kind) work.axes[axis].kind = WorkAxisKind::whole;
      work.axes[0].kind = WorkAxisKind::summed, work.axes[0].grain = extent;
    }
    return work;
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const Tensor dy = ReductionRules::with_all_axes(op, op.output_gradient(0));
    op.input_gradient(0, ops::expand(dy, op.input_spec(0).shape));
  }
  template <PackedAttributes A, class In, class Out>
  static void compute(In in, Out out);
  /// With a bool that is true, each sum is its first term: parts are added up there.
  template <PackedAttributes A, class Out, class Epilogue, class In, class FirstOnly = std::false_type>
  static void compute_with(const Epilogue& epilogue, In in, FirstOnly first_only = {});
};

/// Sum over axes.
struct ReduceSum : SumOp<ReduceSum> {
  static constexpr std::string_view name = "ReduceSum";
};

namespace ops {
/// Sums over axes (all of them by default); `keep_axes` keeps them with extent 1. x: any number type. The result has x's dtype.
/// Integers wrap around.
[[nodiscard]] constexpr Tensor sum(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceSum>({x}, ReduceSum::make(axes, keep_axes));
}
/// Sums the gradient of an operand that was broadcast over the axes along which it was broadcast, to the operand's shape.
[[nodiscard]] constexpr Tensor sum_to(Tensor gradient, const Shape& shape) {
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
constexpr Tensor Tensor::expand(const Shape& shape) const { return ops::expand(*this, shape); }
constexpr Tensor Tensor::sum() const { return ops::sum(*this); }
constexpr Tensor Tensor::sum(const Axes& axes, Flag keep_axes) const { return ops::sum(*this, axes, keep_axes); }

}  // namespace tilewright
