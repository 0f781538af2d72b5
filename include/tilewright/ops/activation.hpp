#pragma once
#include "tilewright/ops/elementwise.hpp"

namespace tilewright {

/// Gaussian error linear unit, tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
/// ("Gaussian Error Linear Units", arXiv 1606.08415, section 2).
struct Gelu : UnaryOp<Gelu> {
  static constexpr std::string_view name = "Gelu";
  static constexpr double alpha = 0.7978845608028654;  // sqrt(2/pi)
  static constexpr double beta = 0.044715;

  template <class X>
  static X forward(X x) {
    const X t = math::tanh(math::number<X>(alpha) * x * (math::number<X>(1) + math::number<X>(beta) * x * x));
    return math::number<X>(0.5) * x * (math::number<X>(1) + t);
  }
  template <class X>
  static X backward(X x, X dy) {
    const X one = math::number<X>(1), half = math::number<X>(0.5), xx = math::number<X>(beta) * x * x;
    const X t = math::tanh(math::number<X>(alpha) * x * (one + xx));
    return dy * half * (one + t + (one - t * t) * x * math::number<X>(alpha) * (one + math::number<X>(3) * xx));
  }
};

/// max(x, 0).
struct Relu : UnaryOp<Relu> {
  static constexpr std::string_view name = "Relu";
  static constexpr GradientFrom gradient_from = GradientFrom::output;

  template <class X>
  static X forward(X x) {
    return math::max(x, math::number<X>(0));
  }
  template <class X>
  static X backward(X y, X dy) {
    return math::select(y > math::number<X>(0), dy, math::number<X>(0));
  }
};

namespace ops {
/// Gaussian error linear unit, tanh form. x: any shape, float16 or float32; result: the same.
constexpr Tensor gelu(Tensor x) { return apply<Gelu>({x}); }
/// max(x, 0). x: any shape, float16 or float32; result: the same.
constexpr Tensor relu(Tensor x) { return apply<Relu>({x}); }
}  // namespace ops

}  // namespace tilewright
