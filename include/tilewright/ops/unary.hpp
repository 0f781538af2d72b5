#pragma once
#include "tilewright/ops/elementwise.hpp"

namespace tilewright {

struct Exp : UnaryOp<Exp> {
  static constexpr std::string_view name = "Exp";
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  template <class X> static X forward(X x) { return math::exp(x); }
  template <class X> static X backward(X y, X dy) { return dy * y; }
};

struct Log : UnaryOp<Log> {
  static constexpr std::string_view name = "Log";
  template <class X> static X forward(X x) { return math::log(x); }
  template <class X> static X backward(X x, X dy) { return math::divide(dy, x); }
};

struct Sqrt : UnaryOp<Sqrt> {
  static constexpr std::string_view name = "Sqrt";
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  template <class X> static X forward(X x) { return math::sqrt(x); }
  template <class X> static X backward(X y, X dy) { return math::divide(dy, y + y); }
};

struct Tanh : UnaryOp<Tanh> {
  static constexpr std::string_view name = "Tanh";
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  template <class X> static X forward(X x) { return math::tanh(x); }
  template <class X> static X backward(X y, X dy) { return dy * (math::number<X>(1) - y * y); }
};

/// -x, integers too.
struct Negate : UnaryOp<Negate> {
  static constexpr std::string_view name = "Neg";
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr void gradient(GradientContext& op) { op.input_gradient(0, apply<Negate>({op.output_gradient(0)})); }
  template <class X> static X forward(X x) { return -x; }
};

/// A copy.
struct Identity : UnaryOp<Identity> {
  static constexpr CodeKind code_kind = CodeKind::copy;
  static constexpr std::string_view name = "Identity";
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr void gradient(GradientContext& op) { op.input_gradient(0, op.output_gradient(0)); }
  template <class X> static X forward(X x) { return x; }
};

namespace ops {
/// e to the power of x. x: any shape, float16, float32 or float64; result: the same. So for the functions below.
constexpr Tensor exp(Tensor x) { return apply<Exp>({x}); }
/// Natural logarithm; NaN below 0.
constexpr Tensor log(Tensor x) { return apply<Log>({x}); }
/// Square root; NaN below 0.
constexpr Tensor sqrt(Tensor x) { return apply<Sqrt>({x}); }
/// Hyperbolic tangent.
constexpr Tensor tanh(Tensor x) { return apply<Tanh>({x}); }
/// -x. x: any number type.
constexpr Tensor negate(Tensor x) { return apply<Negate>({x}); }
/// A copy of x, of any dtype.
constexpr Tensor identity(Tensor x) { return apply<Identity>({x}); }
}  // namespace ops

constexpr Tensor operator-(Tensor x) { return ops::negate(x); }

}  // namespace tilewright
