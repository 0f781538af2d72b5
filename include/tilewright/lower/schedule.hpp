#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/graph/layout.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// Memory that tensors share as views of it.
struct Storage {
  TensorSpec whole{};
  Location location{};  ///< in the frame, until it is placed, without an offset
  int reuses = -1;      ///< the storage whose memory it takes over
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

/// An elementwise op that is applied to the result of another, block by block.
struct FusedOp {
  const OpInfo* op = nullptr;
  PackedAttributes attributes{};
  int intermediate = 0;          ///< which of its inputs the other op's result is
  std::vector<Value> operands{};  ///< its other inputs, then its result
};

/// One op or call of a body, before it is cut into vertices and placed.
struct Operation {
  const OpInfo* op = nullptr;
  PackedAttributes attributes{};
  int input_count = 0;
  std::vector<Value> operands{};  ///< inputs, then outputs; of a call: inputs, outputs, the body's frame
  std::vector<FusedOp> fused{};   ///< if there are any, the op's own output is never stored
  bool partial = false;           ///< cut along its reduction axes: the output's storage has room for every part
  bool whole_reduction = false;   ///< not to be cut so
  int body = -1;                  ///< of a call
  int stream = -1;                ///< the stream that moves on afterwards

  constexpr bool is_call() const { return body >= 0; }
};

/// What a body does, in order, and the memory it does it in.
struct Schedule {
  std::vector<Storage> storages{};
  std::vector<Operation> operations{};

  constexpr Storage& storage(int i) { return storages[static_cast<std::size_t>(i)]; }
  constexpr const Storage& storage(int i) const { return storages[static_cast<std::size_t>(i)]; }
  constexpr bool in_frame(int i) const { return storage(i).location.base == Base::frame; }
  /// The storage whose memory this one has in the end.
  constexpr int owner(int i) const {
    while (storage(i).reuses >= 0) i = storage(i).reuses;
    return i;
  }
  constexpr int add_storage(const TensorSpec& whole, const Location& location = {}) {
    storages.push_back({whole, location});
    return static_cast<int>(storages.size()) - 1;
  }
  /// A dense value with a storage of its own: in the frame, or at the location.
  constexpr Value add_value(const TensorSpec& spec, const Location& location = {}) {
    return {add_storage(spec, location), dense_layout(spec.shape), spec};
  }
};

/// Calls f with every storage that an operation uses.
constexpr void for_each_storage(const Operation& operation, auto f) {
  const std::size_t stored = operation.operands.size() - (operation.fused.empty() ? 0 : 1);
  for (std::size_t i = 0; i < stored; ++i) f(operation.operands[i].storage);
  for (const FusedOp& fused : operation.fused)
    for (const Value& value : fused.operands)
      if (value.storage >= 0) f(value.storage);
}
/// The result that is stored.
constexpr const Value& result_of(const Operation& operation) {
  return operation.fused.empty() ? operation.operands.back() : operation.fused.back().operands.back();
}

/// For every storage the first and the last operation that uses it, and how many do.
struct Lifetimes {
  std::vector<int> first, last, users;
  constexpr explicit Lifetimes(const Schedule& schedule)
      : first(schedule.storages.size(), -1), last(first), users(schedule.storages.size(), 0) {
    for (std::size_t i = 0; i < schedule.operations.size(); ++i)
      for_each_storage(schedule.operations[i], [&](int storage) {
        const auto s = static_cast<std::size_t>(storage);
        if (first[s] < 0) first[s] = static_cast<int>(i);
        if (last[s] != static_cast<int>(i)) ++users[s];
        last[s] = static_cast<int>(i);
      });
  }
};

}  // namespace tilewright
