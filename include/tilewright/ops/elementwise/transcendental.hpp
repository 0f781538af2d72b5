#pragma once
#include "tilewright/ops/elementwise/unary.hpp"

namespace tilewright {

struct Tan : UnaryOp<Tan> {
  static constexpr std::string_view name = "Tan";
  constexpr operator VertexCost() const { return map_cost({60, 2}, {60, 2}); }
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  template <class X> static X forward(X x) { return math::tan(x); }
  template <class X> static X backward(X y, X dy) { return dy * math::fma(y, y, math::number<X>(1)); }
  static constexpr Tensor gradient_of_slope(Tensor y, Tensor dy, Tensor gradient) { return gradient * dy * y * 2; }
};

/// Base of Asin and Acos, whose slopes are 1 / sqrt(1 - x^2) and its negative.
template <class D, int sign>
struct ArcOp : UnaryOp<D> {
  constexpr operator VertexCost() const { return map_cost({40, 2}, {40, 2}); }
  template <class X>
  static X backward(X x, X dy) {
    const X one = math::number<X>(1);
    return math::divide(dy * math::number<X>(sign), math::sqrt((one - x) * (one + x)));
  }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) {
    const Tensor square = (1 - x) * (1 + x);
    return apply<UnaryGrad<D>>({x, gradient * dy}) * x / square;
  }
};
struct Asin : ArcOp<Asin, 1> {
  static constexpr std::string_view name = "Asin";
  template <class X> static X forward(X x) { return math::asin(x); }
};
struct Acos : ArcOp<Acos, -1> {
  static constexpr std::string_view name = "Acos";
  template <class X> static X forward(X x) { return math::acos(x); }
};

struct Atan : UnaryOp<Atan> {
  static constexpr std::string_view name = "Atan";
  constexpr operator VertexCost() const { return map_cost({40, 2}, {40, 2}); }
  template <class X> static X forward(X x) { return math::atan(x); }
  template <class X> static X backward(X x, X dy) { return math::divide(dy, math::fma(x, x, math::number<X>(1))); }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) {
    return apply<UnaryGrad<Atan>>({x, apply<UnaryGrad<Atan>>({x, gradient * dy})}) * x * -2;
  }
};

/// The gradient of y in atan2(y, x), dz x / (x^2 + y^2): inputs x, y and dz. With x and y exchanged, the negative gradient of x.
/// No square leaves the range.
struct Atan2Grad : Elementwise<Atan2Grad> {
  static constexpr std::string_view name = "Atan2Grad";
  constexpr operator VertexCost() const { return binary_map_cost({40, 2}, {40, 2}); }
  template <class X>
  static X forward(X x, X y, X dz) {
    const auto is_flat = math::abs(x) > math::abs(y);
    const X most = math::select(is_flat, x, y), quotient = math::divide(math::select(is_flat, y, x), most);
    const X share = math::divide(math::select(is_flat, dz, dz * quotient), math::fma(quotient, quotient, math::number<X>(1)));
    return math::divide(share, most);
  }
  /// With a = x / (x^2 + y^2) and b = y / (x^2 + y^2), the derivatives of a are b^2 - a^2 and -2 a b.
  static constexpr void gradient(GradientContext& op) {
    const Tensor x = op.input(0), y = op.input(1), gradient = op.output_gradient(0), both = gradient * op.input(2);
    const auto times_a = [&](Tensor z) { return apply<Atan2Grad>({x, y, z}); };
    const auto times_b = [&](Tensor z) { return apply<Atan2Grad>({y, x, z}); };
    const auto give = [&](int input, Tensor z) { op.input_gradient(input, ops::sum_to(z, op.input_spec(input).shape)); };
    if (op.needs(0)) give(0, times_b(times_b(both)) - times_a(times_a(both)));
    if (op.needs(1)) give(1, times_a(times_b(both)) * -2);
    if (op.needs(2)) give(2, times_a(gradient));
  }
};
/// The angle of the point (x, y), broadcast: inputs y and x.
struct Atan2 : Elementwise<Atan2> {
  static constexpr std::string_view name = "Atan2";
  constexpr operator VertexCost() const { return binary_map_cost({40, 2}, {40, 2}); }
  static constexpr bool check_dtypes(Inference& op) { return op.require_floating_point(0) && equal_dtypes(op); }
  template <class X> static X forward(X y, X x) { return math::atan2(y, x); }
  static constexpr void gradient(GradientContext& op) {
    const Tensor y = op.input(0), x = op.input(1), dz = op.output_gradient(0);
    if (op.needs(0)) op.input_gradient(0, detail::summed<Atan2Grad>({x, y, dz}, op.input_spec(0)));
    if (op.needs(1)) op.input_gradient(1, -detail::summed<Atan2Grad>({y, x, dz}, op.input_spec(1)));
  }
};

