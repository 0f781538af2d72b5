#pragma once
#include "tilewright/lower/plan.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/rules/host/rules_of_ops.hpp"
#include "tilewright/verified/terms.hpp"

namespace tilewright::internal::proof::detail {

/// The stages of a compute set, and the kernels that compute them.
class SetStages {
 public:
  constexpr SetStages(const auto& plan, const ComputeSet& set)
      : stages_(plan.stages.data() + set.first_stage), operands_(plan.operands.data()), count_(set.stage_count) {}

  constexpr const Stage& operator[](int s) const { return stages_[s]; }
  constexpr int count() const { return count_; }
  constexpr const StageOperand& operand(int s, int o) const { return operands_[stages_[s].first_operand + o]; }
  /// Returns the only stage that reads the value of an expression, or -1.
  constexpr int reader_of(int s) const {
    int reader = -1;
    for (int later = s + 1; later < count_; ++later)
      for (int o = 0; o < stages_[later].input_count; ++o)
        if (const StageOperand& each = operand(later, o); each.source == Source::value && each.index == s) {
          if (reader >= 0) return -1;
          reader = later;
        }
    return reader;
  }
  /// Returns the nearest kernel before a stage, or -1.
  constexpr int kernel_before(int s) const {
    while (s-- > 0)
      if (stages_[s].evaluation == Evaluation::kernel) return s;
    return -1;
  }
  /// Returns the kernel whose code computes a stage: itself, or that of its expression or epilogue; -1: none does.
  constexpr int kernel_of(int s) const {
    while (s >= 0 && stages_[s].evaluation == Evaluation::expression) s = reader_of(s);
    return s >= 0 && stages_[s].evaluation == Evaluation::epilogue ? kernel_before(s) : s;
  }
  /// Returns whether a stage reads rows in the epilogue of the kernel that computes it.
  constexpr bool reads_rows(int s, ValueTerms& terms) const {
    const OpInfo* const found = stages_[s].evaluation == Evaluation::epilogue ? op(s, terms) : nullptr;
    return found != nullptr && host_rules_of(*found).reads_rows != nullptr;
  }
  /// Returns a stage's op, which graphs use or the planner adds; null: neither.
  constexpr const OpInfo* op(int s, ValueTerms& terms) const {
    if (stages_[s].op == op_info<ReduceSum>.tag) return &op_info<ReduceSum>;
    return stages_[s].op == op_info<Identity>.tag ? &op_info<Identity> : terms.find_op(stages_[s].op);
  }
  /// Returns whether a stage may read an input where a stage of the same kernel writes an output, of the same elements: it reads
  /// each element before that is written, or it is the op that changes this input in place, or it reads rows that the other stage
  /// has written before.
  constexpr bool reads_in_place(int reader, int input, int writer, int output, ValueTerms& terms) const {
    if (reads_rows(reader, terms)) return writer < reader && !reads_rows(writer, terms);
    if (reads_rows(writer, terms)) return false;
    const OpInfo* const found = op(reader, terms);
    return found == nullptr || found->elementwise ||
           (reader == writer && output == stages_[writer].input_count && found->modifies == input);
  }

 private:
  const Stage* stages_;
  const StageOperand* operands_;
  int count_;
};

}  // namespace tilewright::internal::proof::detail
