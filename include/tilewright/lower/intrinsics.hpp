#pragma once
#include "tilewright/lower/body_draft.hpp"
#include "tilewright/ops/sum.hpp"
#include "tilewright/ops/unary.hpp"

namespace tilewright::internal::detail {

// The operations that the planner adds by itself. It knows no other op by name.

/// A copy: of equal shapes and dtypes.
constexpr Operation copy_operation(const Value& from, const Value& to) {
  return {.op = &op_info<Identity>, .input_count = 1, .operands = {from, to}};
}
/// The sum of parts along their first axis.
constexpr Operation sum_operation(const Value& parts, const Value& sum) {
  return {
      .op = &op_info<ReduceSum>, .attributes = pack(ReduceSum::make(Axes(0), false)), .input_count = 1, .operands = {parts, sum}};
}

}  // namespace tilewright::internal::detail
