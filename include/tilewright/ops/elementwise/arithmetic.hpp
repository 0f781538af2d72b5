#pragma once
#include <concepts>
#include <utility>

#include "tilewright/op/in_place.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/reduce/sum.hpp"

namespace tilewright {

namespace detail {
/// Returns op D of the inputs, summed to the spec of an operand that was broadcast. Half precision is summed in float32, so that
/// no element leaves the range if the sum does not; the sum is rounded.
template <class D>
constexpr Tensor summed(List<Tensor> inputs, const TensorSpec& to) {
  bool is_summed = false;
  for (const Tensor& input : inputs) is_summed = is_summed || input.nelms() > to.shape.nelms();
  if (to.dtype == float32 || (is_half(to.dtype) && is_summed))
    for (Tensor& input : inputs) input = input.cast(float32);
  Ir& ir = inputs[0].ir();
  return ops::sum_to(at_or_invalid(ir, apply_all<D>(ir, inputs), 0), to.shape).cast(to.dtype);
}
/// Gradient rule of an op D that is linear in input i, and whose derivatives by its other inputs are 0.
template <class D, int i>
constexpr void gradient_of_linear(GradientContext& op) {
  if (!op.needs(i)) return;
  List<Tensor> inputs;
  for (int k = 0; k < op.input_count(); ++k) inputs.push_back(k == i ? op.output_gradient(0) : op.input(k));
  op.input_gradient(i, summed<D>(std::move(inputs), op.input_spec(i)));
}
}  // namespace detail

/// a + b, broadcast. Integers wrap around; for bool it is "or".
struct Add : Elementwise<Add> {
  static constexpr std::string_view name = "Add";
  constexpr operator Effects() const { return Effects{.gradient_needs_no_result = true}; }
  constexpr operator VertexCost() const { return arithmetic_cost(); }
  template <class X> static X forward(X a, X b) { return math::add(a, b); }
  static constexpr void gradient(GradientContext& op) {
    for (int i = 0; i < 2; ++i)
      if (op.needs(i)) op.input_gradient(i, ops::sum_to(op.output_gradient(0), op.input_spec(i).shape));
  }
};

/// -x; integers wrap around.
struct Negate : UnaryOp<Negate> {
  static constexpr std::string_view name = "Neg";
  constexpr operator VertexCost() const { return map_cost({2, 2}, {2, 4}, Confidence::published); }
  static constexpr bool check_dtypes(Inference& op) { return op.require_number_dtype(0); }
  static constexpr void gradient(GradientContext& op) { op.input_gradient(0, apply<Negate>({op.output_gradient(0)})); }
  template <class X> static X forward(X x) { return math::negate(x); }
};

constexpr Tensor operator-(Tensor x) { return apply<Negate>({x}); }

/// a - b, broadcast. Integers wrap around.
struct Sub : Elementwise<Sub> {
  static constexpr std::string_view name = "Sub";
  constexpr operator Effects() const { return Effects{.gradient_needs_no_result = true}; }
  constexpr operator VertexCost() const { return arithmetic_cost(); }
  template <class X> static X forward(X a, X b) { return math::subtract(a, b); }
  static constexpr bool check_dtypes(Inference& op) { return check_numbers(op); }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, ops::sum_to(op.output_gradient(0), op.input_spec(0).shape));
    if (op.needs(1)) op.input_gradient(1, ops::sum_to(-op.output_gradient(0), op.input_spec(1).shape));
  }
};

/// a b, broadcast. A tensor of half precision may have a float32 factor of one element, which is not rounded; the result is
/// rounded.
struct Mul : Elementwise<Mul> {
  static constexpr std::string_view name = "Mul";
  constexpr operator Effects() const { return Effects{.gradient_needs_no_result = true}; }
  constexpr operator VertexCost() const { return arithmetic_cost(); }
  template <class X> static X forward(X a, X b) { return math::multiply(a, b); }
  static constexpr bool is_half_by_number(const TensorSpec& a, const TensorSpec& b) {
    return is_half(a.dtype) && b.dtype == float32 && b.nelms() == 1;
  }
  static constexpr bool check_dtypes(Inference& op) {
    return is_half_by_number(op.input(0), op.input(1)) || is_half_by_number(op.input(1), op.input(0)) || equal_dtypes(op);
  }
  static constexpr DType result_dtype(const Inference& op) {
    return is_half(op.input(0).dtype) ? op.input(0).dtype : op.input(1).dtype;
  }
  static constexpr void gradient(GradientContext& op) {
    for (int i = 0; i < 2; ++i) {
      if (!op.needs(i)) continue;
      op.input_gradient(i, detail::summed<Mul>({op.output_gradient(0), op.input(1 - i)}, op.input_spec(i)));
    }
  }
};

