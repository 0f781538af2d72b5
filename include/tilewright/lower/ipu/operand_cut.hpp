#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/lower/ipu/tile_layout.hpp"
#include "tilewright/rules/ipu/rules_of_ops.hpp"

namespace tilewright::internal {

/// How a group divides an operand: by axis of the view its stride, extent and block, and how the grid numbers its blocks.
struct OperandCut {
  LayoutAxes axes{};  ///< by stride, the largest first; none of extent 1
  std::int64_t offset = 0;  ///< of the view, in elements of the storage
  unsigned followed = 0;  ///< bits for the axes of the grid that an axis follows
  bool repeats = false;  ///< whether several positions of the view are one element
  constexpr std::int64_t slice_elements() const {
    std::int64_t elements = 1;
    for (const LayoutAxis& axis : axes) elements *= axis.block;
    return elements;
  }
};

/// Returns how a grid divides a value. `grid_axes`: for each axis of the value, the axis of the grid that it follows, or -1 for
/// none. `pairs`: the first of the axes that come in pairs, blocks and their extent: each pair is one axis.
constexpr OperandCut cut_operand(const Value& value, const GridAxes& grid_axes,
                                 const FixedVector<std::int64_t, max_work_axes>& blocks, const GridPlaces& grid,
                                 int pairs = max_rank) {
  OperandCut result;
  result.offset = value.layout.offset;
  for (int axis = 0; axis < value.spec.shape.rank; ++axis) {
    const std::int64_t extent = value.spec.shape[axis], stride = value.layout.strides[static_cast<std::size_t>(axis)];
    if (extent == 1) continue;
    if (stride == 0) {
      result.repeats = true;
      continue;
    }
    LayoutAxis cut{stride, extent, extent, {}};
    if (const int g = grid_axes[axis]; g >= 0) {
      result.followed |= 1u << g;
      cut.block = (std::min)(blocks[g], extent);
      cut.numbering = grid.axes[g];
      cut.grid_axis = g;
    }
    if (axis >= pairs && (axis - pairs) % 2 == 0 && value.spec.shape[axis + 1] > 1) {
      const std::int64_t of_block = value.spec.shape[++axis];
      cut.stride = value.layout.strides[static_cast<std::size_t>(axis)];
      cut.extent *= of_block, cut.block *= of_block;
    }
    insert_by_stride(result.axes, cut);
  }
  return result;
}
/// Returns how a grid divides operand number `o` of an operation of a group. Partials have one more axis for each axis of the
/// grid whose blocks produce parts.
constexpr OperandCut cut_operand(const Operation& operation, const Member& member, int o,
                                 const FixedVector<std::int64_t, max_work_axes>& blocks, const GridPlaces& grid) {
  const Value& value = operation.operands[o];
  const bool in_pairs = operation.is_output(o) && ipu_rules_of(*operation.op).result_in_blocks;
  OperandCut result = cut_operand(value, grid_axes_of(operation, member, o), blocks, grid, in_pairs ? 2 : max_rank);
  if (!operation.partial || !operation.is_output(o)) return result;
  std::int64_t stride = value.spec.shape.nelms();
  for (int axis = operation.work.axes.size(); axis-- > 0;) {
    const int g = member.grid_axis[axis];
    if (g < 0 || !gives_partials(operation.work.axes[axis].kind) || operation.work.has_follower(o, axis)) continue;
    const std::int64_t parts = grid.axes[g].blocks;
    result.followed |= 1u << g;
    if (parts > 1) insert_by_stride(result.axes, {stride, parts, 1, grid.axes[g], g});
    stride *= parts;
  }
  return result;
}

/// Returns whether the view has each of `elements` elements of a storage once.
constexpr bool covers(const OperandCut& cut, std::int64_t elements) {
  std::int64_t covered = 1;
  for (int axis = cut.axes.size(); axis-- > 0; covered *= cut.axes[axis].extent)
    if (cut.axes[axis].stride != covered) return false;
  return cut.offset == 0 && !cut.repeats && covered == elements;
}

/// The part of a layout that a view of whole blocks has.
struct LayoutPart {
  bool is_in_blocks = false;  ///< whether each block of the view is in a block of the layout; otherwise all else is unset
  bool is_smaller = false;  ///< than the layout
  std::int64_t shift = 0;  ///< places from the layout's first block to the view's
  LayoutAxes axes{};  ///< the layout's, with the extents and the numbers of blocks that the view has
  constexpr std::int64_t blocks() const {
    std::int64_t count = 1;
    for (const LayoutAxis& axis : axes) count *= axis.numbering.blocks;
    return count;
  }
};
/// Finds the part of a layout on a number of tiles that an operand is. It begins at the first element of a block along each axis
/// of which it has several blocks, and its axes are axes of the layout, or elements of them at equal steps. A layout with strips
/// has no parts but itself. One with several blocks on a tile has only those that begin at its first block, as the numbers of
/// blocks on their tiles would differ.
constexpr LayoutPart find_part(const OperandCut& cut, const TileLayout& layout, std::int64_t tiles) {
  LayoutPart part;
  std::int64_t rest = cut.offset;
  int found = 0;  // axes of the cut
  for (const LayoutAxis& home : layout.axes) {
    if (home.extent == 0) return {};
    const std::int64_t first = rest / home.stride;
    rest %= home.stride;
    const std::int64_t stride = found < cut.axes.size() ? cut.axes[found].stride : 0;
    if (stride > home.stride && stride % home.stride == 0 && stride < home.stride * home.extent) {  // each second element, say
      const LayoutAxis& used = cut.axes[found];
      const std::int64_t step = stride / home.stride, block = home.block == home.extent ? used.extent : home.block / step;
      const bool has_blocks = home.block == home.extent ||
                              (home.block % step == 0 && first < step &&
                               block_count(used.extent, block) == home.numbering.blocks && home.numbering.inner == 1);
      if (!has_blocks || first + (used.extent - 1) * step >= home.extent) return {};
      part.is_smaller = true;
      part.axes.push_back({stride, used.extent, block, home.numbering});
      ++found;
      continue;
    }
    const bool is_found = stride == home.stride;
    LayoutAxis axis = home;
    axis.extent = is_found ? cut.axes[found].extent : 1;
    const bool is_all = axis.extent == home.extent;
    const std::int64_t in_block = first % home.block;
    if (first + axis.extent > home.extent || (!is_all && home.numbering.inner != 1)) return {};
    if (in_block != 0 && in_block + axis.extent > home.block) return {};
    part.is_smaller = part.is_smaller || !is_all;
    part.shift += first / home.block * home.numbering.outer_step;
    if (!is_found) continue;
    ++found;
    axis.block = (std::min)(home.block, axis.extent);
    if (!is_all) axis.numbering.blocks = block_count(axis.extent, axis.block);
    if (!is_all && axis.numbering.blocks == 1) axis.numbering = {};
    part.axes.push_back(axis);
  }
  const bool keeps_numbers = part.shift == 0 || layout.places.count <= tiles;
  part.is_in_blocks = rest == 0 && !cut.repeats && found == cut.axes.size() && keeps_numbers;
  return part;
}

/// Returns whether all vertices of a group have their slices of a part of a storage on their tiles. `tiles`: of the layout's set.
constexpr bool has_part(const OperandCut& cut, const TileLayout& layout, const GridPlaces& grid, std::int64_t tiles) {
  const LayoutPart part = find_part(cut, layout, tiles);
  if (!part.is_in_blocks || grid.places.first_tile != (layout.places.first_tile + part.shift) % tiles) return false;
  for (int axis = 0; axis < cut.axes.size(); ++axis)
    if (cut.axes[axis].block != part.axes[axis].block || cut.axes[axis].numbering != part.axes[axis].numbering) return false;
  for (int g = 0; g < grid.axes.size(); ++g)
    if (grid.axes[g].blocks > 1 && (cut.followed >> g & 1) == 0) return false;
  return true;
}

/// Compares a group's division of an operand with the layout of its storage. Sets `local_elements` to the smallest number of
/// elements of a slice that a vertex has on its tile. `tiles`: of the layout's set.
constexpr TileAccess access_of(const OperandCut& cut, const TileLayout& layout, const GridPlaces& grid, std::int64_t tiles,
                               std::int64_t& local_elements) {
  local_elements = 0;
  if (grid.places.set != layout.places.set) return TileAccess::exchanged;
  const bool is_on_one_tile = layout.places.count == 1 && grid.places.count == 1 &&
                              layout.places.first_tile % tiles == grid.places.first_tile % tiles;
  if (is_on_one_tile || (layout.is_decided() && has_part(cut, layout, grid, tiles))) {
    local_elements = cut.slice_elements();
    return TileAccess::local;
  }
  if (cut.offset != 0 || cut.repeats || cut.axes.size() != layout.axes.size() ||
      grid.places.first_tile != layout.places.first_tile)
    return TileAccess::exchanged;
  unsigned shares = 0;  // grid axes along which the tiles of a slice have strips of it
  std::int64_t local = 1;
  for (int axis = 0; axis < cut.axes.size(); ++axis) {
    const LayoutAxis &use = cut.axes[axis], &home = layout.axes[axis];
    if (use.stride != home.stride || use.extent != home.extent) return TileAccess::exchanged;
    local *= home.block;
    if (use.block == home.block && use.numbering == home.numbering) continue;
    const std::int64_t inner = home.numbering.inner;
    const std::int64_t blocks = block_count(use.extent, use.block);
    if (use.numbering.inner != 1 || inner == 1 ||
        (use.block != home.block * inner && (blocks > 1 || use.block > home.block * inner)) ||
        (blocks > 1 && use.numbering.outer_step != home.numbering.outer_step))
      return TileAccess::exchanged;
    int share = -1;
    for (int g = 0; g < grid.axes.size(); ++g)
      if ((cut.followed >> g & 1) == 0 && (shares >> g & 1) == 0 && grid.axes[g].inner == 1 &&
          grid.axes[g].outer_step == home.numbering.inner_step && grid.axes[g].blocks >= inner)
        share = g;
    if (share < 0) return TileAccess::exchanged;
    shares |= 1u << share;
    if (grid.axes[share].blocks > inner) local = 0;  // the last vertices along the axis have no strip
  }
  for (int g = 0; g < grid.axes.size(); ++g)  // vertices that have the same slice and no strip of it
    if (((cut.followed | shares) >> g & 1) == 0 && grid.axes[g].blocks > 1) local = 0;
  local_elements = (std::min)(local, cut.slice_elements());
  return local == cut.slice_elements() ? TileAccess::local : TileAccess::shared;
}

/// Bytes of a strip beyond which an axis with more strips is looked for: a bank of memory.
inline constexpr std::int64_t large_strip_bytes = 16384;

/// Returns the layout of a storage in which a group's vertices have their slices on their tiles. A slice that several vertices
/// use is divided into strips along its slowest divisible axis, one for each of them. If that gives strips of more than
/// large_strip_bytes, such as whole samples, they are along the axis that gives most strips. Not decided if the operand is not
/// the whole storage.
constexpr TileLayout layout_for(const OperandCut& cut, std::int64_t elements, std::int64_t element_bytes,
                                const GridPlaces& grid) {
  TileLayout result;
  if (!covers(cut, elements)) return result;
  result.axes = cut.axes;
  result.places = grid.places;
  for (int i = 0; i < result.axes.size(); ++i) result.axes[i].grid_axis = -1;
  int share = -1;
  for (int g = 0; g < grid.axes.size(); ++g)
    if ((cut.followed >> g & 1) == 0 && grid.axes[g].inner == 1 && grid.axes[g].blocks > 1 &&
        (share < 0 || grid.axes[g].blocks > grid.axes[share].blocks))
      share = g;
  if (share < 0) return result;
  const std::int64_t slice_bytes = result.block_elements() * element_bytes;
  int cut_axis = -1;
  std::int64_t strips = 1;
  for (int i = 0; i < result.axes.size() && (strips == 1 || slice_bytes / strips > large_strip_bytes); ++i) {
    const LayoutAxis& axis = result.axes[i];
    if (axis.numbering.inner != 1) continue;
    std::int64_t strip = block_count(axis.block, grid.axes[share].blocks);
    while (axis.block % strip != 0) ++strip;
    if (axis.block / strip > strips) strips = axis.block / strip, cut_axis = i;
  }
  if (cut_axis < 0) return result;
  LayoutAxis& axis = result.axes[cut_axis];
  axis.numbering.inner = strips;
  axis.numbering.inner_step = grid.axes[share].outer_step;
  axis.block /= strips;
  axis.numbering.blocks = block_count(axis.extent, axis.block);
  return result;
}

}  // namespace tilewright::internal
