#pragma once
#include <cstdint>
#include <optional>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/layout.hpp"
#include "tilewright/graph/repeat.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// Memory that tensors share as views of it.
struct Storage {
  TensorSpec whole{};
  Location location{};    ///< in the frame, until it is placed, without an offset
  int reuses = -1;        ///< the storage whose memory it takes over
  bool internal = false;  ///< only one group's vertices use it, each its own block: it is never in the frame
};

/// A tensor as an operand: a view of a storage.
struct Value {
  int storage = -1;
  Layout layout{};
  TensorSpec spec{};
};

constexpr bool is_whole_and_dense(const Value& value, const Storage& storage) {
  return value.layout.offset == 0 && value.spec.bytes() == storage.whole.bytes() && is_dense(value.spec.shape, value.layout);
}

/// What an operation that calls other bodies does.
struct Calling {
  int body = -1;       ///< that is called; -1: none, the operation is an op
  int else_body = -1;  ///< of a conditional
  int inputs = 0, outputs = 0;  ///< of the body's graph
  int else_inputs = 0, else_outputs = 0;
  std::optional<LoopAttributes> loop{};
};

/// One op or call of a body.
struct Operation {
  const OpInfo* op = nullptr;
  PackedAttributes attributes{};
  int input_count = 0;
  /// Inputs, then outputs. Of a call: the condition if it has one; the inputs of each body; the outputs of each body; the second
  /// places of what a loop carries; inputs again that are changed; last the body's frame.
  List<Value> operands{};
  Work work{};  ///< reduction axes that are not cut are whole
  bool partial = false;  ///< outputs that do not follow a cut reduction have room for every part
  Calling calling{};
  int graph = -1;  ///< in which the op was traced; -1: the planner made it
  int scope = -1;  ///< of Ir::name_scopes: where it was traced; -1: in none
  bool loads_code = false;  ///< of the called body, which does not run
  int stream = -1;  ///< the stream that moves on afterwards
  /// Not 0: its group has no other operations. Transfers that have the same number above 1 are one exchange.
  int alone = 0;

  constexpr bool is_call() const { return calling.body >= 0; }
  constexpr bool is_output(int operand) const { return operand >= input_count; }
  constexpr bool writes(int storage) const {
    for (std::size_t o = static_cast<std::size_t>(input_count); o < operands.size(); ++o)
      if (operands[o].storage == storage) return true;
    return false;
  }
};

/// The values that the operation's kernel reports as faults.
constexpr FaultText fault_of(const Operation& operation) {
  if (operation.is_call() || !operation.op->fault) return {};
  List<TensorSpec> specs;
  for (const Value& value : operation.operands) specs.push_back(value.spec);
  return operation.op->fault({specs.data(), specs.size()}, operation.input_count);
}
/// Whether the op is a formula that can be part of a larger expression, or of an epilogue. One that can fault has a kernel.
constexpr bool is_formula(const Operation& operation) {
  return operation.op->has_formula && !(operation.op->fault && fault_of(operation).possible);
}

/// An operation of a group, and which axis of the group's grid each axis of its work is; -1: a vertex takes it whole.
struct Member {
  int operation = 0;
  FixedVector<std::int8_t, max_work_axes> grid_axis{};
};

/// Operations that are cut along the same grid and run one after the other by each vertex; or one call.
struct Group {
  List<Member> members{};
  FixedVector<WorkAxis, max_work_axes> grid{};
  std::int64_t cost = 0;  ///< about the number of its multiply-adds
};

/// What a body does, in order, and the memory it does it in.
struct BodyDraft {
  List<Storage> storages{};
  List<Operation> operations{};
  List<Group> groups{};

  constexpr Storage& storage(int i) { return storages[static_cast<std::size_t>(i)]; }
  constexpr const Storage& storage(int i) const { return storages[static_cast<std::size_t>(i)]; }
  constexpr const Operation& operation(const Member& member) const {
    return operations[static_cast<std::size_t>(member.operation)];
  }
  constexpr bool in_frame(int i) const { return storage(i).location.base == Base::frame; }
  /// The storage whose memory this one has in the end.
  constexpr int owner(int i) const {
    while (storage(i).reuses >= 0) i = storage(i).reuses;
    return i;
  }
  constexpr int add_storage(const TensorSpec& whole, const Location& location = {}) {
    make_room(storages);
    storages.push_back({whole, location});
    return static_cast<int>(storages.size()) - 1;
  }
  /// A dense value with a storage of its own: in the frame, or at the location.
  constexpr Value add_value(const TensorSpec& spec, const Location& location = {}) {
    return {add_storage(spec, location), dense_layout(spec.shape), spec};
  }
};

/// Calls f with every operand of a group: its operation, its number there, and the member.
constexpr void for_each_operand(const BodyDraft& draft, const Group& group, auto f) {
  for (const Member& member : group.members) {
    const Operation& operation = draft.operation(member);
    for (std::size_t i = 0; i < operation.operands.size(); ++i) f(operation, static_cast<int>(i), member);
  }
}

/// For every storage the first and the last group that uses it.
struct Lifetimes {
  List<int> first, last;
  constexpr explicit Lifetimes(const BodyDraft& draft) : first(draft.storages.size(), -1), last(first) {
    for (std::size_t g = 0; g < draft.groups.size(); ++g)
      for_each_operand(draft, draft.groups[g], [&](const Operation& operation, int i, const Member&) {
        const auto s = static_cast<std::size_t>(operation.operands[static_cast<std::size_t>(i)].storage);
        if (first[s] < 0) first[s] = static_cast<int>(g);
        last[s] = static_cast<int>(g);
      });
  }
};

}  // namespace tilewright
