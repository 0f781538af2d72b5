#pragma once
#include "tilewright/op/elementwise.hpp"

namespace tilewright {

/// The form in place of an elementwise op D: D's result is written into its first input, of which this op's result is an alias.
/// Shape and dtype of the first input must be those of the result. Its gradient is D's; where that needs a value that was
/// overwritten, autodiff fails.
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
