#pragma once
#include "tilewright/ops/elementwise.hpp"

namespace tilewright {

/// Gaussian error linear unit, tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
/// ("Gaussian Error Linear Units", arXiv 1606.08415, section 2), computed as x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)): that
/// is the same, but 1 + tanh loses the digits of small results.
struct Gelu : UnaryOp<Gelu> {
  static constexpr std::string_view name = "Gelu";
  static constexpr double alpha = 2 * 0.7978845608028654;  // 2 sqrt(2/pi)
  static constexpr double beta = 0.044715;

  template <class X>
  static X forward(X x) {
    const X u = x * (math::number<X>(alpha) + math::number<X>(alpha * beta) * x * x);
    return math::divide(x, math::number<X>(1) + math::exp(-u));
  }
  template <class X>
  static X backward(X x, X dy) {
    const X xx = x * x;
    const X s = math::sigmoid(x * (math::number<X>(alpha) + math::number<X>(alpha * beta) * xx));
    const X du = math::number<X>(alpha) + math::number<X>(3 * alpha * beta) * xx;
    return dy * s * (math::number<X>(1) + x * du * (math::number<X>(1) - s));
  }
};

/// max(x, 0); NaN for NaN, where the gradient passes on, as in PyTorch.
struct Relu : UnaryOp<Relu> {
  static constexpr std::string_view name = "Relu";
  static constexpr GradientFrom gradient_from = GradientFrom::output;

  template <class X>
  static X forward(X x) {
    return math::max(math::number<X>(0), x);
  }
  template <class X>
  static X backward(X y, X dy) {
    return math::select(math::greater_or_nan(y, math::number<X>(0)), dy, math::number<X>(0));
  }
};

namespace ops {
/// Gaussian error linear unit, tanh form. x: any shape, float16, float32 or float64; result: the same.
constexpr Tensor gelu(Tensor x) { return apply<Gelu>({x}); }
/// max(x, 0), and NaN for NaN. x: any shape, float16, float32 or float64; result: the same.
constexpr Tensor relu(Tensor x) { return apply<Relu>({x}); }
}  // namespace ops

}  // namespace tilewright
