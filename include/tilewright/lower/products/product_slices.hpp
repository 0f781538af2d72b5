#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/products/product_blocks.hpp"

// Slices of a product that run in sequence: parts of its columns, or of the terms of its sums.

namespace tilewright::internal::detail {

/// Returns the longest axis of a kind that is whole in every operand that follows it, or -1 if there is none.
constexpr int sliced_axis(const Operation& product, ProductAxis kind) {
  const Work& work = product.work;
  int longest = -1;
  for (int i = 0; i < work.axes.size(); ++i) {
    bool is_whole = work.axes[i].kind != WorkAxisKind::whole && product_axis(work, i) == kind;
    for (int o = 0; is_whole && o < static_cast<int>(product.operands.size()); ++o)
      for (int axis = 0; axis < product.operands[o].spec.shape.rank; ++axis)
        if (work.follows(o, axis) == i) is_whole = is_whole && product.operands[o].spec.shape[axis] == work.axes[i].extent;
    if (is_whole && (longest < 0 || work.axes[i].extent > work.axes[longest].extent)) longest = i;
  }
  return longest;
}
/// Returns the extent of a slice, in whole grains, of at most `slices` slices.
constexpr std::int64_t slice_extent(const WorkAxis& axis, std::int64_t slices, std::int64_t grain) {
  return block_for(axis, (std::min)((std::max)(grain, axis.grain), axis.extent), slices);
}
/// Returns the product of a part of an axis of its work, `extent` elements from `begin` on.
constexpr Operation slice_of(const Operation& product, int axis, std::int64_t begin, std::int64_t extent) {
  Operation slice = product;
  for (int o = 0; o < static_cast<int>(product.operands.size()); ++o) {
    Value& value = slice.operands[o];
    for (int i = 0; i < value.spec.shape.rank; ++i) {
      if (product.work.follows(o, i) != axis) continue;
      value.layout.offset += begin * value.layout.strides[static_cast<std::size_t>(i)];
      value.spec.shape[i] = extent;
    }
  }
  slice.work = work_of(slice);
  return slice;
}
/// Returns at most `slices` slices of a product along its longest axis with a role.
constexpr List<Operation> slices_of(const Operation& product, ProductAxis kind, std::int64_t slices, std::int64_t grain) {
  List<Operation> result;
  const int axis = slices == 1 ? -1 : sliced_axis(product, kind);
  if (axis < 0) {
    result.push_back(product);
    return result;
  }
  const std::int64_t whole = product.work.axes[axis].extent, extent = slice_extent(product.work.axes[axis], slices, grain);
  result.reserve(static_cast<std::size_t>(block_count(whole, extent)));
  for (std::int64_t begin = 0; begin < whole; begin += extent)
    result.push_back(slice_of(product, axis, begin, (std::min)(extent, whole - begin)));
  return result;
}

}  // namespace tilewright::internal::detail
