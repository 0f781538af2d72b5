#pragma once
#include "tilewright/ops/elementwise/unary.hpp"

namespace tilewright {

namespace detail {
/// Returns the gradient rule of Slope<D>; null if D has no `gradient_of_slope`.
template <class D>
constexpr decltype(OpInfo::gradient) rule_of_slope() {
  if constexpr (!requires { D::gradient_of_slope; }) return nullptr;
  else
    return [](GradientContext& op) {
      const Tensor one = op.ir().constant({1}, {}, op.input_spec(0).dtype);
      op.input_gradient(0, D::gradient_of_slope(op.input(0), one, op.output_gradient(0)));
    };
}
}  // namespace detail

/// The derivative of a unary op D: x, then dy / dx of the same shape and dtype.
template <class D>
struct Slope : Elementwise<Slope<D>> {
  static constexpr std::string_view name = NameWith<D, 'S', 'l', 'o', 'p', 'e'>::value;
  constexpr operator VertexCost() const { return detail::groups_of<D>(); }
  template <class X> static X forward(X x) { return D::slope(x); }
  static constexpr decltype(OpInfo::gradient) gradient = detail::rule_of_slope<D>();
};

/// Base of unary ops without attributes whose derivative shares most of its work with the op. D defines `slope(x)`, dy / dx,
/// instead of `backward`. The forward graph computes the slope together with the op if autodiff can add it there, and the
/// gradient graph multiplies by it. Half precision recomputes the slope from x.
template <class D>
struct UnaryWithSlope : UnaryOp<D> {
  template <class X>
  static X backward(X x, X dy) {
    return dy * D::slope(x);
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    if (is_half(op.input_spec(0).dtype)) return UnaryOp<D>::gradient(op);  // a stored slope would be rounded
    if (const Tensor slope = op.added_to_forward(op_info<Slope<D>>); slope.valid())
      op.input_gradient(0, op.output_gradient(0) * slope);
    else UnaryOp<D>::gradient(op);
  }
};

}  // namespace tilewright
