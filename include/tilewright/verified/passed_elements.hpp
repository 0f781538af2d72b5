#pragma once
#include "tilewright/verified/memory/written_bytes.hpp"

namespace tilewright::internal::proof::detail {

/// Follows in which memory of a tile the ops of a step leave elements for later ops of the step. An operand that is exchanged has
/// a room of its own; operands of one storage that are not exchanged are all in the tile's part of the storage. Bytes count from
/// the start of the storage.
class PassedElements {
 public:
  /// Where an op has an operand: in the operand's own memory, where an earlier op left all of it, or partly in both.
  enum class Place { own, left, apart };

  /// Returns where an op reads or writes an operand, and records what it writes. `operand`: of the step on tiles; -1: it has no
  /// memory of its own.
  constexpr Place use(int storage, int operand, bool is_local, const Access& bytes, bool writes) {
    bool is_passed = false, is_in_one = false, are_local = true;
    WrittenBytes all;
    for (const Left& each : left_) {
      if (each.storage != storage || !overlap(each.bytes, bytes)) continue;
      is_passed = is_passed || !writes || each.operand != operand;
      are_local = are_local && each.is_local;
      const WrittenBytes one = WrittenBytes::of(each.bytes);
      is_in_one = is_in_one || one.has(bytes);
      all.add(one);
    }
    if (!is_passed || (operand >= 0 && is_local && are_local)) {
      if (writes) left_.push_back({storage, operand, is_local, bytes});
      return Place::own;
    }
    return is_in_one || (are_local && all.has(bytes)) ? Place::left : Place::apart;
  }

 private:
  struct Left {
    int storage = 0, operand = 0;
    bool is_local = false;
    Access bytes{};
  };
  List<Left> left_{};
};

}  // namespace tilewright::internal::proof::detail
