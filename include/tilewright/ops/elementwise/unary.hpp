#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"

namespace tilewright {

struct Exp : UnaryOp<Exp> {
  static constexpr std::string_view name = "Exp";
  constexpr operator VertexCost() const { return map_cost({6, 2}, {4, 4, 33}, Confidence::published); }
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  template <class X> static X forward(X x) { return math::exp(x); }
  template <class X> static X backward(X y, X dy) { return dy * y; }
  static constexpr Tensor gradient_of_slope(Tensor, Tensor dy, Tensor gradient) { return gradient * dy; }
};

struct Log : UnaryOp<Log> {
  static constexpr std::string_view name = "Log";
  constexpr operator VertexCost() const { return map_cost({12, 2}, {4, 4}, Confidence::published); }
  template <class X> static X forward(X x) { return math::log(x); }
  template <class X> static X backward(X x, X dy) { return math::divide(dy, x); }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) { return -(gradient * (dy / x) / x); }
};

struct Log2 : UnaryOp<Log2> {
  static constexpr std::string_view name = "Log2";
  constexpr operator VertexCost() const { return map_cost({13, 2}, {5, 4}); }
  template <class X> static X forward(X x) { return math::log2(x); }
  template <class X> static X backward(X x, X dy) { return math::divide(dy, x * math::number<X>(0.6931471805599453)); }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) {
    return gradient * (dy / x) / x * -1.4426950408889634;
  }
};

struct Sqrt : UnaryOp<Sqrt> {
  static constexpr std::string_view name = "Sqrt";
  constexpr operator VertexCost() const { return map_cost({10, 2}, {23, 4}, Confidence::published); }
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  template <class X> static X forward(X x) { return math::sqrt(x); }
  template <class X> static X backward(X y, X dy) { return math::divide(dy, y + y); }
  static constexpr Tensor gradient_of_slope(Tensor y, Tensor dy, Tensor gradient) { return gradient * (dy / y) / y * -0.5; }
};

struct Sin : UnaryOp<Sin> {
  static constexpr std::string_view name = "Sin";
  constexpr operator VertexCost() const { return map_cost({2300, 1}, {2300, 1}); }
  template <class X> static X forward(X x) { return math::sin(x); }
  template <class X> static X backward(X x, X dy) { return dy * math::cos(x); }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) { return -(gradient * dy * apply<Sin>({x})); }
};

struct Cos : UnaryOp<Cos> {
  static constexpr std::string_view name = "Cos";
  constexpr operator VertexCost() const { return map_cost({2300, 1}, {2300, 1}); }
  template <class X> static X forward(X x) { return math::cos(x); }
  template <class X> static X backward(X x, X dy) { return -dy * math::sin(x); }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) { return -(gradient * dy * apply<Cos>({x})); }
};

struct Tanh : UnaryOp<Tanh> {
  static constexpr std::string_view name = "Tanh";
  constexpr operator VertexCost() const { return map_cost({12, 2}, {4, 4}, Confidence::published); }
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  template <class X> static X forward(X x) { return math::tanh(x); }
  template <class X> static X backward(X y, X dy) { return dy * math::fma(-y, y, math::number<X>(1)); }
  static constexpr Tensor gradient_of_slope(Tensor y, Tensor dy, Tensor gradient) { return gradient * dy * y * -2; }
  /// Computes the gradient from 1 - y^2 = 4 u / (1 + u)^2 with u = exp(-2 |x|).
  template <class X>
  static X backward_of_input(X x, X dy) {
    const X u = math::exp(math::number<X>(-2) * math::abs(x)), w = math::number<X>(1) + u;
    return dy * math::divide(math::number<X>(4) * u, w * w);
  }
};

/// A copy.
struct Identity : UnaryOp<Identity> {
  static constexpr bool copies = true;  // its elements are what memory has: they are not converted
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map, .code_kind = CodeKind::copy}; }
  static constexpr std::string_view name = "Identity";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::copy, Confidence::published); }
  constexpr operator Fusion() const { return Fusion{.has_formula = true, .bools_are_masks = true}; }
  static constexpr bool check_dtypes(Inference&) { return true; }
  static constexpr void gradient(GradientContext& op) { op.input_gradient(0, op.output_gradient(0)); }
  template <class X> static X forward(X x) { return x; }
};

struct Abs : UnaryOp<Abs> {
  static constexpr std::string_view name = "Abs";
  constexpr operator VertexCost() const { return map_cost({5, 2}, {5, 4}, Confidence::published); }
  static constexpr bool check_dtypes(Inference& op) { return op.require_number_dtype(0); }
  template <class X> static X forward(X x) { return math::abs(x); }
  template <class X> static X backward(X x, X dy) { return dy * math::sign(x); }
  static constexpr Tensor gradient_of_slope(Tensor, Tensor, Tensor) { return {}; }
};

