#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"

namespace tilewright {

/// Mean over axes.
struct ReduceMean : SumOp<ReduceMean> {
  static constexpr std::string_view name = "ReduceMean";
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const Tensor dy = with_all_axes(op, op.output_gradient(0));
    op.input_gradient(0, ops::expand(dy * op.attributes<Attributes>().scale, op.input_spec(0).shape));
  }
  /// Returns the work. Integers need the whole sum before the division, so their axes are not cut.
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    Work work = SumOp::work(operands, input_count, packed);
    if (is_int(operands[0].dtype))
      for (int axis = 0; axis < work.axes.size(); ++axis)
        if (gives_partials(work.axes[axis].kind)) work.axes[axis].kind = WorkAxisKind::whole;
    return work;
  }
  template <PackedAttributes A, class In, class Out>
  static void compute(In in, Out out);
};

namespace ops {
/// Returns the mean over axes (all of them by default); `keep_axes` keeps them with extent 1. x: any number type. The result has
/// x's dtype. Integers are summed in 64 bits, and the quotient truncates towards 0.
[[nodiscard]] constexpr Tensor mean(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  std::int64_t count = axes.all ? x.nelms() : 1;
  for (auto axis : axes.list)
    if (axis >= -x.rank() && axis < x.rank()) count *= x.shape(static_cast<int>(axis));
  return apply<ReduceMean>({x}, ReduceMean::make(axes, keep_axes, 1.0 / static_cast<double>(count)));
}
}  // namespace ops

constexpr Tensor Tensor::mean() const { return ops::mean(*this); }
constexpr Tensor Tensor::mean(const Axes& axes, Flag keep_axes) const { return ops::mean(*this, axes, keep_axes); }

}  // namespace tilewright
