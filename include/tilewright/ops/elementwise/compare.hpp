#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"

namespace tilewright {

/// Base of ops whose result is bool. They are not differentiable.
template <class D>
struct Predicate : Elementwise<D> {
  constexpr operator VertexCost() const { return binary_map_cost({6, 2}, {6, 4}, Confidence::published); }
  static constexpr Differentiation differentiation = Differentiation::stops;
  constexpr operator Fusion() const { return Fusion{.has_formula = true, .bools_are_masks = true}; }
  static constexpr DType result_dtype(const Inference&) { return boolean; }
};

struct Equal : Predicate<Equal> {
  static constexpr std::string_view name = "Equal";
  template <class X> static auto forward(X a, X b) { return math::equal(a, b); }
};
struct NotEqual : Predicate<NotEqual> {
  static constexpr std::string_view name = "NotEqual";
  template <class X> static auto forward(X a, X b) { return math::not_equal(a, b); }
};
struct Greater : Predicate<Greater> {
  static constexpr std::string_view name = "Greater";
  template <class X> static auto forward(X a, X b) { return math::less(b, a); }
};
struct GreaterEqual : Predicate<GreaterEqual> {
  static constexpr std::string_view name = "GreaterEqual";
  template <class X> static auto forward(X a, X b) { return math::less_equal(b, a); }
};
struct Less : Predicate<Less> {
  static constexpr std::string_view name = "Less";
  template <class X> static auto forward(X a, X b) { return math::less(a, b); }
};
struct LessEqual : Predicate<LessEqual> {
  static constexpr std::string_view name = "LessEqual";
  template <class X> static auto forward(X a, X b) { return math::less_equal(a, b); }
};

/// Base of tests for NaN and infinity, which are false for all integers.
template <class D>
struct FloatClass : Predicate<D> {
  constexpr operator VertexCost() const { return map_cost({5, 2}, {5, 4}); }
  static constexpr bool check_dtypes(Inference& op) { return op.require_number_dtype(0); }
};
struct IsFinite : FloatClass<IsFinite> {
  static constexpr std::string_view name = "IsFinite";
  template <class X>
  static auto forward(X x) {
    if constexpr (std::integral<X>) return true;
    else return math::abs(x) < math::number<X>(std::numeric_limits<double>::infinity());
  }
};
struct IsInf : FloatClass<IsInf> {
  static constexpr std::string_view name = "IsInf";
  template <class X>
  static auto forward(X x) {
    if constexpr (std::integral<X>) return false;
    else return math::abs(x) == math::number<X>(std::numeric_limits<double>::infinity());
  }
};
struct IsNan : FloatClass<IsNan> {
  static constexpr std::string_view name = "IsNaN";
  template <class X>
  static auto forward(X x) {
    if constexpr (std::integral<X>) return false;
    else return math::not_equal(x, x);
  }
};

namespace ops {
/// Returns whether a = b, element by element, as bool. a, b: tensors, or a tensor and a number. Both have the same dtype, which
/// can be any, and shapes broadcast as in NumPy. As in IEEE 754, NaN equals nothing, and every comparison with NaN except
/// not_equal is false. No gradient. (`==` of tensors compares handles.)
[[nodiscard]] constexpr Tensor equal(const detail::Operand auto& a, const detail::Operand auto& b) {
  return detail::apply_to<Equal>(a, b);
}
/// Returns whether a != b, element by element, as bool; true for NaN. Operands are those of equal. No gradient.
[[nodiscard]] constexpr Tensor not_equal(const detail::Operand auto& a, const detail::Operand auto& b) {
  return detail::apply_to<NotEqual>(a, b);
}
/// Returns whether a > b, element by element, as bool. Operands are those of equal. No gradient.
[[nodiscard]] constexpr Tensor greater(const detail::Operand auto& a, const detail::Operand auto& b) {
  return detail::apply_to<Greater>(a, b);
}
/// Returns whether a >= b, element by element, as bool. Operands are those of equal. No gradient.
[[nodiscard]] constexpr Tensor greater_equal(const detail::Operand auto& a, const detail::Operand auto& b) {
  return detail::apply_to<GreaterEqual>(a, b);
}
/// Returns whether a < b, element by element, as bool. Operands are those of equal. No gradient.
[[nodiscard]] constexpr Tensor less(const detail::Operand auto& a, const detail::Operand auto& b) {
  return detail::apply_to<Less>(a, b);
}
/// Returns whether a <= b, element by element, as bool. Operands are those of equal. No gradient.
[[nodiscard]] constexpr Tensor less_equal(const detail::Operand auto& a, const detail::Operand auto& b) {
  return detail::apply_to<LessEqual>(a, b);
}
/// Returns whether x is neither infinite nor NaN, as bool. x: integers or floating point, any shape. No gradient.
[[nodiscard]] constexpr Tensor isfinite(Tensor x) { return apply<IsFinite>({x}); }
/// Returns whether x is infinity or -infinity, as bool. x: integers or floating point, any shape. No gradient.
[[nodiscard]] constexpr Tensor isinf(Tensor x) { return apply<IsInf>({x}); }
/// Returns whether x is NaN, as bool. x: integers or floating point, any shape. No gradient.
[[nodiscard]] constexpr Tensor isnan(Tensor x) { return apply<IsNan>({x}); }
}  // namespace ops

}  // namespace tilewright
