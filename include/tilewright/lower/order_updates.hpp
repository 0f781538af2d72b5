#pragma once
// takes: operations
// gives: their order
// keeps: all else; the order of operations that share memory
#include <algorithm>
#include <cstddef>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/body_draft.hpp"

namespace tilewright::internal {

namespace detail {

/// Finds the operations that only update variables with what calls give, and where they can run first.
class UpdateOrder {
 public:
  constexpr explicit UpdateOrder(BodyDraft& draft)
      : draft_(draft), moves_(draft.operations.size(), false), places_(draft.operations.size()) {}

  constexpr void run() {
    if (!find_updates()) return;
    find_places();
    List<int> order(places_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    // What moves runs after the operation of its place, which does not move: it has the same place, and comes first.
    std::sort(order.data(), order.data() + order.size(), [this](int a, int b) {
      const int first = places_[a], second = places_[b];
      return first != second ? first < second : a < b;
    });
    List<Operation> sorted;
    sorted.reserve(order.size());
    for (const int i : order) sorted.push_back(std::move(draft_.operations[i]));
    draft_.operations = std::move(sorted);
  }

 private:
  constexpr bool is_update(const Operation& operation) const {
    if (operation.is_call() || operation.alone || operation.stream >= 0 || operation.exchange >= 0) return false;
    for (std::size_t o = static_cast<std::size_t>(operation.input_count); o < operation.operands.size(); ++o)
      if (const StorageId s = operation.operands[o].storage;
          draft_.storage(s).location.base != Base::variable && (!draft_.in_frame(s) || escapes_[s]))
        return false;
    return true;
  }
  /// Whether there are updates that follow a call. They move, and so do updates that give them something.
  constexpr bool find_updates() {
    List<bool> updates(moves_.size(), false);
    escapes_.assign(draft_.storages.size(), false);
    for (std::size_t i = moves_.size(); i-- > 0;) {
      const Operation& operation = draft_.operations[i];
      updates[i] = is_update(operation);
      for (int o = 0; !updates[i] && o < operation.input_count; ++o) escapes_[operation.operands[o].storage] = true;
    }
    PerStorage<bool> follows(draft_.storages.size(), false), feeds(follows);
    bool any = false;
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      if (!updates[i]) continue;
      const Operation& operation = draft_.operations[i];
      for (int o = 0; o < operation.input_count; ++o) {
        const StorageId s = operation.operands[o].storage;
        moves_[i] = moves_[i] || follows[s] || draft_.storage(s).is_call_result;
      }
      any = any || moves_[i];
      for (std::size_t o = static_cast<std::size_t>(operation.input_count); moves_[i] && o < operation.operands.size(); ++o)
        follows[operation.operands[o].storage] = true;
    }
    for (std::size_t i = moves_.size(); any && i-- > 0;) {
      if (!updates[i]) continue;
      const Operation& operation = draft_.operations[i];
      for (std::size_t o = static_cast<std::size_t>(operation.input_count); !moves_[i] && o < operation.operands.size(); ++o)
        moves_[i] = feeds[operation.operands[o].storage];
      for (int o = 0; moves_[i] && o < operation.input_count; ++o) feeds[operation.operands[o].storage] = true;
    }
    return any;
  }
  /// What does not move has its own number as place. What moves has the number of the last operation before it that writes what
  /// it reads, or uses what it writes, or the place of that one.
  constexpr void find_places() {
    PerStorage<int> written(draft_.storages.size(), -1), used(written);  // the place of the last operation that does
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Operation& operation = draft_.operations[i];
      places_[i] = moves_[i] ? -1 : static_cast<int>(i);
      for (std::size_t o = 0; moves_[i] && o < operation.operands.size(); ++o) {
        const StorageId s = operation.operands[o].storage;
        places_[i] = std::max(places_[i], operation.is_output(static_cast<int>(o)) ? used[s] : written[s]);
      }
      for (std::size_t o = 0; o < operation.operands.size(); ++o) {
        const StorageId s = operation.operands[o].storage;
        used[s] = std::max(used[s], places_[i]);
        if (operation.is_output(static_cast<int>(o))) written[s] = std::max(written[s], places_[i]);
      }
    }
  }

  BodyDraft& draft_;
  PerStorage<bool> escapes_{};  // whether an operation that is no update reads it
  List<bool> moves_;
  List<int> places_;
};

}  // namespace detail

/// Moves the updates of variables by results of calls to the first place where they can run: the gradients of a graph that is
/// called for each layer then live until the layer's update, not until the last call. Ops that only updates read move along.
constexpr void order_updates(BodyDraft& draft) {
  const auto is_plain_call = [](const Storage& storage) { return storage.is_call_result; };
  if (std::any_of(draft.storages.begin(), draft.storages.end(), is_plain_call)) detail::UpdateOrder(draft).run();
}

}  // namespace tilewright::internal
