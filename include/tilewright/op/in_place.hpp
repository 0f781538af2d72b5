#pragma once
#include "tilewright/op/elementwise.hpp"

namespace tilewright {

/// The in-place form of an elementwise op D. It writes D's result into the first input and returns an alias of that input. Shape
/// and dtype of the first input must be those of the result. The gradient is D's; if it needs an overwritten value, autodiff
/// fails.
template <class D>
struct InPlace : Elementwise<InPlace<D>> {
  static constexpr std::string_view name = InPlaceName<D>::value;
  constexpr operator Effects() const { return Effects{.modifies = 0}; }
  constexpr operator Fusion() const { return detail::groups_of<D>(); }
  constexpr operator OpTexts() const { return detail::groups_of<D>(); }
  static constexpr Differentiation differentiation = D::differentiation;
  static constexpr decltype(OpInfo::gradient) gradient = D::gradient;
  constexpr operator VertexCost() const { return detail::groups_of<D>(); }
  using Attributes = typename D::Attributes;

  static constexpr bool check_dtypes(Inference& op) { return D::check_dtypes(op); }
  static constexpr DType result_dtype(const Inference& op) { return D::result_dtype(op); }
  static auto forward(const auto&... x) -> decltype(D::forward(x...)) { return D::forward(x...); }
  static auto forward_checked(Faults faults, const auto&... x) { return D::forward_checked(faults, x...); }
};

}  // namespace tilewright