/// The gradient of b in a / b: inputs a, b and dy, formula -(dy / b) (a / b). If a factor leaves the range, the product is
/// computed in another order, so that a result in the range is correct.
struct DivisorGrad : Elementwise<DivisorGrad> {
  static constexpr std::string_view name = "DivGrad";
  constexpr operator VertexCost() const { return binary_map_cost({40, 2}, {40, 4}); }
  template <class X>
  static X forward(X a, X b, X dy) {
    const auto leaves_range = [](const X& quotient, const X& dividend) {
      const X size = math::abs(quotient), zero = math::number<X>(0);
      return (size == math::number<X>(std::numeric_limits<double>::infinity())) |
             ((size < math::smallest_normal<X>()) & (dividend != zero));
    };
    const X of_dy = math::divide(dy, b), of_a = math::divide(a, b);
    const X otherwise = math::select(leaves_range(of_a, a), math::divide(of_dy, b) * a, of_dy * of_a);
    return -math::select(leaves_range(of_dy, dy), math::divide(of_a, b) * dy, otherwise);
  }
  static constexpr void gradient(GradientContext& op);  // below, because it applies Div
};

/// a / b, broadcast. Integers truncate towards zero, as in C. The lowest integer divided by -1 is itself, because its negative
/// wraps around. An integer divided by 0 is a fault, and gives 0.
struct Div : Elementwise<Div> {
  static constexpr std::string_view name = "Div";
  constexpr operator VertexCost() const { return binary_map_cost({10, 2}, {21, 4}, Confidence::published); }
  static constexpr bool check_dtypes(Inference& op) { return check_numbers(op); }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  template <class X> static X forward(X a, X b) { return math::divide(a, b); }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return {!is_floating_point(operands[0].dtype), "divisor", "a number other than 0"};
  }
  template <class X>
  static X forward_checked(Faults faults, X a, X b) {
    if (b == 0) {
      faults.report(0);
      return X(0);
    }
    if constexpr (std::is_signed_v<X>)
      if (b == X(-1)) return math::negate(a);
    return static_cast<X>(a / b);
  }
  static constexpr void gradient(GradientContext& op) {
    const Tensor dy = op.output_gradient(0);
    if (op.needs(0)) op.input_gradient(0, detail::summed<Div>({dy, op.input(1)}, op.input_spec(0)));
    if (op.needs(1)) op.input_gradient(1, detail::summed<DivisorGrad>({op.input(0), op.input(1), dy}, op.input_spec(1)));
  }
};

constexpr void DivisorGrad::gradient(GradientContext& op) {
  const Tensor a = op.input(0), b = op.input(1), dy = op.input(2), gradient = op.output_gradient(0);
  if (op.needs(0)) op.input_gradient(0, detail::summed<DivisorGrad>({gradient, b, dy}, op.input_spec(0)));
  if (op.needs(2)) op.input_gradient(2, detail::summed<DivisorGrad>({a, b, gradient}, op.input_spec(2)));
  if (!op.needs(1)) return;
  const Tensor half = apply<Mul>({apply<DivisorGrad>({a, b, dy}), gradient});
  op.input_gradient(1, detail::summed<Div>({-apply<Add>({half, half}), b}, op.input_spec(1)));
}

/// The remainder of a / b with the sign of a, as C's fmod; broadcast. An integer divisor of 0 is a fault, and gives 0.
struct Fmod : Elementwise<Fmod> {
  static constexpr std::string_view name = "Fmod";
  constexpr operator VertexCost() const { return binary_map_cost({20, 2}, {40, 4}); }
  static constexpr bool check_dtypes(Inference& op) { return check_numbers(op); }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  template <class X> static X forward(X a, X b) { return math::fmod(a, b); }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& attributes) {
    return Div::fault(operands, input_count, attributes);
  }
  template <class X>
  static X forward_checked(Faults faults, X a, X b) {
    if (b != 0) return math::fmod(a, b);
    faults.report(0);
    return X(0);
  }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, ops::sum_to(op.output_gradient(0), op.input_spec(0).shape));
  }
};

namespace detail {
template <class T>
concept Number = std::integral<T> || std::floating_point<T>;
/// A tensor, or a number that stands for one.
template <class T>
concept Operand = Number<T> || std::convertible_to<T, Tensor>;
/// Returns a number as a constant of the tensor's dtype, for the op D.
template <class D>
constexpr Tensor like(Tensor x, Number auto value) {
  if constexpr (std::same_as<decltype(value), bool>)  // a == b of tensors compares handles
    if (x.valid() && x.dtype() != boolean)
      return x.ir().fail(
          text(D::name, ": ", to_text(x.spec()), " and a bool: a number, or ops::equal(a, b) for a == b, expected"));
  return x.valid() ? x.ir().number(D::name, value, x.dtype()) : x;
}
/// Appends the op D of two tensors, or of a tensor and a number.
template <class D, Operand A, Operand B>
constexpr Tensor apply_to(const A& a, const B& b) {
  static_assert(!Number<A> || !Number<B>, "an op of two numbers: a tensor expected as one of its arguments");
  if constexpr (Number<A> && Number<B>) return Tensor();
  else if constexpr (Number<A>) return apply<D>({like<D>(b, a), b});
  else if constexpr (Number<B>) return apply<D>({a, like<D>(a, b)});
  else return apply<D>({a, b});
}
}  // namespace detail

