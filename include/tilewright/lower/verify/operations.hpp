#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tilewright/lower/verify/draft_violation.hpp"

namespace tilewright::internal::detail {

/// Checks operations and their operands separately: the results of flatten and split_operations.
class OperationsViolation : DraftViolation {
 public:
  using DraftViolation::DraftViolation;

  constexpr Text run() {
    check_operands();
    if (violation_.empty()) check_storages();
    if (violation_.empty() && after_ >= Pass::split_operations) check_work();
    return violation_;
  }

 private:
  constexpr void check_operands() {
    const int storages = static_cast<int>(draft_.storages.size());
    for (int i = 0; i < count(); ++i) {
      const Operation& operation = draft_.operations[i];
      const int operands = operand_count(operation);
      expect((operation.op != nullptr) != operation.is_call(), "one kind", i,
             operation.op ? "is an op and a call: only one of them expected" : "is no op and no call: one of them expected");
      if (operation.loads_code)
        expect(operands == 0, "one kind", i, "loads code and has ", operands, " operands: no operand expected");
      else
        expect(operation.input_count >= 0 && operation.input_count < operands, "inputs and outputs", i, "has ",
               operation.input_count, " inputs of ", operands, " operands: at least one output expected");
      for (int o = 0; o < operands; ++o) {
        const Value& value = operation.operands[o];
        if (!expect(value.storage > StorageId::none && value.storage < StorageId(storages), "operands exist", i, "has operand ",
                    o, " in storage ", value.storage, ": a storage from 0 to ", storages - 1, " expected"))
          return;
        check_view(i, o, value);
        check_written_memory(i, o, value);
      }
      if (operation.is_call()) check_call(i, operation);
    }
  }
  constexpr void check_view(int i, int o, const Value& value) {
    const Storage& storage = draft_.storage(value.storage);
    if (value.spec.nelms() == 0 || storage.location.base == Base::remote) return;  // rows of remote buffers have gaps
    std::int64_t first = value.layout.offset, last = first;
    for (int axis = 0; axis < value.spec.shape.rank; ++axis) {
      const std::int64_t reach = (value.spec.shape[axis] - 1) * value.layout.strides[static_cast<std::size_t>(axis)];
      (reach < 0 ? first : last) += reach;
    }
    expect(first >= 0 && (last + 1) * size_of(value.spec.dtype) <= storage.whole.bytes(), "views lie in their storages", i,
           "has operand ", o, " with elements ", first, " to ", last, " of a storage: elements from 0 to ",
           storage.whole.bytes() / size_of(value.spec.dtype) - 1, " expected");
  }
  /// Checks that constants and streams from the host are never written.
  constexpr void check_written_memory(int i, int o, const Value& value) {
    const Location& location = draft_.storage(value.storage).location;
    if (!draft_.operations[i].is_output(o)) return;
    expect(location.base != Base::constant, "what is given stays", i, "writes operand ", o,
           ", which is in a constant: an operand in other memory expected");
    if (location.base == Base::stream && location.index >= 0 && location.index < static_cast<int>(plan_.streams.size()))
      expect(plan_.streams[location.index].direction == StreamDirection::device_to_host, "what is given stays", i,
             "writes operand ", o, ", which is in a stream from the host: an operand in other memory expected");
  }
  constexpr void check_call(int i, const Operation& call) {
    const Calling& calling = call.calling;
    const int bodies = static_cast<int>(plan_.bodies.size());
    for (const BodyId callee : {calling.body, calling.else_body})
      expect(callee == BodyId::none || (callee > body_ && callee < BodyId(bodies)), "callees are planned before", i,
             "calls body ", callee, ": a body from ", static_cast<int>(body_) + 1, " to ", bodies - 1, " expected");
    if (call.loads_code) return;
    const bool is_conditional = calling.else_body != BodyId::none;
    const int inputs = (is_conditional ? 1 : 0) + calling.inputs + calling.else_inputs;
    expect(call.input_count == inputs, "arguments of calls", i, "has ", call.input_count, " inputs: ", inputs, " expected");
    std::int64_t least = inputs + calling.outputs + calling.else_outputs + 1;
    if (calling.loop) least += calling.loop->carried;
    expect(operand_count(call) >= least, "arguments of calls", i, "has ", operand_count(call), " operands: at least ", least,
           " expected");
  }

  constexpr void check_storages() {
    const auto in = [](std::int64_t value, std::int64_t end) { return value >= 0 && value < end; };
    for (std::size_t s = 0; s < draft_.storages.size(); ++s) {
      const auto& [base, index, offset] = draft_.storages[StorageId(s)].location;
      bool holds = offset >= 0;
      switch (base) {
        case Base::frame: holds = holds && index == 0 && (offset == 0 || after_ == Pass::place); break;
        case Base::argument: holds = index >= 0 && offset == 0; break;
        case Base::variable: holds = in(offset, plan_.memory.variables); break;
        case Base::constant: holds = in(offset, plan_.memory.constants); break;
        case Base::stream: holds = holds && in(index, static_cast<std::int64_t>(plan_.streams.size())); break;
        case Base::remote: holds = in(offset, remote_bytes(plan_, index)); break;
        case Base::position: holds = index == 0 && offset == 0; break;
      }
      if (!holds)
        expect(false, "locations exist", -1, "storage ", s, " is at index ", index, ", offset ", offset, " of memory `",
               name_of(base), "`: ", places_in(base), " expected");
    }
  }
  /// Returns which indices and offsets a storage in some memory can have, for the text of a violation.
  constexpr Text places_in(Base base) const {
    switch (base) {
      case Base::frame:
        return text("index 0 and ", after_ == Pass::place ? std::string_view("an offset of 0 or more") : "offset 0");
      case Base::argument: return text("an index of 0 or more and offset 0");
      case Base::variable: return text("an offset from 0 to ", plan_.memory.variables - 1);
      case Base::constant: return text("an offset from 0 to ", plan_.memory.constants - 1);
      case Base::stream: return text("an index from 0 to ", plan_.streams.size() - 1, " and an offset of 0 or more");
      case Base::remote: return text("an offset in the session's remote memory or in a mapped buffer");
      case Base::position: return text("index 0 and offset 0");
    }
    return {};
  }

  constexpr void check_work() {
    for (int i = 0; i < count(); ++i) {
      const Operation& operation = draft_.operations[i];
      if (operation.is_call()) continue;
      const Work& work = operation.work;
      for (int o = 0; o < (std::min)(operand_count(operation), max_operands); ++o)
        for (int axis = 0; axis < max_rank; ++axis)
          expect(work.follows(o, axis) < work.axes.size(), "work has its axes", i, "has operand ", o, ", whose axis ", axis,
                 " follows axis ", work.follows(o, axis), " of the work: an axis from 0 to ", work.axes.size() - 1, " expected");
      for (int axis = 0; axis < work.axes.size(); ++axis)
        expect(operation.partial || !gives_partials(work.axes[axis].kind), "sums that are cut give partials", i,
               "sums over axis ", axis,
               ", which can be cut, into a whole result: partials, or an axis that cannot be cut, expected");
    }
  }
};

}  // namespace tilewright::internal::detail
