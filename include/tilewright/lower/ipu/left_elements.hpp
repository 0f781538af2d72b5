#pragma once
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/lower/ipu/operand_cut.hpp"

namespace tilewright::internal {

/// Elements that operations of a group have left on tiles for later ones. A vertex reads what it has written where it left it: in
/// its tile's part of the storage, or in the room from which an exchange takes the operand to other tiles.
class LeftElements {
 public:
  constexpr bool is_empty() const { return left_.empty(); }
  /// Records that an operation writes an operand. `is_local`: in the tile's part of the storage.
  constexpr void add(StorageId storage, const OperandCut& cut, bool is_local) { left_.push_back({storage, cut, is_local}); }
  /// Returns whether an operand may have elements that earlier operations have left.
  constexpr bool has_part(StorageId storage, const OperandCut& cut) const {
    const auto [first, last] = range_of(cut);
    for (const Left& each : left_) {
      const auto [begin, end] = range_of(each.cut);
      if (each.storage == storage && begin <= last && first <= end) return true;
    }
    return false;
  }
  /// Returns whether an operand needs no memory of its own on tiles, because earlier operations have left all its elements: one
  /// of them, or several in the tile's part of the storage. If all are there, that is the operand's memory.
  constexpr bool has(StorageId storage, const OperandCut& cut, bool is_local) const {
    for (const Left& each : left_)
      if (each.storage == storage && !(each.is_local && is_local) && contains(each.cut, cut)) return true;
    if (is_local) return false;
    auto [next, last] = range_of(cut);
    for (bool grows = true; grows && next <= last;) {
      grows = false;
      for (const Left& each : left_) {
        if (each.storage != storage || !each.is_local || !is_dense(each.cut)) continue;
        const auto [first, end] = range_of(each.cut);
        if (first <= next && next <= end) next = end + 1, grows = true;
      }
    }
    return next > last;
  }

 private:
  struct Left {
    StorageId storage = StorageId::none;
    OperandCut cut{};
    bool is_local = false;
  };
  /// Numbers of the first and the last element of the storage that an operand has.
  static constexpr Pair<std::int64_t, std::int64_t> range_of(const OperandCut& cut) {
    Pair<std::int64_t, std::int64_t> range{cut.offset, cut.offset};
    for (const LayoutAxis& axis : cut.axes) (axis.stride < 0 ? range.first : range.second) += axis.stride * (axis.extent - 1);
    return range;
  }
  /// Returns whether an operand has all elements between its first one and its last one.
  static constexpr bool is_dense(const OperandCut& cut) {
    const auto [first, last] = range_of(cut);
    std::int64_t elements = 1;
    for (const LayoutAxis& axis : cut.axes) elements *= axis.extent;
    return last - first + 1 == elements;  // no element is there twice
  }
  /// Returns whether an operand certainly has all elements of another one.
  static constexpr bool contains(const OperandCut& a, const OperandCut& b) {
    const auto [first, last] = range_of(a);
    const auto [first_of_b, last_of_b] = range_of(b);
    if (is_dense(a) && first <= first_of_b && last_of_b <= last) return true;
    std::int64_t rest = b.offset - a.offset;
    int found = 0;  // axes of b
    for (const LayoutAxis& axis : a.axes) {
      if (axis.stride <= 0 || rest < 0) return false;
      const bool is_found = found < b.axes.size() && b.axes[found].stride == axis.stride;
      if (rest / axis.stride + (is_found ? b.axes[found].extent : 1) > axis.extent) return false;
      rest %= axis.stride;
      found += is_found ? 1 : 0;
    }
    return rest == 0 && found == b.axes.size();
  }

  List<Left> left_{};
};

}  // namespace tilewright::internal
