#pragma once
#include <concepts>

#include "tilewright/ops/sum.hpp"
#include "tilewright/ops/unary.hpp"

namespace tilewright {

/// a + b, broadcast.
struct Add : Elementwise<Add> {
  static constexpr std::string_view name = "Add";
  template <class X> static X forward(X a, X b) { return a + b; }
  static constexpr void gradient(GradientContext& op) {
    for (int i = 0; i < 2; ++i)
      if (op.needs(i)) op.input_gradient(i, ops::sum_to(op.output_gradient(0), op.input_spec(i).shape));
  }
};

/// a - b, broadcast.
struct Sub : Elementwise<Sub> {
  static constexpr std::string_view name = "Sub";
  template <class X> static X forward(X a, X b) { return a - b; }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, ops::sum_to(op.output_gradient(0), op.input_spec(0).shape));
    if (op.needs(1)) op.input_gradient(1, ops::sum_to(-op.output_gradient(0), op.input_spec(1).shape));
  }
};

/// a b, broadcast.
struct Mul : Elementwise<Mul> {
  static constexpr std::string_view name = "Mul";
  template <class X> static X forward(X a, X b) { return a * b; }
  static constexpr void gradient(GradientContext& op) {
    for (int i = 0; i < 2; ++i)
      if (op.needs(i))
        op.input_gradient(i, ops::sum_to(apply<Mul>({op.output_gradient(0), op.input(1 - i)}), op.input_spec(i).shape));
  }
};

/// a / b, broadcast. Integers truncate towards zero, as in C; the least one by -1 is itself, as its negative wraps around. An
/// integer by 0 is a fault, and 0.
struct Div : Elementwise<Div> {
  static constexpr std::string_view name = "Div";
  template <class X> static X forward(X a, X b) { return math::divide(a, b); }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int) {
    return {!is_floating_point(operands[0].dtype), "divisor", "a number other than 0"};
  }
  template <class X>
  static X forward_checked(Faults faults, X a, X b) {
    if (b == 0) {
      faults.report(0);
      return X(0);
    }
    if constexpr (std::is_signed_v<X>)
      if (b == X(-1)) return static_cast<X>(std::make_unsigned_t<X>(0) - static_cast<std::make_unsigned_t<X>>(a));
    return static_cast<X>(a / b);
  }
  static constexpr void gradient(GradientContext& op) {
    const Tensor quotient = apply<Div>({op.output_gradient(0), op.input(1)});  // dy / b
    if (op.needs(0)) op.input_gradient(0, ops::sum_to(quotient, op.input_spec(0).shape));
    if (op.needs(1))  // -dy a / b^2
      op.input_gradient(1, ops::sum_to(-apply<Div>({apply<Mul>({quotient, op.input(0)}), op.input(1)}), op.input_spec(1).shape));
  }
};

namespace ops {
/// Elementwise a + b; shapes broadcast as in NumPy, dtypes must be equal. So for sub, mul and div.
constexpr Tensor add(Tensor a, Tensor b) { return apply<Add>({a, b}); }
constexpr Tensor sub(Tensor a, Tensor b) { return apply<Sub>({a, b}); }
constexpr Tensor mul(Tensor a, Tensor b) { return apply<Mul>({a, b}); }
constexpr Tensor div(Tensor a, Tensor b) { return apply<Div>({a, b}); }
}  // namespace ops

namespace detail {
template <class T>
concept Number = std::integral<T> || std::floating_point<T>;
/// A number as a constant of the tensor's dtype, for the op D.
template <class D>
constexpr Tensor like(Tensor x, Number auto value) {
  return x.valid() ? x.ir().number(D::name, value, x.dtype()) : x;
}
}  // namespace detail

constexpr Tensor operator+(Tensor a, Tensor b) { return ops::add(a, b); }
constexpr Tensor operator-(Tensor a, Tensor b) { return ops::sub(a, b); }
constexpr Tensor operator*(Tensor a, Tensor b) { return ops::mul(a, b); }
constexpr Tensor operator/(Tensor a, Tensor b) { return ops::div(a, b); }
constexpr Tensor operator+(Tensor a, detail::Number auto b) { return ops::add(a, detail::like<Add>(a, b)); }
constexpr Tensor operator-(Tensor a, detail::Number auto b) { return ops::sub(a, detail::like<Sub>(a, b)); }
constexpr Tensor operator*(Tensor a, detail::Number auto b) { return ops::mul(a, detail::like<Mul>(a, b)); }
constexpr Tensor operator/(Tensor a, detail::Number auto b) { return ops::div(a, detail::like<Div>(a, b)); }
constexpr Tensor operator+(detail::Number auto a, Tensor b) { return ops::add(detail::like<Add>(b, a), b); }
constexpr Tensor operator-(detail::Number auto a, Tensor b) { return ops::sub(detail::like<Sub>(b, a), b); }
constexpr Tensor operator*(detail::Number auto a, Tensor b) { return ops::mul(detail::like<Mul>(b, a), b); }
constexpr Tensor operator/(detail::Number auto a, Tensor b) { return ops::div(detail::like<Div>(b, a), b); }

}  // namespace tilewright
