#pragma once
#include "tilewright/core/span.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"

namespace tilewright {

/// a where the condition is true, otherwise b; broadcast.
struct Where : Elementwise<Where> {
  static constexpr std::string_view name = "Where";
  constexpr operator VertexCost() const { return binary_map_cost({7, 2}, {7, 4}); }
  constexpr operator Fusion() const { return Fusion{.has_formula = true, .bools_are_masks = true}; }
  static constexpr bool check_dtypes(Inference& op) { return op.require_equal_dtypes(1, 2); }
  static constexpr DType result_dtype(const Inference& op) { return op.input(1).dtype; }
  template <class M, class X>
  static X forward(M condition, X a, X b) {
    return math::select(condition, a, b);
  }
  static constexpr void gradient(GradientContext& op) {
    const Tensor condition = op.input(0), dy = op.output_gradient(0), zero = detail::like<Where>(dy, 0);
    if (op.needs(1)) op.input_gradient(1, ops::sum_to(apply<Where>({condition, dy, zero}), op.input_spec(1).shape));
    if (op.needs(2)) op.input_gradient(2, ops::sum_to(apply<Where>({condition, zero, dy}), op.input_spec(2).shape));
  }
};

/// The gradient of a in the larger or smaller of a and b: inputs a, b and dy. dy where a was selected or one of them is NaN, dy /
/// 2 where they are equal.
template <bool largest>
struct ExtremeGrad : Elementwise<ExtremeGrad<largest>> {
  static constexpr std::string_view name = largest ? "MaxGrad" : "MinGrad";
  constexpr operator VertexCost() const { return binary_map_cost({10, 2}, {10, 4}); }
  template <class X>
  static X forward(X a, X b, X dy) {
    const auto is_other = largest ? a < b : b < a;
    return math::select(a == b, math::number<X>(0.5) * dy, math::select(is_other, math::number<X>(0), dy));
  }
  static constexpr void gradient(GradientContext& op) { detail::gradient_of_linear<ExtremeGrad, 2>(op); }
};
template <class D, bool largest>
struct ExtremeOp : Elementwise<D> {
  constexpr operator VertexCost() const { return binary_map_cost({6, 2}, {4, 4}, Confidence::published); }
  static constexpr void gradient(GradientContext& op) {
    for (int i = 0; i < 2; ++i) {
      if (!op.needs(i)) continue;
      const Tensor part = apply<ExtremeGrad<largest>>({op.input(i), op.input(1 - i), op.output_gradient(0)});
      op.input_gradient(i, ops::sum_to(part, op.input_spec(i).shape));
    }
  }
};
struct Maximum : ExtremeOp<Maximum, true> {
  static constexpr std::string_view name = "Max";
  template <class X> static X forward(X a, X b) { return math::maximum(a, b); }
};
struct Minimum : ExtremeOp<Minimum, false> {
  static constexpr std::string_view name = "Min";
  template <class X> static X forward(X a, X b) { return math::minimum(a, b); }
};

namespace detail {
template <class D>
constexpr Tensor fold(Span<const Tensor> tensors) {
  if (tensors.empty()) TW_THROW TraceError("maximum, minimum: no tensors: at least one expected");
  Tensor result = tensors[0];
  for (std::size_t i = 1; i < tensors.size(); ++i) result = apply<D>({result, tensors[i]});
  return result;
}
}  // namespace detail

namespace ops {
/// Selects a where the condition is true, otherwise b. condition: any dtype, cast to bool (everything except 0 is true, NaN
/// included); a, b: tensors of the same dtype, which can be any, or a tensor and a number. All three broadcast as in NumPy.
/// Gradients: dy for the selected operand, and 0 for the other, even where dy is infinite or NaN; none for the condition. The op
/// that computed the other operand multiplies its own derivative by that 0. If the derivative is infinite or NaN, NaN reaches the
/// input of that op, as in PyTorch. To avoid this, select the input first: sqrt(where(x > 0, x, 1)).
[[nodiscard]] constexpr Tensor where(Tensor condition, const detail::Operand auto& a, const detail::Operand auto& b) {
  using A = std::remove_cvref_t<decltype(a)>;
  using B = std::remove_cvref_t<decltype(b)>;
  static_assert(!detail::Number<A> || !detail::Number<B>, "where: two numbers: a tensor expected as one of its choices");
  if constexpr (detail::Number<A> && detail::Number<B>) return condition;
  else if constexpr (detail::Number<A>) return where(condition, detail::like<Where>(b, a), b);
  else if constexpr (detail::Number<B>) return where(condition, a, detail::like<Where>(a, b));
  else return apply<Where>({condition.cast(boolean), a, b});
}
/// Returns the largest of several tensors, element by element; NaN where one of them is NaN. Equal dtypes; shapes broadcast as in
/// NumPy. Gradients of two tensors: dy for the larger one; half of dy for each if they are equal; dy for both if one is NaN, as
/// in PyTorch. With more than two tensors, the op takes the maximum of the first two, then of this result and the third, and so
/// on.
[[nodiscard]] constexpr Tensor maximum(Span<const Tensor> tensors) { return detail::fold<Maximum>(tensors); }
[[nodiscard]] constexpr Tensor maximum(Tensor first, std::convertible_to<Tensor> auto... others) {
  const Tensor all[] = {first, others...};
  return maximum(Span<const Tensor>(all));
}
[[nodiscard]] constexpr Tensor maximum(Tensor a, detail::Number auto b) { return detail::apply_to<Maximum>(a, b); }
/// Returns the smallest of several tensors, element by element; NaN where one of them is NaN, as in PyTorch. Equal dtypes; shapes
/// broadcast as in NumPy. Gradients follow the rules of maximum.
[[nodiscard]] constexpr Tensor minimum(Span<const Tensor> tensors) { return detail::fold<Minimum>(tensors); }
[[nodiscard]] constexpr Tensor minimum(Tensor first, std::convertible_to<Tensor> auto... others) {
  const Tensor all[] = {first, others...};
  return minimum(Span<const Tensor>(all));
}
[[nodiscard]] constexpr Tensor minimum(Tensor a, detail::Number auto b) { return detail::apply_to<Minimum>(a, b); }
}  // namespace ops

}  // namespace tilewright
