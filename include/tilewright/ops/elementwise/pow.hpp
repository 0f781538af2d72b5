#pragma once
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/elementwise/unary.hpp"

namespace tilewright {

/// x to the power of a number.
struct PowNumber : UnaryOp<PowNumber> {
  static constexpr std::string_view name = "PowNumber";
  constexpr operator VertexCost() const { return map_cost({26, 2}, {24, 4}); }
  struct Attributes {
    double exponent = 1;
  };
  static constexpr bool check_dtypes(Inference& op) {
    const double exponent = op.attributes<Attributes>().exponent;
    const DType dtype = op.input(0).dtype;
    if (!op.require_number_dtype(0) || !op.require_number("exponent", exponent, dtype)) return false;
    if (is_int(dtype) && exponent < 0)
      op.fail("exponent ", number_text(exponent), " for a base of ", to_text(dtype), ": 0 or more expected");
    return !op.failed();
  }
  template <class X>
  static X forward(X x, Attributes attributes) {
    return math::pow_by_number(x, attributes.exponent);
  }
  template <class X>
  static X backward(X x, X dy, Attributes attributes) {
    if (attributes.exponent == 0) return math::number<X>(0);
    return dy * math::number<X>(attributes.exponent) * math::pow_by_number(x, attributes.exponent - 1);
  }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient, const Attributes& attributes) {
    const double e = attributes.exponent;
    if (e == 0 || e == 1) return {};
    if (e == 2) return gradient * dy * 2;
    return gradient * dy * apply<PowNumber>({x}, {e - 2}) * (e * (e - 1));
  }
};

/// The gradient of x in x to the power of e: inputs x, e and dy.
struct PowBaseGrad : Elementwise<PowBaseGrad> {
  static constexpr std::string_view name = "PowBaseGrad";
  constexpr operator VertexCost() const { return binary_map_cost({30, 2}, {28, 4}); }
  template <class X>
  static X forward(X x, X e, X dy) {
    const X zero = math::number<X>(0);
    return math::select(e == zero, zero, dy * e * math::pow(x, e - math::number<X>(1)));
  }
  static constexpr void gradient(GradientContext& op);  // below, because it applies Pow
};
/// The gradient of e in x to the power of e: inputs x, e and dy.
struct PowExponentGrad : Elementwise<PowExponentGrad> {
  static constexpr std::string_view name = "PowExponentGrad";
  constexpr operator VertexCost() const { return binary_map_cost({38, 2}, {30, 4}); }
  template <class X>
  static X forward(X x, X e, X dy) {
    const X zero = math::number<X>(0);
    return math::select((x == zero) & (e >= zero), zero, dy * (math::pow(x, e) * math::log(x)));
  }
  static constexpr void gradient(GradientContext& op);
};
/// x to the power of e, broadcast.
struct Pow : Elementwise<Pow> {
  static constexpr std::string_view name = "Pow";
  constexpr operator VertexCost() const { return binary_map_cost({26, 2}, {24, 4}); }
  static constexpr bool check_dtypes(Inference& op) { return check_numbers(op); }
  template <class X> static X forward(X x, X e) { return math::pow(x, e); }
  static constexpr void gradient(GradientContext& op) {
    const Tensor x = op.input(0), e = op.input(1), dy = op.output_gradient(0);
    if (op.needs(0)) op.input_gradient(0, detail::summed<PowBaseGrad>({x, e, dy}, op.input_spec(0)));
    if (op.needs(1)) op.input_gradient(1, detail::summed<PowExponentGrad>({x, e, dy}, op.input_spec(1)));
  }
};

namespace detail {
/// Passes a gradient to input i of an op: sums it over the axes along which the input was broadcast.
constexpr void give_summed(GradientContext& op, int i, Tensor gradient) {
  op.input_gradient(i, ops::sum_to(gradient, op.input_spec(i).shape));
}
/// Returns dy (1 + e ln(x)) x^(e - 1), the derivative of x^e by x and e.
constexpr Tensor mixed_gradient_of_pow(Tensor x, Tensor e, Tensor dy) {
  const Tensor less = e - 1;
  return apply<Pow>({x, less}) * dy + e * apply<PowExponentGrad>({x, less, dy});
}
}  // namespace detail

constexpr void PowBaseGrad::gradient(GradientContext& op) {
  const Tensor x = op.input(0), e = op.input(1), dy = op.input(2) * op.output_gradient(0);
  if (op.needs(0)) {  // 0 where e is 0, even where x is
    const Tensor less = ops::where(ops::equal(e, 0), 0, e - 1);
    detail::give_summed(op, 0, e * apply<PowBaseGrad>({x, less, dy}));
  }
  if (op.needs(1)) detail::give_summed(op, 1, detail::mixed_gradient_of_pow(x, e, dy));
  detail::gradient_of_linear<PowBaseGrad, 2>(op);
}
constexpr void PowExponentGrad::gradient(GradientContext& op) {
  const Tensor x = op.input(0), e = op.input(1), dy = op.input(2) * op.output_gradient(0);
  if (op.needs(0)) detail::give_summed(op, 0, detail::mixed_gradient_of_pow(x, e, dy));
  if (op.needs(1))  // 0 where x is 0
    detail::give_summed(op, 1, apply<PowExponentGrad>({x, e, dy}) * apply<Log>({ops::where(ops::equal(x, 0), 1, x)}));
  detail::gradient_of_linear<PowExponentGrad, 2>(op);
}

namespace ops {
/// Returns x to the power of e. x: integers, which wrap around, or floating point; e: a number, which for integers must be whole
/// and not negative, or a tensor of x's dtype. Shapes broadcast as in NumPy. x may be a number if e is a tensor. An integer to a
/// negative power from a tensor is 0, except for 1 and -1. Zeros, infinities and NaN follow C's pow: NaN for a negative finite x
/// and a fractional e; 1 for e = 0 and for x = 1. For e = 1/2, -0 gives 0 and -infinity gives infinity; PyTorch computes a square
/// root, which gives -0 and NaN. Gradients: dy e x^(e - 1), 0 where e is 0; for a tensor e, dy y ln(x), 0 where x is 0 and e is
/// not negative.
[[nodiscard]] constexpr Tensor pow(Tensor x, detail::Number auto e) { return apply<PowNumber>({x}, {static_cast<double>(e)}); }
[[nodiscard]] constexpr Tensor pow(const detail::Operand auto& x, Tensor e) { return detail::apply_to<Pow>(x, e); }
}  // namespace ops

}  // namespace tilewright
