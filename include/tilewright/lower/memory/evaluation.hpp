#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/rules/host/rules_of_ops.hpp"

namespace tilewright::internal {

namespace detail {

/// Decides which members of a group become parts of expressions and epilogues.
class Evaluator {
 public:
  constexpr Evaluator(const BodyDraft& draft, const Group& group)
      : draft_(draft), group_(group), count_(static_cast<int>(group.members.size())) {
    const Member* const members = group.members.data();
    const Operation* const operations = draft.operations.data();
    for (int m = 0; m < count_; ++m) operations_[m] = operations + members[m].operation;
  }

  constexpr Evaluations run() {
    result_.in_registers.assign(group_.members.size(), false);
    if (count_ == 1) {  // nothing follows the kernel
      result_.kinds.push_back(Evaluation::kernel);
      result_.kernels.push_back(0);
      return std::move(result_);
    }
    int epilogue_of = -1;
    for (int i = 0; i < count_; ++i) {
      const bool takes_rows = epilogue_of >= 0 && fits_rows(epilogue_of, i);
      if (takes_rows) row_readers_ |= 1u << i;
      const bool follows = takes_rows || (epilogue_of >= 0 && fits_epilogue(epilogue_of, i));
      if (!follows) epilogue_of = takes_epilogue(operation(i)) ? i : -1;
      if (epilogue_of == i) has_epilogue_ |= 1u << i;
      result_.kinds.push_back(follows ? Evaluation::epilogue : Evaluation::kernel);
      result_.kernels.push_back(follows ? epilogue_of : i);
    }
    for (int i = 0; i < count_; ++i) inline_value(i);
    for (int i = 0; i < count_; ++i)
      if ((has_epilogue_ >> i & 1) != 0) keep_near(i, i);
      else if (result_.kinds[i] == Evaluation::epilogue && !is_row_reader(i)) keep_near(i, result_.kernels[i]);
    return std::move(result_);
  }

 private:
  constexpr const Operation& operation(int member) const { return *operations_[member]; }
  constexpr const Value& result_of(int member) const {
    const Operation& op = *operations_[member];
    return op.operands.data()[op.input_count];
  }
  constexpr bool takes_epilogue(const Operation& op) {
    if (!op.op->has_epilogue) return false;
    rules_ = &host_rules_of(*op.op);
    return rules_->runs_epilogues(op.attributes);
  }
  static constexpr bool same_view(const Value& a, const Value& b) {
    return a.storage == b.storage && a.layout == b.layout && a.spec == b.spec;
  }
  constexpr bool writes(int member, StorageId storage) const { return operation(member).writes(storage); }

  /// Returns whether a member, or an expression inside it, reads the storage of `written` through another view.
  constexpr bool reads_elsewhere(int member, const Value& written) const {
    const Operation& op = operation(member);
    for (int i = 0; i < op.input_count; ++i) {
      const Value& value = op.operands[i];
      if (value.storage == written.storage && !same_view(value, written)) return true;
      for (int m = 0; m < member && m < static_cast<int>(result_.kinds.size()); ++m)
        if (result_.kinds[m] == Evaluation::expression && result_of(m).storage == value.storage && reads_elsewhere(m, written))
          return true;
    }
    return false;
  }

  /// Returns whether an operand can be in the lanes of an op that computes on vectors.
  static constexpr bool fits_lanes(const Operation& op, const Value& value) {
    return computes_in_float(value.spec.dtype) || (value.spec.dtype == boolean && op.op->bools_are_masks);
  }
  /// Returns whether another formula can replace an operand of a formula: it has floating-point numbers only, or bools as masks.
  static constexpr bool takes_expression(const Operation& op, int operands) {
    for (int i = 0; i < operands; ++i)
      if (!is_floating_point(op.operands[i].spec.dtype) && !fits_lanes(op, op.operands[i])) return false;
    return true;
  }

