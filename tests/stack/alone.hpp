#pragma once
// Programs of one op, so that no other op's arrays hide what its kernel needs.
#include "painted.hpp"
#include "run/cases/op_case.hpp"

/// The op `f` of variables of these types.
template <auto f, tw::TensorSpec... inputs>
constexpr void alone(tw::Ir& ir) {
  op_cases::forward(ir, "op", f, inputs...);
}
/// The op and its gradients.
template <auto f, tw::TensorSpec... inputs>
constexpr void with_gradients(tw::Ir& ir) {
  op_cases::differentiable(ir, "op", f, inputs...);
}
