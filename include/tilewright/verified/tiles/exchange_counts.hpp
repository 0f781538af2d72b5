#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tilewright/verified/pieces.hpp"

namespace tilewright::internal::proof::detail {

/// Numbers that the exchange before a step, or the one after it, has to count. Bytes and pieces are those of the tile with most
/// of each.
struct Moved {
  std::int64_t least = 0, most = 0;  ///< bytes of all tiles together
  std::int64_t parts = 0;  ///< bytes that a tile has of the exchanged tensors
  std::int64_t alike = 0;  ///< bytes of slices of a tile that both tiles of each pair have
  PieceRange pieces{};  ///< of the slices of a tile
  std::int64_t sends = 0;  ///< blocks of a tile

  /// Adds an operand of which a tile has some slices and blocks.
  constexpr void add(const PieceRange& of_slice, std::int64_t slices, std::int64_t blocks) {
    pieces.add(of_slice, slices);
    sends += blocks;
  }
};

/// Returns whether both tiles of each pair, of which the first has an even number, use equal slices. `tiles`: of the set.
constexpr bool are_alike_in_pairs(const TileSlices& slices, const GridPlaces& grid, const Division& division,
                                  std::int64_t tiles) {
  unsigned followed = 0;
  for (const SliceAxis& axis : slices.axes)
    if (axis.grid_axis >= 0) followed |= 1u << axis.grid_axis;
  List<std::int64_t> slice_at(static_cast<std::size_t>(grid.places.count), -1);  // by place: the number of the slice
  for (std::int64_t vertex = 0; vertex < division.vertices(); ++vertex) {
    std::int64_t rest = vertex, place = 0, slice = 0;
    for (int g = grid.axes.size(); g-- > 0;) {
      const std::int64_t count = division.count(g), at = rest % count;
      rest /= count;
      place += grid.axes[g].place(at);
      if ((followed >> g & 1) != 0) slice = slice * count + at;
    }
    if (place < 0 || place >= grid.places.count) return false;
    slice_at[static_cast<std::size_t>(place)] = slice;
  }
  const auto count = static_cast<std::int64_t>(slice_at.size());
  for (std::int64_t place = 0; place < count; ++place) {
    if (slice_at[static_cast<std::size_t>(place)] < 0) continue;
    const bool is_first = (grid.places.first_tile + place) % tiles % 2 == 0;
    const std::int64_t other = is_first ? place + 1 : place - 1;
    if (other < 0 || other >= count || (is_first && (grid.places.first_tile + other) % tiles == 0) ||
        slice_at[static_cast<std::size_t>(other)] != slice_at[static_cast<std::size_t>(place)])
      return false;
  }
  return true;
}

/// Returns whether a plan counts as many pieces as an exchange has.
constexpr bool has_pieces(const TileExchange& counted, const PieceRange& pieces) {
  return counted.fragments >= pieces.least && counted.fragments <= pieces.most;
}

/// Checks what a plan counts of an exchange before or after a step. `vertices`: of the step, `of_tile`: of the tile with most of
/// them. `expect(condition, what...)` records a fault.
constexpr void check_counts(const TileExchange& counted, const Moved& moved, bool is_before, std::int64_t vertices,
                            std::int64_t of_tile, const auto& expect) {
  const std::string_view when = is_before ? "before" : "after";
  expect(counted.total_bytes >= moved.least && counted.total_bytes <= moved.most, "counts ", counted.total_bytes,
         " bytes that are exchanged ", when, " it: ", moved.least, " expected");
  const std::int64_t slices = is_before ? counted.bytes_in : counted.bytes_out,
                     parts = is_before ? counted.bytes_out : counted.bytes_in;
  expect(slices * vertices == counted.total_bytes * of_tile && parts == moved.parts, "counts ", counted.bytes_in,
         " bytes in and ", counted.bytes_out, " out of one tile ", when, " it: those of the exchange expected");
  expect(counted.pair_bytes_in >= 0 && counted.pair_bytes_in <= (std::min)(slices, moved.alike), "counts ", counted.pair_bytes_in,
         " bytes that pairs of tiles get alike ", when, " it: at most ", moved.alike, " expected");
  expect(has_pieces(counted, moved.pieces) && counted.sends == moved.sends, "counts ", counted.fragments, " fragments of ",
         counted.sends, " blocks ", when, " it: ", moved.pieces.least, " to ", moved.pieces.most, " of ", moved.sends,
         " expected");
}

}  // namespace tilewright::internal::proof::detail