  /// Returns whether vertices have equal blocks of two results of one shape.
  constexpr bool same_blocks(int a, int b) const {
    const GridAxes of_a = grid_axes_of(operation(a), group_.members[a], operation(a).input_count);
    const GridAxes of_b = grid_axes_of(operation(b), group_.members[b], operation(b).input_count);
    const auto cut = [&](int axis) { return axis >= 0 && group_.grid[axis].kind != WorkAxisKind::whole ? axis : -1; };
    const Shape& shape = result_of(a).spec.shape;
    for (int axis = 0; axis < shape.rank; ++axis)
      if (shape[axis] > 1 && cut(of_a[axis]) != cut(of_b[axis])) return false;
    return true;
  }
  /// Returns whether vectors can go across the ends of rows in a result and the operands of an op in its epilogue.
  static constexpr bool has_planes(const Value& result, const Operation& op) {
    const auto fits = [&](const Value& value) { return has_plane_runs(value.spec.shape, value.layout, result.spec.shape); };
    for (const Value& value : op.operands)
      if (!fits(value)) return false;
    return fits(result);
  }
  /// Returns whether a kernel, and so its epilogue, supports a result with channels as the last axis of memory.
  constexpr bool puts_channels_last(const Operation& kernel) const {
    if (!rules_->channels_last) return false;
    const List<TensorSpec> specs = operand_specs(kernel);
    const std::uint32_t all = (std::uint32_t{1} << specs.size()) - 1;
    return (rules_->channels_last({specs.data(), specs.size()}, kernel.attributes, all) >> kernel.input_count & 1) != 0;
  }
  /// Returns whether a member can be computed in the epilogue of a kernel. It must be a formula of floats, in single or half
  /// precision, or of bools. Its operands have the shape of the kernel's result, or are broadcast to it, and its result is
  /// divided like the kernel's.
  constexpr bool fits_epilogue(int kernel, int member) const {
    const Operation &producer = operation(kernel), &op = operation(member);
    const Value& result = result_of(kernel);
    if (!is_formula(op) || op.operands.back().spec.shape != result.spec.shape || !same_blocks(kernel, member)) return false;
    const bool channels_are_last = is_channels_last(result.spec.shape, result.layout.strides);
    if (channels_are_last && !puts_channels_last(producer)) return false;
    const auto has_lines = [&](const Value& value) {
      return channels_are_last ? has_channel_runs(value.spec.shape, value.layout) : has_runs(value.spec.shape, value.layout);
    };
    if (!has_lines(result)) return false;
    if (rules_->epilogue_of_planes && !channels_are_last && !has_planes(result, op)) return false;
    for (const Value& value : producer.operands)
      if (!computes_in_float(value.spec.dtype)) return false;
    for (const Value& value : op.operands) {
      if (!fits_lanes(op, value)) return false;
      if (!has_lines(value)) return false;
      for (int m = kernel; m < member; ++m)  // what is made here is read where it is made
        if (writes(m, value.storage) && (!same_view(value, result_of(m)) || is_row_reader(m))) return false;
    }
    for (int m = kernel + 1; m < member; ++m)
      if (is_row_reader(m) && operation(m).operands[0].storage == op.operands.back().storage) return false;
    for (int m = kernel + 1; m <= member; ++m)  // and what is written here is read nowhere else
      if (reads_elsewhere(m, op.operands.back())) return false;
    for (int i = 0; i < producer.input_count; ++i)  // the kernel still reads its inputs
      if (writes(member, producer.operands[i].storage)) return false;
    return true;
  }

  constexpr bool is_row_reader(int member) const { return (row_readers_ >> member & 1) != 0; }
  /// Returns whether a member can be computed when a kernel has finished rows of planes: it reads the result of the kernel or of
  /// its epilogue, and vertices have equal planes of both.
  constexpr bool fits_rows(int kernel, int member) const {
    const Operation &producer = operation(kernel), &op = operation(member);
    if (!rules_->epilogue_of_planes) return false;
    const auto reads_rows = host_rules_of(*op.op).reads_rows;
    if (!reads_rows) return false;
    const Value &input = op.operands[0], &result = result_of(kernel);
    if (input.spec.shape != result.spec.shape || !reads_rows(op.attributes, input.spec)) return false;
    if (!same_blocks(kernel, member) || !has_plane_runs(result.spec.shape, result.layout, result.spec.shape)) return false;
    for (const Value& value : producer.operands)
      if (!computes_in_float(value.spec.dtype)) return false;
    int maker = member - 1;
    while (maker > kernel && !writes(maker, input.storage)) --maker;
    if (!writes(maker, input.storage) || is_row_reader(maker) || !same_view(input, result_of(maker))) return false;
    for (int m = kernel; m < member; ++m)  // their operands are still read or written
      for (const Value& value : operation(m).operands)
        if (value.storage == result_of(member).storage) return false;
    return true;
  }

