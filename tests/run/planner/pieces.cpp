// labels: none
// Pieces of slices that tiles exchange: the planner and the proof of plans count those that a loop over all elements finds.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <tilewright/lower/ipu/fragments.hpp>
#include <tilewright/verified/pieces.hpp>
#include <vector>

#include "../../catch.hpp"

namespace {

namespace internal = tilewright::internal;
using internal::LayoutAxis, internal::OperandCut, internal::SliceOrder, internal::TileLayout;
using internal::proof::detail::PieceCount, internal::proof::detail::PieceRange, internal::proof::detail::TileSlices;

struct Case {
  TileLayout layout{};
  OperandCut cut{};
  TileSlices slices{};
};

/// A layout, and slices of a part of the tensor. Both divide its elements along axes of their own, or the same ones.
Case make_case(std::mt19937& dice) {
  const auto roll = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(dice); };
  Case result;
  std::vector<std::int64_t> extents;
  std::int64_t elements = 1;
  for (std::int64_t i = roll(4); i > 0; --i) extents.push_back(roll(6)), elements *= extents.back();
  const bool is_joined = roll(3) == 1;  // some neighbours are one axis of the layout
  std::int64_t stride = elements;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    std::int64_t extent = extents[i];
    while (is_joined && i + 1 < extents.size() && roll(2) == 1) extent *= extents[++i];
    stride /= extent;
    const std::int64_t block = roll(4) == 1 ? extent : roll(extent);
    if (extent > 1) result.layout.axes.push_back({stride, extent, block, {}});
  }
  result.layout.places.count = 1;
  stride = elements;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    std::int64_t extent = extents[i];
    while (!is_joined && i + 1 < extents.size() && roll(3) == 1) extent *= extents[++i];
    stride /= extent;
    const std::int64_t taken = roll(2) == 1 ? extent : roll(extent), block = roll(4) == 1 ? taken : roll(taken);
    result.cut.offset += (roll(extent - taken + 1) - 1) * stride;
    if (taken == 1) continue;
    result.cut.axes.push_back({stride, taken, block, {}});
    result.slices.add({stride, taken, block, -1});
  }
  result.slices.offset = result.cut.offset;
  return result;
}

/// Pieces of the slice with most of them, element by element.
std::int64_t pieces_of(const Case& given, SliceOrder order) {
  const auto& axes = given.cut.axes;
  std::vector<std::int64_t> slice(static_cast<std::size_t>(axes.size()), 0);
  std::int64_t most = 0;
  for (;;) {
    std::vector<std::int64_t> elements{given.cut.offset};
    for (int a = 0; a < axes.size(); ++a) {
      std::vector<std::int64_t> longer;
      const std::int64_t begin = slice[static_cast<std::size_t>(a)] * axes[a].block;
      for (const std::int64_t element : elements)
        for (std::int64_t i = begin; i < std::min(begin + axes[a].block, axes[a].extent); ++i)
          longer.push_back(element + i * axes[a].stride);
      elements = longer;
    }
    std::map<std::vector<std::int64_t>, std::int64_t> ends;  // by block
    std::vector<std::int64_t> last;
    std::int64_t pieces = 0;
    for (const std::int64_t element : elements) {
      std::vector<std::int64_t> block;
      std::int64_t address = 0;
      for (const LayoutAxis& axis : given.layout.axes) {
        const std::int64_t number = element / axis.stride % axis.extent;
        block.push_back(number / axis.block);
        address = address * std::min(axis.block, axis.extent - block.back() * axis.block) + number % axis.block;
      }
      if (order == SliceOrder::rows && block != last) ends.clear();
      last = block;
      const auto known = ends.find(block);
      if (known == ends.end() || known->second != address) ++pieces;
      ends[block] = address + 1;
    }
    most = std::max(most, pieces);
    int a = axes.size() - 1;
    for (; a >= 0; --a) {
      auto& at = slice[static_cast<std::size_t>(a)];
      if (++at * axes[a].block < axes[a].extent) break;
      at = 0;
    }
    if (a < 0) return most;
  }
}

TEST_CASE("exchange: the pieces of slices are those that there are") {
  std::mt19937 dice(1);
  int exact = 0, cases = 0;
  for (int i = 0; i < 20000; ++i) {
    const Case given = make_case(dice);
    for (const SliceOrder order : {SliceOrder::rows, SliceOrder::blocks}) {
      const std::int64_t expected = pieces_of(given, order), planned = internal::fragments_of(given.cut, given.layout, order);
      const PieceRange proven = PieceCount(given.slices, given.layout, order == SliceOrder::blocks).run();
      CAPTURE(i, order == SliceOrder::blocks, expected, planned, proven.most, given.cut.offset);
      CHECK(proven.least == expected);
      CHECK(planned >= expected);
      CHECK(planned <= proven.most);
      ++cases, exact += planned == expected;
    }
  }
  INFO(exact << " of " << cases << " exact");
  CHECK(exact * 100 >= cases * 90);
}

/// A layout of 240 elements in blocks of 23, and slices of it.
Case make_slices(std::initializer_list<LayoutAxis> axes) {
  Case result;
  result.layout.axes.push_back({1, 240, 23, {}});
  result.layout.places.count = 11;
  for (const LayoutAxis& axis : axes) {
    result.cut.axes.push_back(axis);
    result.slices.add({axis.stride, axis.extent, axis.block, -1});
    if (axis.stride < 0) result.cut.offset -= axis.stride * (axis.extent - 1);
  }
  result.slices.offset = result.cut.offset;
  return result;
}

TEST_CASE("exchange: a block ends in one row of a slice, or in all rows that overlap there") {
  const Case apart = make_slices({{60, 4, 2, {}}, {10, 6, 6, {}}, {1, 10, 3, {}}});
  const std::int64_t rows = 2 * 6, ends = 5;
  CHECK(internal::fragments_of(apart.cut, apart.layout) == rows + ends);
  CHECK(pieces_of(apart, SliceOrder::rows) <= rows + ends);
  for (const std::int64_t step : {3, 7, 10, 29, -3, -10, -29}) {
    const Case overlapping = make_slices({{step, 7, 7, {}}, {1, 30, 30, {}}});
    CHECK(internal::fragments_of(overlapping.cut, overlapping.layout) >= pieces_of(overlapping, SliceOrder::rows));
  }
}

}  // namespace
