#pragma once

#include "tilewright/core/list.hpp"
#include "tilewright/lower/body_draft.hpp"

namespace tilewright {

/// How the values of a group's members are computed; by member.
struct Evaluations {
  List<Evaluation> kinds{};
  List<int> kernels{};     ///< the member in whose kernel it is computed
  List<char> in_registers{};  ///< the value is never in memory: its readers have it in registers
};

namespace detail {

/// Decides which members of a group become parts of expressions and epilogues.
class Evaluator {
 public:
  constexpr Evaluator(const BodyDraft& draft, const Group& group) : draft_(draft), group_(group) {}

  constexpr Evaluations run() {
    const std::size_t count = group_.members.size();
    result_.in_registers.assign(count, 0);
    if (count == 1) {  // nothing to go on with
      result_.kinds.push_back(Evaluation::kernel);
      result_.kernels.push_back(0);
      return std::move(result_);
    }
    int epilogue_of = -1;
    for (std::size_t i = 0; i < count; ++i) {
      const bool goes_on = epilogue_of >= 0 && fits_epilogue(static_cast<std::size_t>(epilogue_of), i);
      if (!goes_on) epilogue_of = operation(i).op->has_epilogue ? static_cast<int>(i) : -1;
      result_.kinds.push_back(goes_on ? Evaluation::epilogue : Evaluation::kernel);
      result_.kernels.push_back(goes_on ? epilogue_of : static_cast<int>(i));
    }
    for (std::size_t i = 0; i < count; ++i) inline_value(i);
    for (std::size_t i = 0; i < count; ++i)
      if (operation(i).op->has_epilogue) keep_in_registers(i);
    return std::move(result_);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  constexpr const Operation& operation(std::size_t member) const { return draft_.operation(group_.members[member]); }
  constexpr const Value& result_of(std::size_t member) const {
    return operation(member).operands[at(operation(member).input_count)];
  }
  static constexpr bool same_view(const Value& a, const Value& b) {
    return a.storage == b.storage && a.layout == b.layout && a.spec == b.spec;
  }
  constexpr bool writes(std::size_t member, int storage) const { return operation(member).writes(storage); }

  /// Whether a member, or an expression in it, reads memory that is written as `written` at other places than that.
  constexpr bool reads_elsewhere(std::size_t member, const Value& written) const {
    const Operation& op = operation(member);
    for (int i = 0; i < op.input_count; ++i) {
      const Value& value = op.operands[at(i)];
      if (value.storage == written.storage && !same_view(value, written)) return true;
      for (std::size_t m = 0; m < member && m < result_.kinds.size(); ++m)
        if (result_.kinds[m] == Evaluation::expression && result_of(m).storage == value.storage && reads_elsewhere(m, written))
          return true;
    }
    return false;
  }

  /// Whether a member can be evaluated for each element of a kernel's result while that is in registers: it is a formula of
  /// floats, in single or half precision, that reads at the element's place, or rows and numbers that are broadcast.
  constexpr bool fits_epilogue(std::size_t kernel, std::size_t member) const {
    const Operation &producer = operation(kernel), &op = operation(member);
    const Value& result = result_of(kernel);
    if (!is_formula(op) || op.operands.back().spec.shape != result.spec.shape) return false;
    for (const Value& value : producer.operands)
      if (value.spec.dtype != float32) return false;
    for (std::size_t o = 0; o < op.operands.size(); ++o) {
      const Value& value = op.operands[o];
      if (!computes_in_float(value.spec.dtype)) return false;
      const int rank = value.spec.shape.rank;
      if (rank > 0 && value.spec.shape[-1] != 1 && value.layout.strides[at(rank - 1)] != 1) return false;
      for (std::size_t m = kernel; m < member; ++m)  // what its kernel made: at the same place
        if (writes(m, value.storage) && !same_view(value, result_of(m))) return false;
    }
    for (std::size_t m = kernel + 1; m <= member; ++m)  // what it writes, nobody reads at other places
      if (reads_elsewhere(m, op.operands.back())) return false;
    for (int i = 0; i < producer.input_count; ++i)  // what the kernel still reads stays as it is
      if (writes(member, producer.operands[at(i)].storage)) return false;
    return true;
  }

  /// The only operand in the group that reads a member's result: its member, or -1 if there are several or it is stored.
  constexpr int only_reader(std::size_t member) const {
    const Value& result = result_of(member);
    if (!draft_.storage(result.storage).internal) return -1;
    int reader = -1;
    for (std::size_t m = member + 1; m < group_.members.size(); ++m)
      for (const Value& value : operation(m).operands)
        if (value.storage == result.storage) {
          if (reader >= 0 || writes(m, result.storage)) return -1;
          reader = static_cast<int>(m);
        }
    return reader;
  }
  /// A formula's value becomes part of the only expression that reads it, unless something it reads is overwritten before.
  constexpr void inline_value(std::size_t member) {
    const Operation& op = operation(member);
    if (!is_formula(op) || op.op->modifies >= 0) return;
    for (const Value& value : op.operands)
      if (!is_floating_point(value.spec.dtype)) return;
    const int reader = only_reader(member);
    if (reader < 0 || !computes_in_float(result_of(member).spec.dtype)) return;
    const Operation& reading = operation(at(reader));
    const Evaluation kind = result_.kinds[member];
    if (!is_formula(reading) || result_.kinds[at(reader)] != kind) return;
    if (kind == Evaluation::epilogue && result_.kernels[member] != result_.kernels[at(reader)]) return;
    if (reading.operands.back().spec.shape != op.operands.back().spec.shape) return;
    for (int i = 0; i < reading.input_count; ++i)
      if (!is_floating_point(reading.operands[at(i)].spec.dtype)) return;
    for (std::size_t m = member + 1; m < at(reader); ++m)
      if (overwrites(m, member)) return;
    if (reads_elsewhere(member, reading.operands.back())) return;
    result_.kinds[member] = Evaluation::expression;
    result_.kernels[member] = kind == Evaluation::epilogue ? result_.kernels[member] : result_.kernels[at(reader)];
    result_.in_registers[member] = 1;
  }
  /// Whether a member writes what the expression of another reads.
  constexpr bool overwrites(std::size_t writer, std::size_t expression) const {
    const Operation& op = operation(expression);
    for (int i = 0; i < op.input_count; ++i) {
      const int storage = op.operands[at(i)].storage;
      if (writes(writer, storage)) return true;
      for (std::size_t m = 0; m < expression; ++m)
        if (result_.kinds[m] == Evaluation::expression && result_of(m).storage == storage && overwrites(writer, m)) return true;
    }
    return false;
  }
  /// A kernel's result that only its own epilogue reads is never stored.
  constexpr void keep_in_registers(std::size_t kernel) {
    const Value& result = result_of(kernel);
    if (!draft_.storage(result.storage).internal) return;
    for (std::size_t m = kernel + 1; m < group_.members.size(); ++m)
      for (const Value& value : operation(m).operands)
        if (value.storage == result.storage && (result_.kernels[m] != static_cast<int>(kernel) || writes(m, result.storage)))
          return;
    result_.in_registers[kernel] = 1;
  }

  const BodyDraft& draft_;
  const Group& group_;
  Evaluations result_{};
};

}  // namespace detail

/// Marks what only one group uses, each vertex its own block of it: that needs no place in the frame.
constexpr void find_internal_storages(BodyDraft& draft) {
  const Lifetimes lifetimes(draft);
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  List<const Value*> written(draft.storages.size(), nullptr);
  for (const Group& group : draft.groups) {
    if (group.members.size() == 1) continue;
    for_each_operand(draft, group, [&](const Operation& operation, int i, const Member&) {
      const Value& value = operation.operands[at(i)];
      Storage& storage = draft.storage(value.storage);
      const std::size_t s = at(value.storage);
      if (written[s] != nullptr) {
        storage.internal = storage.internal && value.layout == written[s]->layout && value.spec == written[s]->spec;
      } else if (storage.location.base == Base::frame && lifetimes.first[s] == lifetimes.last[s] && operation.is_output(i) &&
                 is_whole_and_dense(value, storage)) {
        written[s] = &value;
        storage.internal = true;
      }
    });
  }
}

/// Decides for each member of a group whether it has a kernel of its own, or is part of an expression or of an epilogue.
constexpr Evaluations evaluate(const BodyDraft& draft, const Group& group) { return detail::Evaluator(draft, group).run(); }

}  // namespace tilewright
