#pragma once
// takes: operations
// gives: operations without superfluous copies; results in the storages to which they were copied
// keeps: the order of the operations that stay
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/intrinsics.hpp"
#include "tilewright/lower/host/moved_layout.hpp"
#include "tilewright/rules/host/rules_of_ops.hpp"

namespace tilewright::internal {

namespace detail {

/// Returns whether the axes of a value with strides below `stride` together stay within one run of `stride` elements, and strides
/// above it are multiples of `around`.
constexpr bool is_nested(const Value& value, std::int64_t stride, std::int64_t around) {
  std::int64_t below = value.layout.offset % stride;
  for (int axis = 0; axis < value.spec.shape.rank; ++axis) {
    const std::int64_t other = value.layout.strides[static_cast<std::size_t>(axis)];
    if (other < stride) below += (value.spec.shape[axis] - 1) * other;
    else if (other > stride && other % around != 0) return false;
  }
  return below < stride;
}
/// Returns whether two values in a storage of `size` elements are disjoint parts along one axis.
constexpr bool are_apart(const Value& a, const Value& b, std::int64_t size) {
  if (a.layout.strides != b.layout.strides || a.spec.shape.rank != b.spec.shape.rank) return false;
  for (int axis = 0; axis < a.spec.shape.rank; ++axis) {
    const std::int64_t stride = a.layout.strides[static_cast<std::size_t>(axis)];
    if (stride <= 0 || a.layout.offset % stride != b.layout.offset % stride) continue;
    std::int64_t around = size;  // elements of the next longer axis
    for (int other = 0; other < a.spec.shape.rank; ++other)
      if (a.layout.strides[static_cast<std::size_t>(other)] > stride)
        around = (std::min)(around, a.layout.strides[static_cast<std::size_t>(other)]);
    const auto place = [&](const Value& value) { return value.layout.offset / stride % (around / stride); };
    const std::int64_t end_of_a = place(a) + a.spec.shape[axis], end_of_b = place(b) + b.spec.shape[axis];
    if ((std::max)(end_of_a, end_of_b) * stride > around || (place(a) < end_of_b && place(b) < end_of_a)) continue;
    if (is_nested(a, stride, around) && is_nested(b, stride, around)) return true;
  }
  return false;
}

/// Finds results that are only copied, and writes them directly to the targets of the copies.
class CopyRemover {
 public:
  constexpr explicit CopyRemover(BodyDraft& draft)
      : draft_(draft), count_(static_cast<int>(draft.operations.size())), uses_(draft.storages.size()) {}

  constexpr void run() {
    for (int i = 0; i < count_; ++i)
      for (const Value& operand : operation(i).operands) note_use(operand.storage, i);
    for (int i = 0; i < count_; ++i) {
      if (!may_remove(i)) continue;
      const int end = end_of_parts(i);
      for (int copy = i; copy < end; ++copy) try_remove(copy);
      if (end > i) i = end - 1;
    }
    if (removed_.empty()) return;
    List<Operation> kept;
    kept.reserve(draft_.operations.size() - removed_.size());
    std::size_t next = 0;
    for (int i = 0; i < count_; ++i) {
      if (next < removed_.size() && removed_[next] == i) ++next;
      else kept.push_back(std::move(operation(i)));
    }
    draft_.operations = std::move(kept);
  }

 private:
  struct Uses {
    int first = -1, count = 0;  // the first operation that uses it, and operands that are in it
  };
  constexpr Operation& operation(int i) { return draft_.operations[i]; }
  constexpr bool may_remove(int i) {
    return is_identity(operation(i)) && !operation(i).alone && operation(i).stream < 0 && operation(i).exchange < 0;
  }
  constexpr void note_use(StorageId storage, int i) {
    Uses& uses = uses_[storage];
    if (uses.count++ == 0) uses.first = i;
  }
  /// Finds the copies from copy `begin` on that write parts of a storage in the frame that is unused so far: none of them
  /// accesses memory that another writes. Returns the operation after them; `begin` if there are none.
  constexpr int end_of_parts(int begin) {
    const StorageId storage = operation(begin).operands[1].storage;
    if (!draft_.in_frame(storage) || uses_[storage].first != begin) return begin;
    const std::int64_t size = draft_.storage(storage).whole.nelms();
    int end = begin;
    for (; end < count_ && may_remove(end) && operation(end).operands[1].storage == storage; ++end) {
      if (operation(end).operands[0].storage == storage) return begin;
      for (int before = begin; before < end; ++before)
        if (!are_apart(operation(before).operands[1], operation(end).operands[1], size)) return begin;
    }
    return end;
  }
  constexpr void try_remove(int copy) {
    const Value from = operation(copy).operands[0], to = operation(copy).operands[1];
    const Uses& uses = uses_[from.storage];
    if (!draft_.in_frame(from.storage) || uses.count != 2 || uses.first == copy) return;
    if (draft_.storage(from.storage).placement != draft_.storage(to.storage).placement) return;
    Operation& producer = operation(uses.first);
    if (producer.is_call() || producer.alone || producer.stream >= 0 || producer.op->modifies >= 0) return;
    if (!producer.op->has_formula && !host_rules_of(*producer.op).any_result_layout) return;
    for (int o = producer.input_count; o < static_cast<int>(producer.operands.size()); ++o) {
      Value& result = producer.operands[o];
      if (result.storage != from.storage || result.layout.offset != 0) continue;
      const auto layout = moved_layout(result, from, to.layout);
      if (layout && has_runs(result.spec.shape, *layout)) {
        result.layout = *layout;
        result.storage = to.storage;
        uses_[to.storage].first = uses.first;
        removed_.push_back(copy);
      }
      return;
    }
  }
  BodyDraft& draft_;
  int count_;
  PerStorage<Uses> uses_;
  List<int> removed_{};  // copies, in their order
};

}  // namespace detail

/// Makes results that are only copied go directly to the targets of the copies: into their parts of a concatenation, or with axes
/// in another order.
constexpr void write_through(BodyDraft& draft) {
  for (const Operation& operation : draft.operations)
    if (detail::is_identity(operation)) return detail::CopyRemover(draft).run();
}

}  // namespace tilewright::internal
