#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"

namespace tilewright {

/// x + bias, rounded once to the dtype of bias: x is float32, bias has half precision.
struct BiasAdd : Elementwise<BiasAdd> {
  static constexpr std::string_view name = "BiasAdd";
  constexpr operator VertexCost() const { return Add{}; }
  constexpr operator Effects() const { return Effects{.gradient_needs_no_result = true}; }
  template <class X> static X forward(X a, X b) { return math::add(a, b); }
  static constexpr bool check_dtypes(Inference& op) {
    if (op.input(0).dtype == float32 && is_half(op.input(1).dtype)) return true;
    op.fail(to_text(op.input(0)), " and ", to_text(op.input(1)), ": float32, and float16 or bfloat16, expected");
    return false;
  }
  static constexpr DType result_dtype(const Inference& op) { return op.input(1).dtype; }
  static constexpr void gradient(GradientContext& op) {
    const Tensor dy = op.output_gradient(0);
    if (op.needs(0)) op.input_gradient(0, ops::cast(ops::sum_to(dy, op.input_spec(0).shape), float32));
    if (op.needs(1)) op.input_gradient(1, ops::sum_to(dy, op.input_spec(1).shape));
  }
};

}  // namespace tilewright
