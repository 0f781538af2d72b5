#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/graph/op_info/work.hpp"
#include "tilewright/lower/draft/partition.hpp"
#include "tilewright/target/tile_sets.hpp"

namespace tilewright::internal {

/// Contribution of an axis to the number of a place: block c of the axis adds (c / inner) * outer_step + (c % inner) *
/// inner_step.
struct AxisNumbering {
  std::int64_t blocks = 1;
  std::int64_t inner = 1;  ///< blocks that have consecutive inner steps, at least 1
  std::int64_t outer_step = 0;  ///< in places; 0 if there are at most `inner` blocks
  std::int64_t inner_step = 0;  ///< in places; 0 if `inner` is 1

  constexpr std::int64_t place(std::int64_t block) const { return block / inner * outer_step + block % inner * inner_step; }
  /// Returns the largest place that the first `count` blocks would have if the last of them were as many as `inner`.
  constexpr std::int64_t largest_place(std::int64_t count) const {
    return (count - 1) / inner * outer_step + ((std::min)(count, inner) - 1) * inner_step;
  }
  constexpr bool operator==(const AxisNumbering&) const = default;
};

/// Numbering of the blocks of a grid, or of a storage. A place is room for one block, or one vertex, on a tile. In a set of n
/// tiles, place p is on tile (first_tile + p) % n, and has number p / n there.
struct Places {
  std::int64_t count = 0;  ///< largest number of a place plus 1; 0: not decided
  std::int64_t first_tile = 0;  ///< of place 0, in the set
  int set = 0;  ///< in TileSets
  /// Returns the tile of a place, among all tiles of the replica.
  constexpr std::int64_t tile(std::int64_t place, const TileSets& sets) const {
    return sets.first(set) + (first_tile + place) % sets.count(set);
  }
  /// Returns the number of a place on its tile.
  constexpr std::int64_t slot(std::int64_t place, const TileSets& sets) const { return place / sets.count(set); }
  /// Returns the largest number of places on one tile.
  constexpr std::int64_t on_a_tile(const TileSets& sets) const { return (count + sets.count(set) - 1) / sets.count(set); }
  constexpr bool operator==(const Places&) const = default;
};

/// One axis of a storage in its layout on tiles.
struct LayoutAxis {
  std::int64_t stride = 1;  ///< in elements of the storage, from one position of the axis to the next
  std::int64_t extent = 1;
  std::int64_t block = 1;  ///< extent of a block; the last one may be shorter
  AxisNumbering numbering{};
  int grid_axis = -1;  ///< of an operand: the axis of the grid that it follows; -1: none, and in layouts
};

/// Axes of a tensor, and of the sequence of parts in a storage of partial sums.
using LayoutAxes = FixedVector<LayoutAxis, max_work_axes>;
constexpr void insert_by_stride(LayoutAxes& axes, const LayoutAxis& axis) {
  axes.push_back(axis);
  for (int i = axes.size() - 1; i > 0 && axes[i].stride > axes[i - 1].stride; --i) std::swap(axes[i], axes[i - 1]);
}

/// Layout of a storage on tiles. It is divided into blocks along its axes, and each block is at one place of a tile, dense in
/// row-major order of the layout's axes. Every place has room for a full block.
struct TileLayout {
  LayoutAxes axes{};  ///< by stride, the largest first; none of extent 1
  Places places{};
  constexpr bool is_decided() const { return places.count > 0; }
  constexpr std::int64_t block_elements() const {
    std::int64_t elements = 1;
    for (const LayoutAxis& axis : axes) elements *= axis.block;
    return elements;
  }
};

/// A grid on tiles: the place of each vertex.
struct GridPlaces {
  FixedVector<AxisNumbering, max_work_axes> axes{};  ///< by axis of the grid
  Places places{};
};

/// Returns a grid whose vertices have places in their own order, the last axis fastest.
constexpr GridPlaces places_in_order(const FixedVector<WorkAxis, max_work_axes>& grid,
                                     const FixedVector<std::int64_t, max_work_axes>& blocks) {
  GridPlaces result;
  result.axes.count = grid.size();
  std::int64_t step = 1;
  for (int axis = grid.size(); axis-- > 0;) {
    const std::int64_t count = block_count(grid[axis].extent, blocks[axis]);
    result.axes[axis] = {count, 1, count > 1 ? step : 0, 0};
    step *= count;
  }
  result.places.count = step;
  return result;
}

/// Returns a linear layout of elements, with `grain` of them together. It uses all tiles, or fewer if each would otherwise have
/// less than `least` elements.
constexpr TileLayout linear_layout(std::int64_t elements, std::int64_t grain, std::int64_t least, std::int64_t tiles,
                                   std::int64_t first_tile = 0) {
  TileLayout result;
  if (elements == 0) return result;
  const std::int64_t grains = block_count(elements, grain), most = std::max<std::int64_t>(1, grains / block_count(least, grain));
  const std::int64_t block = block_count(grains, (std::min)(most, tiles)) * grain, blocks = block_count(elements, block);
  if (elements > 1) result.axes.push_back({1, elements, (std::min)(block, elements), {blocks, 1, blocks > 1 ? 1 : 0, 0}});
  result.places = {blocks, first_tile};
  return result;
}

/// Where the elements that a vertex uses are.
enum class TileAccess : std::uint8_t {
  local,  ///< all on the vertex's tile
  shared,  ///< a part on the vertex's tile, because the layout was made for this use; the rest comes from others
  exchanged  ///< elsewhere: all of them come from other tiles before the step, or go there after it
};

}  // namespace tilewright::internal
