#pragma once
#include "tilewright/ops/elementwise/unary_with_slope.hpp"

namespace tilewright {

struct Sigmoid : UnaryOp<Sigmoid> {
  static constexpr std::string_view name = "Sigmoid";
  constexpr operator VertexCost() const { return map_cost({12, 2}, {6, 4}, Confidence::published); }
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  template <class X> static X forward(X x) { return math::sigmoid(x); }
  template <class X> static X backward(X y, X dy) { return dy * y * (math::number<X>(1) - y); }
  template <class X> static X backward_of_input(X x, X dy) { return dy * math::sigmoid(x) * math::sigmoid(-x); }
  static constexpr Tensor gradient_of_slope(Tensor y, Tensor dy, Tensor gradient) { return gradient * dy * (1 - y * 2); }
};

/// Gaussian error linear unit, tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) ("Gaussian Error Linear Units", arXiv
/// 1606.08415, section 2). Computed as x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)), which is equal, because 1 + tanh loses the
/// digits of small results.
struct Gelu : UnaryWithSlope<Gelu> {
  static constexpr std::string_view name = "Gelu";
  constexpr operator VertexCost() const { return map_cost({20, 2}, {10, 4}); }
  static constexpr double alpha = 2 * 0.7978845608028654;  // 2 sqrt(2/pi)
  static constexpr double beta = 0.044715;

  template <class X>
  static X gate(X x) {
    return math::sigmoid(x * math::fma(math::number<X>(alpha * beta) * x, x, math::number<X>(alpha)));
  }
  template <class X>
  static X forward(X x) {
    return x * gate(x);
  }
  /// Returns the slope s + s (1 - s) x du/dx. If x^2 is above 400, s (1 - s) is 0, and no factor may be infinite.
  template <class X>
  static X slope(X x) {
    const X s = gate(x), one = math::number<X>(1), square = (math::min)(math::number<X>(400), x * x);
    const X du = math::fma(math::number<X>(3 * alpha * beta), square, math::number<X>(alpha));
    return math::fma(s * (one - s) * x, du, s);
  }
  /// Limits x, so that no factor is infinite where s (1 - s) is 0.
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) {
    const Tensor z = apply<Clip>({x}, {-20, 20}), square = z * z, du = square * (3 * alpha * beta) + alpha;
    const Tensor s = apply<Sigmoid>({z * (square * (alpha * beta) + alpha)});
    return gradient * dy * (s * (1 - s) * (du * 2 + (1 - s * 2) * du * du * z + square * (6 * alpha * beta)));
  }
};

/// max(x, 0). NaN for NaN, where the gradient passes through, as in PyTorch.
struct Relu : UnaryOp<Relu> {
  static constexpr std::string_view name = "Relu";
  constexpr operator VertexCost() const { return map_cost({3, 2}, {3, 4}, Confidence::published); }
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  static constexpr bool gradient_takes_rounded = true;

  template <class X>
  static X forward(X x) {
    return (math::max)(math::number<X>(0), x);
  }
  template <class X>
  static X backward(X y, X dy) {
    return math::select(math::greater_or_nan(y, math::number<X>(0)), dy, math::number<X>(0));
  }
  static constexpr Tensor gradient_of_slope(Tensor, Tensor, Tensor) { return {}; }
};

/// Gaussian error linear unit: x P(x), where P is the standard normal distribution, (1 + erf(x / sqrt(2))) / 2. P is computed
/// directly, so that small results keep their digits.
struct GeluErf : UnaryWithSlope<GeluErf> {
  static constexpr std::string_view name = "GeluErf";
  constexpr operator VertexCost() const { return map_cost({22, 1}, {16, 1}, Confidence::published); }
  template <class X> static X forward(X x) { return x * math::normal_cdf(x); }
  template <class X>
  static X slope(X x) {
    const auto [below, density] = math::normal_distribution(x);
    return math::fma(x, density, below);
  }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) {
    const Tensor z = apply<Clip>({x}, {-40, 40}), square = z * z;
    return gradient * dy * (apply<Exp>({square * -0.5}) * (2 - square) * 0.3989422804014327);
  }
};

struct Swish : UnaryWithSlope<Swish> {
  static constexpr std::string_view name = "Swish";
  constexpr operator VertexCost() const { return map_cost({14, 2}, {8, 4}); }
  template <class X> static X forward(X x) { return x * math::sigmoid(x); }
  template <class X>
  static X slope(X x) {
    const X s = math::sigmoid(x), one = math::number<X>(1);
    return s * math::fma(x, one - s, one);
  }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) {
    const Tensor s = apply<Sigmoid>({x});
    return gradient * dy * (s * (1 - s) * (x * (1 - s * 2) + 2));
  }
};

