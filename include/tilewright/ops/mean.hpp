#pragma once
#include "tilewright/ops/arithmetic.hpp"

namespace tilewright {

/// Mean over axes.
struct ReduceMean : SumOp<ReduceMean> {
  static constexpr std::string_view name = "ReduceMean";
  static constexpr void infer(Inference& op) {
    if (op.require_floating_point(0)) SumOp::infer(op);
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const Shape in = op.input_spec(0).shape;
    const auto attributes = op.attributes<Attributes>();
    const Tensor dy = ops::reshape(op.output_gradient(0), reduced_shape(in, axis_bits(attributes, in.rank), true));
    op.input_gradient(0, ops::expand(dy * attributes.scale, in));
  }
};

namespace ops {
/// Mean over axes (all of them by default); `keep_axes` leaves them with extent 1. x: floating point; result: the same.
constexpr Tensor mean(Tensor x, const Axes& axes = {}, bool keep_axes = false) {
  std::int64_t count = axes.all ? x.nelms() : 1;
  for (auto axis : axes.list)
    if (axis >= -x.rank() && axis < x.rank()) count *= x.shape(static_cast<int>(axis));
  return apply<ReduceMean>({x}, ReduceMean::make(axes, keep_axes, 1.0 / static_cast<double>(count)));
}
}  // namespace ops

}  // namespace tilewright
