#pragma once
#include "tilewright/lower/plan.hpp"
#include "tilewright/ops/reduce/sum.hpp"
#include "tilewright/verified/terms.hpp"

namespace tilewright::internal::proof::detail {

/// Returns whether the last input of a stage repeats an earlier one: a stage that is cut takes that one whole, too.
constexpr bool takes_input_again(const OpInfo* op, const Stage& stage, const List<Operand>& inputs) {
  if (op == nullptr || !op->partials) return false;
  const int again = op->partials(stage.attributes).whole_input;
  return again >= 0 && static_cast<std::size_t>(again) + 1 < inputs.size() &&
         same(inputs.back().content, inputs[static_cast<std::size_t>(again)].content);
}
/// Returns the partial results that a stage combines, all of them; null: it does something else.
constexpr const PartialResults* combined(const ValueTerms& terms, const Stage& stage, const List<Operand>& inputs) {
  if (inputs.size() != 1 || !inputs[0].content.parts.empty()) return nullptr;
  const Shape& shape = inputs[0].spec.shape;
  const PartialResults* const partials = terms.find_partials(inputs[0].content.value);
  if (partials == nullptr || shape.rank == 0 || shape[0] != partials->parts) return nullptr;
  if (shape.nelms() != partials->parts * partials->shape.nelms()) return nullptr;
  const Access dense = access_of(0, inputs[0].spec, dense_strides(shape));
  if (!same(inputs[0].content, whole_of(partials->value, dense))) return nullptr;
  const Partials how = partials->op && partials->op->partials ? partials->op->partials(partials->attributes) : Partials{};
  const bool is_right = how.combiner
                            ? stage.op == how.combiner->tag && stage.attributes == how.attributes
                            : stage.op == op_info<ReduceSum>.tag && stage.attributes == pack(ReduceSum::make(Axes(0), false));
  return is_right ? partials : nullptr;
}

}  // namespace tilewright::internal::proof::detail