/// log(1 + exp(beta x)) / beta, computed as max(x, 0) + log(1 + u) / beta with u = exp(-|beta x|). log(1 + u) is computed as
/// log(w) + (u - (w - 1)) / w with w = 1 + u rounded, which keeps the digits of small u.
struct Softplus : UnaryOp<Softplus> {
  static constexpr std::string_view name = "Softplus";
  constexpr operator VertexCost() const { return map_cost({24, 2}, {14, 4}); }
  struct Attributes {
    double beta = 1, threshold = 20;
  };
  static constexpr bool check_dtypes(Inference& op) {
    const auto [beta, threshold] = op.attributes<Attributes>();
    if (!op.require_floating_point(0) || !op.require_number("beta", beta, op.input(0).dtype)) return false;
    if (!(beta > 0)) op.fail("beta ", number_text(beta), ": a number above 0 expected");
    if (threshold != threshold) op.fail("threshold ", number_text(threshold), ": a number expected");
    return !op.failed();
  }
  template <class X>
  static X forward(X x, Attributes attributes) {
    const X beta = math::number<X>(attributes.beta), scaled = beta * x, one = math::number<X>(1);
    const X u = math::exp(-math::abs(scaled)), w = one + u;
    const X log1p = math::log(w) + math::divide(u - (w - one), w);
    const X result = (math::max)(math::number<X>(0), x) + math::divide(log1p, beta);
    return math::select(scaled > math::number<X>(attributes.threshold), x, result);
  }
  template <class X>
  static X backward(X x, X dy, Attributes attributes) {
    const X scaled = math::number<X>(attributes.beta) * x;
    return math::select(scaled > math::number<X>(attributes.threshold), dy, dy * math::sigmoid(scaled));
  }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient, const Attributes& attributes) {
    const Tensor slope = apply<UnaryGrad<Softplus>>({x, x.ir().constant({1}, {}, x.dtype())}, attributes);
    return gradient * dy * (slope * (1 - slope) * attributes.beta);
  }
};

namespace ops {
/// Returns the Gaussian error linear unit in its tanh form, 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). x: any shape,
/// float16, bfloat16, float32 or float64. The result has x's shape and dtype.
[[nodiscard]] constexpr Tensor gelu(Tensor x) { return apply<Gelu>({x}); }
/// Returns the Gaussian error linear unit: x (1 + erf(x / sqrt(2))) / 2. x: any shape, float16, bfloat16, float32 or float64.
/// Gradient: dy ((1 + erf(x / sqrt(2))) / 2 + x exp(-x^2 / 2) / sqrt(2 pi)).
[[nodiscard]] constexpr Tensor geluerf(Tensor x) { return apply<GeluErf>({x}); }
/// Returns max(x, 0), and NaN for NaN. x: any shape, float16, bfloat16, float32 or float64. Gradient: dy where y > 0 or y is NaN,
/// otherwise 0.
[[nodiscard]] constexpr Tensor relu(Tensor x) { return apply<Relu>({x}); }
/// Returns 1 / (1 + exp(-x)). x: any shape, float16, bfloat16, float32 or float64. Gradient: dy y (1 - y).
[[nodiscard]] constexpr Tensor sigmoid(Tensor x) { return apply<Sigmoid>({x}); }
/// Returns x sigmoid(x); PyTorch calls it silu. x: any shape, float16, bfloat16, float32 or float64. Gradient: dy s (1 + x (1 -
/// s)) with s = sigmoid(x).
[[nodiscard]] constexpr Tensor swish(Tensor x) { return apply<Swish>({x}); }
/// Returns log(1 + exp(beta x)) / beta, and x itself where beta x > threshold. x: any shape, float16, bfloat16, float32 or
/// float64. Gradient: dy sigmoid(beta x), or dy above the threshold. beta: above 0.
[[nodiscard]] constexpr Tensor softplus(Tensor x, double beta = 1, double threshold = 20) {
  return apply<Softplus>({x}, {beta, threshold});
}

/// Computes gelu in place; returns an alias of x. The gradient needs the overwritten value, so the op is only differentiable if x
/// is an input by value of the graph.
constexpr Tensor gelu_(Tensor x) { return apply<InPlace<Gelu>>({x}); }
/// Computes geluerf in place; returns an alias of x. The gradient needs the overwritten value, so the op is only differentiable
/// if x is an input by value of the graph.
constexpr Tensor geluerf_(Tensor x) { return apply<InPlace<GeluErf>>({x}); }
/// Computes relu in place; returns an alias of x. The gradient does not need the overwritten value.
constexpr Tensor relu_(Tensor x) { return apply<InPlace<Relu>>({x}); }
/// Computes sigmoid in place; returns an alias of x. The gradient does not need the overwritten value.
constexpr Tensor sigmoid_(Tensor x) { return apply<InPlace<Sigmoid>>({x}); }
/// Computes swish in place; returns an alias of x. The gradient needs the overwritten value, so the op is only differentiable if
/// x is an input by value of the graph.
constexpr Tensor swish_(Tensor x) { return apply<InPlace<Swish>>({x}); }
}  // namespace ops

}  // namespace tilewright