namespace detail {
/// The larger size of two numbers, and how many times as long the vector of both is. No square leaves the range.
template <class X>
struct VectorLength {
  X most, times;
  VectorLength(const X& a, const X& b) : most(math::maximum(math::abs(a), math::abs(b))) {
    const X quotient = math::divide(math::minimum(math::abs(a), math::abs(b)), most);
    times = math::sqrt(math::fma(quotient, quotient, math::number<X>(1)));
  }
};
}  // namespace detail

/// sqrt(a^2 + b^2), broadcast.
struct Hypot : Elementwise<Hypot> {
  static constexpr std::string_view name = "Hypot";
  constexpr operator VertexCost() const { return binary_map_cost({40, 2}, {40, 2}); }
  static constexpr bool check_dtypes(Inference& op) { return op.require_floating_point(0) && equal_dtypes(op); }
  template <class X>
  static X forward(X a, X b) {
    const X infinity = math::number<X>(std::numeric_limits<double>::infinity()), zero = math::number<X>(0);
    const detail::VectorLength<X> length(a, b);
    const X finite = math::select(length.most == zero, zero, length.most * length.times);
    return math::select((math::abs(a) == infinity) | (math::abs(b) == infinity), infinity, finite);
  }
  static constexpr void gradient(GradientContext& op);
};
/// The gradient of a in hypot(a, b), dz a / z: inputs a, b and dz. With a and b exchanged, that of b.
struct HypotGrad : Elementwise<HypotGrad> {
  static constexpr std::string_view name = "HypotGrad";
  constexpr operator VertexCost() const { return Hypot(); }
  template <class X>
  static X forward(X a, X b, X dz) {
    const detail::VectorLength<X> length(a, b);
    return dz * math::divide(math::divide(a, length.most), length.times);
  }
  /// The derivatives of a / z are b^2 / z^3 and -a b / z^3.
  static constexpr void gradient(GradientContext& op) {
    const Tensor a = op.input(0), b = op.input(1), gradient = op.output_gradient(0);
    const auto times_a = [&](Tensor x) { return apply<HypotGrad>({a, b, x}); };
    const auto times_b = [&](Tensor x) { return apply<HypotGrad>({b, a, x}); };
    const auto give = [&](int input, Tensor x) { op.input_gradient(input, ops::sum_to(x, op.input_spec(input).shape)); };
    if (op.needs(2)) give(2, times_a(gradient));
    if (!op.needs(0) && !op.needs(1)) return;
    const Tensor by_b = times_b(gradient * op.input(2) / apply<Hypot>({a, b}));
    if (op.needs(0)) give(0, times_b(by_b));
    if (op.needs(1)) give(1, -times_a(by_b));
  }
};
constexpr void Hypot::gradient(GradientContext& op) {
  const Tensor a = op.input(0), b = op.input(1), dz = op.output_gradient(0);
  if (op.needs(0)) op.input_gradient(0, detail::summed<HypotGrad>({a, b, dz}, op.input_spec(0)));
  if (op.needs(1)) op.input_gradient(1, detail::summed<HypotGrad>({b, a, dz}, op.input_spec(1)));
}

struct Sinh : UnaryOp<Sinh> {
  static constexpr std::string_view name = "Sinh";
  constexpr operator VertexCost() const { return map_cost({40, 2}, {40, 2}); }
  template <class X> static X forward(X x) { return math::sinh(x); }
  template <class X> static X backward(X x, X dy) { return dy * math::cosh(x); }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) { return gradient * dy * apply<Sinh>({x}); }
};

struct Cosh : UnaryOp<Cosh> {
  static constexpr std::string_view name = "Cosh";
  constexpr operator VertexCost() const { return map_cost({40, 2}, {40, 2}); }
  template <class X> static X forward(X x) { return math::cosh(x); }
  template <class X> static X backward(X x, X dy) { return dy * math::sinh(x); }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) { return gradient * dy * apply<Cosh>({x}); }
};

/// The error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
struct Erf : UnaryOp<Erf> {
  static constexpr std::string_view name = "Erf";
  constexpr operator VertexCost() const { return map_cost({40, 2}, {40, 2}); }
  template <class X> static X forward(X x) { return math::erf(x); }
  template <class X>
  static X backward(X x, X dy) {
    return dy * (math::number<X>(1.1283791670955126) * math::gaussian(x));  // 2 / sqrt(pi)
  }
  /// Limits x, so that no factor is infinite where the other is 0.
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) {
    return apply<UnaryGrad<Erf>>({x, gradient * dy}) * apply<Clip>({x}, {-40, 40}) * -2;
  }
};