namespace ops {
/// Adds elementwise: a + b. Shapes broadcast as in NumPy; dtypes must be equal. Integers wrap around. Gradients: dy and dy,
/// summed over axes that were broadcast.
[[nodiscard]] constexpr Tensor add(Tensor a, Tensor b) { return apply<Add>({a, b}); }
/// Subtracts elementwise: a - b. Shapes broadcast as in NumPy; dtypes must be equal. Integers wrap around. Gradients: dy and -dy,
/// summed over axes that were broadcast.
[[nodiscard]] constexpr Tensor sub(Tensor a, Tensor b) { return apply<Sub>({a, b}); }
/// Multiplies elementwise: a b. Shapes broadcast as in NumPy; dtypes must be equal. Integers wrap around. One factor may have
/// half precision and the other one element of float32; the result then has half precision. Gradients: dy b and dy a, summed over
/// axes that were broadcast, in float32 for an operand of half precision.
[[nodiscard]] constexpr Tensor mul(Tensor a, Tensor b) { return apply<Mul>({a, b}); }
/// Divides elementwise: a / b. Shapes broadcast as in NumPy; dtypes must be equal. Integers truncate; an integer divisor of 0
/// ends the run with a FaultError. Gradients: dy / b and -dy a / b^2, summed over axes that were broadcast, in float32 for an
/// operand of half precision.
[[nodiscard]] constexpr Tensor div(Tensor a, Tensor b) { return apply<Div>({a, b}); }
/// Returns the remainder of a / b with the sign of a, exact, as C's fmod; NaN for a floating-point divisor of 0. An integer
/// divisor of 0 ends the run with a FaultError. a, b: tensors, or a tensor and a number, of one integer or floating-point dtype,
/// broadcast. Gradient: dy for a, none for b.
[[nodiscard]] constexpr Tensor fmod(const detail::Operand auto& a, const detail::Operand auto& b) {
  return detail::apply_to<Fmod>(a, b);
}

/// Adds in place: a = a + b. Returns an alias of a. b is broadcast to a's shape, which must be the result's. a must not be a
/// constant or an expanded view. The gradient is that of add.
constexpr Tensor add_(Tensor a, Tensor b) { return apply<InPlace<Add>>({a, b}); }
/// Subtracts in place: a = a - b. Returns an alias of a. Rules are those of add_. The gradient does not need the overwritten
/// value.
constexpr Tensor sub_(Tensor a, Tensor b) { return apply<InPlace<Sub>>({a, b}); }
/// Multiplies in place: a = a b. Returns an alias of a. Rules are those of add_. The gradient of b needs the overwritten value,
/// that of a does not.
constexpr Tensor mul_(Tensor a, Tensor b) { return apply<InPlace<Mul>>({a, b}); }
/// Divides in place: a = a / b. Returns an alias of a. Rules are those of add_. The gradient of b needs the overwritten value,
/// that of a does not.
constexpr Tensor div_(Tensor a, Tensor b) { return apply<InPlace<Div>>({a, b}); }
}  // namespace ops

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
constexpr Tensor operator%(Tensor a, Tensor b) { return ops::fmod(a, b); }
constexpr Tensor operator%(Tensor a, detail::Number auto b) { return ops::fmod(a, b); }
constexpr Tensor operator%(detail::Number auto a, Tensor b) { return ops::fmod(a, b); }

/// Changes a in place; a then refers to the alias that the op returns.
constexpr Tensor& operator+=(Tensor& a, Tensor b) { return a = ops::add_(a, b); }
constexpr Tensor& operator-=(Tensor& a, Tensor b) { return a = ops::sub_(a, b); }
constexpr Tensor& operator*=(Tensor& a, Tensor b) { return a = ops::mul_(a, b); }
constexpr Tensor& operator/=(Tensor& a, Tensor b) { return a = ops::div_(a, b); }
constexpr Tensor& operator+=(Tensor& a, detail::Number auto b) { return a = ops::add_(a, detail::like<Add>(a, b)); }
constexpr Tensor& operator-=(Tensor& a, detail::Number auto b) { return a = ops::sub_(a, detail::like<Sub>(a, b)); }
constexpr Tensor& operator*=(Tensor& a, detail::Number auto b) { return a = ops::mul_(a, detail::like<Mul>(a, b)); }
constexpr Tensor& operator/=(Tensor& a, detail::Number auto b) { return a = ops::div_(a, detail::like<Div>(a, b)); }

}  // namespace tilewright
