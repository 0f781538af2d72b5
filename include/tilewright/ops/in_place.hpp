#pragma once
#include "tilewright/ops/elementwise.hpp"

namespace tilewright {

namespace detail {
template <class D>
struct GradientOf {};
template <class D>
  requires requires { D::gradient; }
struct GradientOf<D> {
  static constexpr void gradient(GradientContext& op) { D::gradient(op); }
};
template <class D>
struct FaultOf {};
template <class D>
  requires requires { D::fault; }
struct FaultOf<D> {
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int input_count) {
    return D::fault(operands, input_count);
  }
  static auto forward_checked(Faults faults, const auto&... x) { return D::forward_checked(faults, x...); }
};
}  // namespace detail

/// The form in place of an elementwise op D: D's result is written into its first input, of which this op's result is an alias.
/// Shape and dtype of the first input must be those of the result. Its gradient is D's; where that needs a value that was
/// overwritten, autodiff fails.
template <class D>
struct InPlace : Elementwise<InPlace<D>>, detail::GradientOf<D>, detail::FaultOf<D> {
  static constexpr std::string_view name = InPlaceName<D>::value;
  static constexpr int modifies = 0;
  static constexpr bool bools_are_masks = D::bools_are_masks;
  static constexpr Differentiation differentiation = D::differentiation;
  static constexpr VertexCost vertex_cost = detail::vertex_cost_of<D>();
  using Attributes = typename D::Attributes;

  static constexpr bool check_dtypes(Inference& op) { return D::check_dtypes(op); }
  static constexpr DType result_dtype(const Inference& op) { return D::result_dtype(op); }
  static auto forward(const auto&... x) -> decltype(D::forward(x...)) { return D::forward(x...); }
};

}  // namespace tilewright
