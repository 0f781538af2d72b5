#pragma once
#include <utility>
#include <vector>

#include "tilewright/lower/split_reductions.hpp"

namespace tilewright {

namespace detail {

/// Whether every axis of the op's only result follows a parallel axis of the work, so that a block of it is complete when
/// its vertex is done.
constexpr bool gives_blocks(const Operation& operation, const Target& target) {
  if (operation.is_call() || operation.stream >= 0 || operation.partial || operation.op->modifies >= 0) return false;
  if (static_cast<int>(operation.operands.size()) != operation.input_count + 1 || !operation.op->work) return false;
  const Work work = work_of(operation);
  for (int axis = 0; axis < operation.operands.back().spec.shape.rank; ++axis) {
    const int followed = work.follows(operation.input_count, axis);
    if (followed < 0 ? operation.operands.back().spec.shape[axis] != 1 : work.axes[followed].kind != WorkAxisKind::parallel)
      return false;
  }
  return partition(work, operation.operands.back().spec.dtype, target).partials == 1;
}

class Fusion {
 public:
  constexpr Fusion(Schedule& schedule, const Target& target)
      : schedule_(schedule), target_(target), lifetimes_(schedule), last_write_(schedule.storages.size(), -1) {}

  constexpr void run() {
    std::vector<char> gone(schedule_.operations.size(), 0);
    for (std::size_t i = 0; i < schedule_.operations.size(); ++i) {
      const int producer = fusable_producer(i);
      if (producer >= 0) {
        fuse(at(producer), i);
        gone[at(producer)] = 1;
      }
      note_writes(i);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < gone.size(); ++i)
      if (gone[i] == 0) {
        if (kept != i) schedule_.operations[kept] = std::move(schedule_.operations[i]);
        ++kept;
      }
    schedule_.operations.resize(kept);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  constexpr Operation& operation(std::size_t i) { return schedule_.operations[i]; }

  constexpr void note_writes(std::size_t i) {
    const Operation& op = operation(i);
    if (op.is_call() || op.fused.empty()) {
      for (std::size_t o = at(op.input_count); o < op.operands.size(); ++o)
        last_write_[at(op.operands[o].storage)] = static_cast<int>(i);
    } else {
      last_write_[at(result_of(op).storage)] = static_cast<int>(i);
    }
  }
  /// An op whose result this elementwise op alone reads, element for element, and which can wait until now; or -1.
  constexpr int fusable_producer(std::size_t consumer) {
    const Operation& op = operation(consumer);
    if (op.is_call() || op.stream >= 0 || !op.op->elementwise || !op.fused.empty()) return -1;
    const Value& result = op.operands.back();
    for (int i = 0; i < op.input_count; ++i) {
      const Value& input = op.operands[at(i)];
      const int producer = lifetimes_.first[at(input.storage)];
      if (!schedule_.in_frame(input.storage) || producer < 0 || input.spec.shape != result.spec.shape ||
          input.spec.dtype != result.spec.dtype || lifetimes_.last[at(input.storage)] != static_cast<int>(consumer) ||
          lifetimes_.users[at(input.storage)] != 2 || !is_whole_and_dense(input, schedule_.storage(input.storage)) ||
          occurrences(op, input.storage) != 1)
        continue;
      if (can_wait(at(producer), consumer, input.storage)) return producer;
    }
    return -1;
  }
  static constexpr int occurrences(const Operation& op, int storage) {
    int count = 0;
    for (const Value& value : op.operands) count += value.storage == storage;
    return count;
  }
  /// Whether the producer's result is this storage, and what it reads stays as it is up to the consumer and is not what the
  /// consumer writes.
  constexpr bool can_wait(std::size_t producer, std::size_t consumer, int storage) {
    const Operation& op = operation(producer);
    if (op.is_call() || op.op->elementwise || op.fused.size() >= ComputeSet::max_fused || !gives_blocks(op, target_))
      return false;
    if (result_of(op).storage != storage || result_of(op).spec != operation(consumer).operands.back().spec) return false;
    bool unchanged = true;
    const int written = operation(consumer).operands.back().storage;
    for_each_storage(op, [&](int read) {
      if (read != storage) unchanged = unchanged && read != written && last_write_[at(read)] <= static_cast<int>(producer);
    });
    return unchanged;
  }
  /// Puts the producer in the consumer's place, with the consumer's op after its own.
  constexpr void fuse(std::size_t producer, std::size_t consumer) {
    Operation merged = operation(producer);
    const Operation& last = operation(consumer);
    const int intermediate = result_of(merged).storage;
    if (!merged.fused.empty()) merged.fused.back().operands.back().storage = -1;
    FusedOp fused{last.op, last.attributes};
    for (std::size_t i = 0; i < last.operands.size(); ++i) {
      if (last.operands[i].storage == intermediate) fused.intermediate = static_cast<int>(i);
      else fused.operands.push_back(last.operands[i]);
    }
    merged.fused.push_back(std::move(fused));
    operation(consumer) = std::move(merged);
  }

  Schedule& schedule_;
  const Target& target_;
  Lifetimes lifetimes_;
  std::vector<int> last_write_;
};

}  // namespace detail

/// Joins an op (a matrix product, a reduction) and the elementwise op that alone reads its result, such as a bias or the
/// update of a weight: each vertex makes a block of the result and goes on with it, so that the result is never stored.
constexpr void fuse(Schedule& schedule, const Target& target) { detail::Fusion(schedule, target).run(); }

}  // namespace tilewright