/// Base of step functions, whose gradient is 0.
template <class D>
struct StepOp : UnaryOp<D> {
  static constexpr void gradient(GradientContext& op) {
    const TensorSpec x = op.input_spec(0);
    if (op.needs(0)) op.input_gradient(0, op.ir().constant(List<double>{0}, x.shape, x.dtype));
  }
};
struct Sign : StepOp<Sign> {
  static constexpr std::string_view name = "Sign";
  constexpr operator VertexCost() const { return map_cost({8, 2}, {8, 4}); }
  static constexpr bool check_dtypes(Inference& op) { return op.require_number_dtype(0); }
  template <class X> static X forward(X x) { return math::sign(x); }
};
struct Ceil : StepOp<Ceil> {
  static constexpr std::string_view name = "Ceil";
  constexpr operator VertexCost() const { return map_cost({5, 2}, {5, 4}); }
  template <class X> static X forward(X x) { return math::ceil(x); }
};
struct Floor : StepOp<Floor> {
  static constexpr std::string_view name = "Floor";
  constexpr operator VertexCost() const { return map_cost({5, 2}, {5, 4}); }
  template <class X> static X forward(X x) { return math::floor(x); }
};
struct Round : StepOp<Round> {
  static constexpr std::string_view name = "Round";
  constexpr operator VertexCost() const { return map_cost({5, 2}, {5, 4}); }
  template <class X> static X forward(X x) { return math::round(x); }
};

namespace detail {
/// Returns a bound as a number of the formula's type. An infinite bound of integers becomes the end of their range.
template <class X>
X bound(double value) {
  if constexpr (std::integral<X>) {
    if (value <= static_cast<double>((std::numeric_limits<X>::min)())) return (std::numeric_limits<X>::min)();
    if (value >= static_cast<double>((std::numeric_limits<X>::max)())) return (std::numeric_limits<X>::max)();
  }
  return math::number<X>(value);
}
}  // namespace detail

struct Clip : UnaryOp<Clip> {
  static constexpr std::string_view name = "Clip";
  constexpr operator VertexCost() const { return map_cost({6, 2}, {6, 4}); }
  struct Attributes {
    double min = 0, max = 0;
  };
  static constexpr bool check_dtypes(Inference& op) {
    if (!op.require_number_dtype(0)) return false;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto [min, max] = op.attributes<Attributes>();
    const auto require_bound = [&](std::string_view name, double bound) {
      return bound == infinity || bound == -infinity || op.require_number(name, bound, op.input(0).dtype);
    };
    return require_bound("min", min) && require_bound("max", max);
  }
  template <class X>
  static X forward(X x, Attributes bounds) {  // x stands last, so that NaN stays
    return (math::min)(detail::bound<X>(bounds.max), (math::max)(detail::bound<X>(bounds.min), x));
  }
  template <class X>
  static X backward(X x, X dy, Attributes bounds) {
    const auto is_inside = (x >= detail::bound<X>(bounds.min)) & (x <= detail::bound<X>(bounds.max));
    return math::select(is_inside, dy, math::number<X>(0));
  }
  static constexpr Tensor gradient_of_slope(Tensor, Tensor, Tensor, Attributes) { return {}; }
};

/// fmod(x + increment, modulus).
struct IncrementMod : Elementwise<IncrementMod> {
  static constexpr std::string_view name = "IncrementMod";
  constexpr operator VertexCost() const { return map_cost({20, 2}, {40, 4}); }
  static constexpr Differentiation differentiation = Differentiation::stops;
  struct Attributes {
    double increment = 1, modulus = 1;
  };
  static constexpr bool check_dtypes(Inference& op) {
    const auto [increment, modulus] = op.attributes<Attributes>();
    const DType dtype = op.input(0).dtype;
    if (!op.require_number_dtype(0) || !op.require_number("increment", increment, dtype) ||
        !op.require_number("modulus", modulus, dtype))
      return false;
    if (modulus == 0) op.fail("modulus 0: another number expected");
    return modulus != 0;
  }
  template <class X>
  static X forward(X x, Attributes attributes) {
    return math::fmod(math::add(x, math::number<X>(attributes.increment)), math::number<X>(attributes.modulus));
  }
};