struct Expm1 : UnaryOp<Expm1> {
  static constexpr std::string_view name = "Expm1";
  constexpr operator VertexCost() const { return map_cost({30, 2}, {30, 2}); }
  template <class X> static X forward(X x) { return math::expm1(x); }
  template <class X> static X backward(X x, X dy) { return dy * math::exp(x); }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) { return gradient * dy * apply<Exp>({x}); }
};

struct Log1p : UnaryOp<Log1p> {
  static constexpr std::string_view name = "Log1p";
  constexpr operator VertexCost() const { return map_cost({40, 2}, {40, 2}); }
  template <class X> static X forward(X x) { return math::log1p(x); }
  template <class X> static X backward(X x, X dy) { return math::divide(dy, x + math::number<X>(1)); }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient) {
    const Tensor u = x + 1;
    return -(gradient * (dy / u) / u);
  }
};

struct Rsqrt : UnaryOp<Rsqrt> {
  static constexpr std::string_view name = "Rsqrt";
  constexpr operator VertexCost() const { return map_cost({20, 2}, {20, 2}); }
  static constexpr GradientFrom gradient_from = GradientFrom::output;
  template <class X> static X forward(X x) { return math::divide(math::number<X>(1), math::sqrt(x)); }
  template <class X> static X backward(X y, X dy) { return dy * y * y * y * math::number<X>(-0.5); }
  static constexpr Tensor gradient_of_slope(Tensor y, Tensor dy, Tensor gradient) { return gradient * dy * y * y * -1.5; }
};

namespace ops {
/// Returns the tangent of x in radians; NaN for infinities. x: any shape, float16, bfloat16, float32 or float64. The result has
/// x's shape and dtype. Gradient: dy (1 + y^2). Error: at most 2 units in the last place of float32 and float64, for all x.
[[nodiscard]] constexpr Tensor tan(Tensor x) { return apply<Tan>({x}); }
/// Return the angle whose sine or cosine is x, in radians: from -pi/2 to pi/2, or from 0 to pi; NaN beyond +-1. x and errors: as
/// tan. Gradient: dy / sqrt(1 - x^2), of acos its negative.
[[nodiscard]] constexpr Tensor asin(Tensor x) { return apply<Asin>({x}); }
[[nodiscard]] constexpr Tensor acos(Tensor x) { return apply<Acos>({x}); }
/// Returns the angle whose tangent is x, in radians from -pi/2 to pi/2. x and errors: as tan. Gradient: dy / (1 + x^2).
[[nodiscard]] constexpr Tensor atan(Tensor x) { return apply<Atan>({x}); }
/// Returns the angle of the point (x, y), in radians from -pi to pi; signs of zeros count as in C. y and x: float16, bfloat16,
/// float32 or float64, of one dtype; shapes broadcast as in NumPy. Errors: as tan. Gradients: dz x / (x^2 + y^2) and
/// -dz y / (x^2 + y^2); NaN at (0, 0).
[[nodiscard]] constexpr Tensor atan2(Tensor y, Tensor x) { return apply<Atan2>({y, x}); }
/// Returns the length of the vector (a, b), sqrt(a^2 + b^2), of any size that the dtype has; infinity if a or b is infinite, even
/// beside NaN. a and b: float16, bfloat16, float32 or float64, of one dtype; shapes broadcast as in NumPy. Gradients: dz a / z
/// and dz b / z; NaN at (0, 0).
[[nodiscard]] constexpr Tensor hypot(Tensor a, Tensor b) { return apply<Hypot>({a, b}); }
/// Return the hyperbolic sine and cosine. x and errors: as tan. Gradients: dy cosh(x), dy sinh(x).
[[nodiscard]] constexpr Tensor sinh(Tensor x) { return apply<Sinh>({x}); }
[[nodiscard]] constexpr Tensor cosh(Tensor x) { return apply<Cosh>({x}); }
/// Returns the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x. x and errors: as tan. Gradient: dy
/// exp(-x^2) 2 / sqrt(pi).
[[nodiscard]] constexpr Tensor erf(Tensor x) { return apply<Erf>({x}); }
/// Returns exp(x) - 1, which keeps the digits of small results. x and errors: as tan. Gradient: dy exp(x).
[[nodiscard]] constexpr Tensor expm1(Tensor x) { return apply<Expm1>({x}); }
/// Returns log(1 + x), which keeps the digits of small x; NaN below -1. x and errors: as tan. Gradient: dy / (1 + x).
[[nodiscard]] constexpr Tensor log1p(Tensor x) { return apply<Log1p>({x}); }
/// Returns 1 / sqrt(x); NaN below 0. x and errors: as tan. Gradient: -dy y^3 / 2.
[[nodiscard]] constexpr Tensor rsqrt(Tensor x) { return apply<Rsqrt>({x}); }
}  // namespace ops

}  // namespace tilewright
