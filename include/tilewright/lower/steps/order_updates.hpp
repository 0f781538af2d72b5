#pragma once
// takes: operations
// gives: their order
// keeps: all else; the order of operations that share memory
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal {

namespace detail {

/// Finds operations that only update variables with results of calls, and the earliest places where they can run.
class UpdateOrder {
 public:
  constexpr explicit UpdateOrder(BodyDraft& draft) : draft_(draft), count_(static_cast<int>(draft.operations.size())) {}

  constexpr void run() {
    find_updates();
    if (!find_followers()) return;
    find_feeders();
    find_places();
    List<Operation> sorted;
    sorted.reserve(draft_.operations.size());
    const auto take_moved_to = [&](int place) {
      for (int i = first_moved_[place + 1]; i >= 0; i = next_moved_[i]) sorted.push_back(std::move(draft_.operations[i]));
    };
    take_moved_to(-1);
    for (int i = 0; i < count_; ++i) {
      if (kinds_[i] == Kind::moves) continue;
      sorted.push_back(std::move(draft_.operations[i]));
      take_moved_to(i);
    }
    draft_.operations = std::move(sorted);
  }

 private:
  enum class Kind : std::uint8_t { other, update, moves };  // what is neither; an update that stays; one that moves

  constexpr bool is_update(const Operation& operation, const bool* escapes) const {
    if (operation.is_call() || operation.alone || operation.stream >= 0 || operation.exchange >= 0) return false;
    const Value* const operands = operation.operands.data();
    const Storage* const storages = draft_.storages.data();
    for (int o = operation.input_count, end = static_cast<int>(operation.operands.size()); o < end; ++o) {
      const auto s = static_cast<int>(operands[o].storage);
      const Base base = storages[s].location.base;
      if (base != Base::variable && (base != Base::frame || escapes[s])) return false;
    }
    return true;
  }
  /// Finds updates: operations that write variables, or values that only updates read.
  constexpr void find_updates() {
    kinds_.assign(draft_.operations.size(), Kind::other);
    List<bool> escapes(draft_.storages.size(), false);  // by storage: whether an operation that is no update reads it
    for (int i = count_; i-- > 0;) {
      const Operation& operation = draft_.operations[i];
      if (is_update(operation, escapes.data())) {
        kinds_[i] = Kind::update;
        continue;
      }
      const Value* const operands = operation.operands.data();
      for (int o = 0; o < operation.input_count; ++o) escapes[static_cast<int>(operands[o].storage)] = true;
    }
  }
  /// Marks updates that read a result of a call, or a result of a marked update. Returns whether there are any.
  constexpr bool find_followers() {
    List<bool> follows(draft_.storages.size(), false);
    const Storage* const storages = draft_.storages.data();
    bool any = false;
    for (int i = 0; i < count_; ++i) {
      if (kinds_[i] == Kind::other) continue;
      const Operation& operation = draft_.operations[i];
      const Value* const operands = operation.operands.data();
      bool moves = false;
      for (int o = 0; o < operation.input_count && !moves; ++o) {
        const auto s = static_cast<int>(operands[o].storage);
        moves = follows[s] || storages[s].is_call_result;
      }
      if (!moves) continue;
      any = true;
      kinds_[i] = Kind::moves;
      for (int o = operation.input_count, end = static_cast<int>(operation.operands.size()); o < end; ++o)
        follows[static_cast<int>(operands[o].storage)] = true;
    }
    return any;
  }
  /// Marks updates whose results the marked ones read.
  constexpr void find_feeders() {
    List<bool> feeds(draft_.storages.size(), false);
    for (int i = count_; i-- > 0;) {
      if (kinds_[i] == Kind::other) continue;
      const Operation& operation = draft_.operations[i];
      const Value* const operands = operation.operands.data();
      for (int o = operation.input_count, end = static_cast<int>(operation.operands.size()); o < end; ++o)
        if (feeds[static_cast<int>(operands[o].storage)]) kinds_[i] = Kind::moves;
      for (int o = 0; kinds_[i] == Kind::moves && o < operation.input_count; ++o)
        feeds[static_cast<int>(operands[o].storage)] = true;
    }
  }
  /// Finds the places of moved operations: after the last remaining operation on which they depend, directly or through others.
  /// An operation depends on an earlier one that writes its operands, or uses its results.
  constexpr void find_places() {
    List<int> written(draft_.storages.size(), -1), used(written);  // by storage: the place of the last operation that does
    List<int> last(draft_.operations.size() + 1, -1);  // by place + 1: the last operation that moves there
    first_moved_ = last;
    next_moved_ = last;
    for (int i = 0; i < count_; ++i) {
      const Operation& operation = draft_.operations[i];
      const Value* const operands = operation.operands.data();
      const int end = static_cast<int>(operation.operands.size());
      int place = i;
      if (kinds_[i] == Kind::moves) {
        place = -1;
        for (int o = 0; o < end; ++o)
          place = (std::max)(place, (o < operation.input_count ? written : used)[static_cast<int>(operands[o].storage)]);
        int& before = last[place + 1];
        (before < 0 ? first_moved_[place + 1] : next_moved_[before]) = i;
        before = i;
      }
      for (int o = 0; o < end; ++o) {
        const auto s = static_cast<int>(operands[o].storage);
        used[s] = (std::max)(used[s], place);
        if (o >= operation.input_count) written[s] = (std::max)(written[s], place);
      }
    }
  }

  BodyDraft& draft_;
  int count_;
  List<Kind> kinds_{};  // by operation
  List<int> first_moved_{}, next_moved_{};  // by place + 1, the first that moves there; by operation, the next one; -1: none
};

}  // namespace detail

/// Moves the updates of variables by results of calls to the first place where they can run. So the gradients of a graph that
/// is called for each layer live until the layer's update, not until the last call. Ops that only updates read move too.
constexpr void order_updates(BodyDraft& draft) {
  const auto is_plain_call = [](const Storage& storage) { return storage.is_call_result; };
  if (std::any_of(draft.storages.begin(), draft.storages.end(), is_plain_call)) detail::UpdateOrder(draft).run();
}

}  // namespace tilewright::internal