namespace ops {
/// Returns e to the power of x. x: any shape, float16, bfloat16, float32 or float64. The result has x's shape and dtype.
/// Gradient: dy y.
[[nodiscard]] constexpr Tensor exp(Tensor x) { return apply<Exp>({x}); }
/// Returns the natural logarithm; NaN below 0. x: any shape, float16, bfloat16, float32 or float64. Gradient: dy / x.
[[nodiscard]] constexpr Tensor log(Tensor x) { return apply<Log>({x}); }
/// Returns the logarithm to the base 2; NaN below 0. x: any shape, float16, bfloat16, float32 or float64. Gradient: dy / (x ln
/// 2).
[[nodiscard]] constexpr Tensor log2(Tensor x) { return apply<Log2>({x}); }
/// Returns the square root; NaN below 0. x: any shape, float16, bfloat16, float32 or float64. Gradient: dy / 2y.
[[nodiscard]] constexpr Tensor sqrt(Tensor x) { return apply<Sqrt>({x}); }
/// Returns the sine of x in radians; NaN for infinities. x: any shape, float16, bfloat16, float32 or float64. Gradient: dy
/// cos(x).
[[nodiscard]] constexpr Tensor sin(Tensor x) { return apply<Sin>({x}); }
/// Returns the cosine of x in radians; NaN for infinities. x: any shape, float16, bfloat16, float32 or float64. Gradient: -dy
/// sin(x).
[[nodiscard]] constexpr Tensor cos(Tensor x) { return apply<Cos>({x}); }
/// Returns the hyperbolic tangent. x: any shape, float16, bfloat16, float32 or float64. Gradient: dy (1 - y^2).
[[nodiscard]] constexpr Tensor tanh(Tensor x) { return apply<Tanh>({x}); }
/// Returns -x. x: floating point or integers; unsigned integers and the lowest signed one wrap around. Gradient: -dy.
[[nodiscard]] constexpr Tensor negate(Tensor x) { return apply<Negate>({x}); }
/// Returns a copy of x, of any dtype, named `output_name` if a name is given. Gradient: dy.
[[nodiscard]] constexpr Tensor identity(Tensor x, std::string_view output_name = "") {
  const Tensor y = apply<Identity>({x});
  detail::name_result(y, output_name);
  return y;
}
/// Returns |x|. x: integers or floating point; the lowest signed integer is its own absolute value. Gradient: dy sign(x), 0 at 0.
[[nodiscard]] constexpr Tensor abs(Tensor x) { return apply<Abs>({x}); }
/// Returns the sign: -1, 0 or 1; 0 for NaN, as in PyTorch. x: integers or floating point. Gradient: 0.
[[nodiscard]] constexpr Tensor sign(Tensor x) { return apply<Sign>({x}); }
/// Rounds up to an integer; NaN stays NaN. x: any shape, float16, bfloat16, float32 or float64. Gradient: 0.
[[nodiscard]] constexpr Tensor ceil(Tensor x) { return apply<Ceil>({x}); }
/// Rounds down to an integer; NaN stays NaN. x: any shape, float16, bfloat16, float32 or float64. Gradient: 0.
[[nodiscard]] constexpr Tensor floor(Tensor x) { return apply<Floor>({x}); }
/// Rounds to the nearest integer, and halves to the even one, as in PyTorch; NaN stays NaN. x: any shape, float16, bfloat16,
/// float32 or float64. Gradient: 0.
[[nodiscard]] constexpr Tensor round(Tensor x) { return apply<Round>({x}); }
/// Limits x to [min, max]: clip(x, 0). Returns max if min is larger; NaN stays NaN. x: integers, which take whole bounds, or
/// floating point. Gradient: dy where min <= x <= max, otherwise 0.
[[nodiscard]] constexpr Tensor clip(Tensor x, double min = -std::numeric_limits<double>::infinity(),
                                    double max = std::numeric_limits<double>::infinity()) {
  return apply<Clip>({x}, {min, max});
}
/// Limits x to [min, max]: PyTorch's name of clip. NaN stays NaN, as in PyTorch.
[[nodiscard]] constexpr Tensor clamp(Tensor x, double min = -std::numeric_limits<double>::infinity(),
                                     double max = std::numeric_limits<double>::infinity()) {
  return clip(x, min, max);
}
/// Returns the remainder of (x + increment) / modulus, with the sign of x + increment, as in C. x: integers, which take whole
/// numbers and wrap around, or floating point. No gradient: autodiff stops here. A modulus of 0 is an error.
[[nodiscard]] constexpr Tensor increment_mod(Tensor x, double increment, double modulus) {
  return apply<IncrementMod>({x}, {increment, modulus});
}

/// Computes exp in place; returns an alias of x. The gradient does not need x.
///
/// Rules of all in-place forms below: x must not be a constant or an expanded view. The gradient is that of the form without `_`.
/// If the gradient needs the overwritten value of x, autodiff fails, unless x is an input by value of the graph.
constexpr Tensor exp_(Tensor x) { return apply<InPlace<Exp>>({x}); }
/// Computes sqrt in place; returns an alias of x. The gradient does not need x.
constexpr Tensor sqrt_(Tensor x) { return apply<InPlace<Sqrt>>({x}); }
/// Computes tanh in place; returns an alias of x. The gradient does not need x.
constexpr Tensor tanh_(Tensor x) { return apply<InPlace<Tanh>>({x}); }
/// Computes negate in place; returns an alias of x. The gradient does not need x.
constexpr Tensor negate_(Tensor x) { return apply<InPlace<Negate>>({x}); }
/// Computes clip in place; returns an alias of x. NaN stays NaN, as in PyTorch. The gradient needs x.
constexpr Tensor clip_(Tensor x, double min = -std::numeric_limits<double>::infinity(),
                       double max = std::numeric_limits<double>::infinity()) {
  return apply<InPlace<Clip>>({x}, {min, max});
}
/// Computes increment_mod in place; returns an alias of x. No gradient.
constexpr Tensor increment_mod_(Tensor x, double increment, double modulus) {
  return apply<InPlace<IncrementMod>>({x}, {increment, modulus});
}
}  // namespace ops

}  // namespace tilewright