  /// Returns the member with the only operand that reads a member's result. -1: there are several, or the result is not internal.
  constexpr int only_reader(int member) const {
    const Value& result = result_of(member);
    if (!draft_.storage(result.storage).internal) return -1;
    int reader = -1;
    for (int m = member + 1; m < count_; ++m) {
      const Value* const operands = operations_[m]->operands.data();
      for (int o = 0, end = static_cast<int>(operations_[m]->operands.size()); o < end; ++o)
        if (operands[o].storage == result.storage) {
          if (reader >= 0 || writes(m, result.storage)) return -1;
          reader = m;
        }
    }
    return reader;
  }
  /// Makes a formula part of the only formula that reads its result, unless its operands are overwritten before that.
  constexpr void inline_value(int member) {
    const Operation& op = operation(member);
    if (!is_formula(op) || op.op->modifies >= 0) return;
    if (!takes_expression(op, static_cast<int>(op.operands.size())) || !fits_lanes(op, result_of(member))) return;
    const int reader = only_reader(member);
    if (reader < 0) return;
    const Operation& reading = operation(reader);
    const Evaluation kind = result_.kinds[member];
    if (!is_formula(reading) || result_.kinds[reader] != kind) return;
    if (kind == Evaluation::epilogue && result_.kernels[member] != result_.kernels[reader]) return;
    if (reading.operands.back().spec.shape != op.operands.back().spec.shape) return;
    if (!takes_expression(reading, reading.input_count)) return;
    for (int m = member + 1; m < reader; ++m)
      if (overwrites(m, member)) return;
    if (reads_elsewhere(member, reading.operands.back())) return;
    result_.kinds[member] = Evaluation::expression;
    result_.kernels[member] = kind == Evaluation::epilogue ? result_.kernels[member] : result_.kernels[reader];
    result_.in_registers[member] = true;
  }
  /// Returns whether `writer` writes a storage that the expression of another member reads.
  constexpr bool overwrites(int writer, int expression) const {
    const Operation& op = operation(expression);
    for (int i = 0; i < op.input_count; ++i) {
      const StorageId storage = op.operands[i].storage;
      if (writes(writer, storage)) return true;
      for (int m = 0; m < expression; ++m)
        if (result_.kinds[m] == Evaluation::expression && result_of(m).storage == storage && overwrites(writer, m)) return true;
    }
    return false;
  }
  /// Keeps the result of a kernel, or of a member in its epilogue, in registers if only the epilogue reads it, or in memory for
  /// one image if the epilogue also reads rows of it.
  constexpr void keep_near(int member, int kernel) {
    const Value& result = result_of(member);
    if (!draft_.storage(result.storage).internal || operation(member).op->modifies >= 0) return;
    bool has_row_reader = false;
    for (int m = member + 1; m < count_; ++m) {
      const Value* const operands = operations_[m]->operands.data();
      for (int o = 0, end = static_cast<int>(operations_[m]->operands.size()); o < end; ++o)
        if (operands[o].storage == result.storage) {
          if (result_.kernels[m] != kernel || writes(m, result.storage)) return;
          has_row_reader = has_row_reader || is_row_reader(m);
        }
    }
    if (has_row_reader) result_.by_image |= 1u << member;
    else result_.in_registers[member] = true;
  }

  const BodyDraft& draft_;
  const Group& group_;
  int count_;  // of members
  const Operation* operations_[max_stages]{};  // by member
  const HostRules* rules_ = nullptr;  // of the last kernel with an epilogue
  unsigned has_epilogue_ = 0;  // bit m: member m is a kernel that takes an epilogue
  unsigned row_readers_ = 0;  // bit m: member m reads rows of planes in an epilogue (HostRules::reads_rows)
  Evaluations result_{};
};

}  // namespace detail

/// Decides for each member of a group whether it has its own kernel, or is part of an expression or of an epilogue. Only values
/// of internal storages stay in registers.
constexpr Evaluations evaluate(const BodyDraft& draft, const Group& group) { return detail::Evaluator(draft, group).run(); }

}  // namespace tilewright::internal
