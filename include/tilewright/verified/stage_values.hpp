#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/lower/plan.hpp"
#include "tilewright/ops/reduce/sum.hpp"
#include "tilewright/verified/slices.hpp"
#include "tilewright/verified/terms.hpp"

namespace tilewright::internal::proof::detail {

/// Finds the values that stages compute: results of ops, parts of results, and results combined from parts.
class StageValues {
 public:
  constexpr explicit StageValues(ValueTerms& terms) : terms_(terms), slices_(terms) {}

  /// Returns the value of an output. `parts`: how many parts of it the vertices write, one after the other.
  constexpr ValueId result(const Stage& stage, List<Operand>& inputs, int output, const TensorSpec& spec, std::int64_t parts) {
    if (const PartialResults* const whole = combined(stage, inputs)) {
      if (parts == 1) return slices_.resolved(whole->term, {whole->shape, spec.dtype});
      PartialResults again = *whole;
      again.parts = parts;
      again.are_added = stage.parts == SumParts::made;
      return terms_.partials(std::move(again));
    }
    if (stage.parts == SumParts::combined) return ValueId::unwritten;  // it reads the first part of something else only
    const OpInfo* const op = terms_.find_op(stage.op);
    List<std::int64_t> term = terms_.term_of(stage.op, stage.attributes, inputs, output);
    if (takes_input_again(op, stage, inputs) && (parts > 1 || !terms_.is_known(terms_.result(term, spec)))) {
      inputs.resize(inputs.size() - 1);
      term = terms_.term_of(stage.op, stage.attributes, inputs, output);
    }
    if (op && is_sliced(*op)) slices_.add(*op, stage.attributes, inputs, term, spec.shape);
    if (parts == 1) return slices_.resolved(term, spec);
    return terms_.partials({.parts = parts,
                            .op = op,
                            .attributes = stage.attributes,
                            .term = std::move(term),
                            .shape = spec.shape,
                            .are_added = stage.parts == SumParts::made});
  }

 private:
  /// Returns whether the last input of a stage repeats an earlier one: a stage that is cut takes that one whole, too.
  static constexpr bool takes_input_again(const OpInfo* op, const Stage& stage, const List<Operand>& inputs) {
    if (op == nullptr || !op->partials) return false;
    const int again = op->partials(stage.attributes).whole_input;
    return again >= 0 && static_cast<std::size_t>(again) + 1 < inputs.size() &&
           same(inputs.back().content, inputs[static_cast<std::size_t>(again)].content);
  }
  /// Returns the partial results that a stage combines, all of them; null: it does something else.
  constexpr const PartialResults* combined(const Stage& stage, const List<Operand>& inputs) {
    if (inputs.size() != 1) return nullptr;
    const Shape& shape = inputs[0].spec.shape;
    const bool is_of_slices = !inputs[0].content.parts.empty();
    const PartialResults* const partials = is_of_slices ? slices_.whole_of_slices(inputs[0])
                                                        : terms_.find_partials(inputs[0].content.value);
    if (partials == nullptr || shape.rank == 0 || shape[0] != partials->parts) return nullptr;
    if (partials->are_added != (stage.parts == SumParts::combined)) return nullptr;
    if (shape.nelms() != partials->parts * partials->shape.nelms()) return nullptr;
    const Access dense = access_of(0, inputs[0].spec, dense_strides(shape));
    if (!is_of_slices && !same(inputs[0].content, whole_of(partials->value, dense))) return nullptr;
    const Partials how = partials->op && partials->op->partials ? partials->op->partials(partials->attributes) : Partials{};
    const bool is_right = how.combiner
                              ? stage.op == how.combiner->tag && stage.attributes == how.attributes
                              : stage.op == op_info<ReduceSum>.tag && stage.attributes == pack(ReduceSum::make(Axes(0), false));
    if (is_right && how.combiner) terms_.add_op(*how.combiner);
    return is_right ? partials : nullptr;
  }

  ValueTerms& terms_;
  Slices slices_;
};

}  // namespace tilewright::internal::proof::detail
