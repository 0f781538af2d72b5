#pragma once
#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/reduce/sum.hpp"

namespace tilewright::internal::detail {

// Operations that the planner adds. It refers to no other op by name.

/// Returns a copy between equal shapes and dtypes.
constexpr Operation copy_operation(const Value& from, const Value& to) {
  return {.op = &op_info<Identity>, .input_count = 1, .operands = {from, to}};
}
/// Returns whether an operation is a planner's copy, or an op of the program with the same effect.
constexpr bool is_identity(const Operation& operation) { return operation.op == &op_info<Identity>; }
/// Returns the operation that reduces partials along their first axis: the op that is stated, or their sum.
constexpr Operation combining_operation(const Partials& how, const Value& partials, const Value& result) {
  Operation operation{.op = how.combiner, .attributes = how.attributes, .input_count = 1, .operands = {partials, result}};
  if (!how.combiner) operation.op = &op_info<ReduceSum>, operation.attributes = pack(ReduceSum::make(Axes(0), false));
  return operation;
}

}  // namespace tilewright::internal::detail
