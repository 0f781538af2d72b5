#pragma once
#include <cstdint>

#include "tilewright/target/ipu_cycles.hpp"

// Cycles on one tile of ops whose places are known in a run only, after popops' estimates (poplibs sdk-release-3.4). w is the
// number of workers.

namespace tilewright {

/// Returns the cycles of `slices` slices, read from a table or written to it: 25 + w (39 + slices (24 + 2 e / v)), with e =
/// ceil(elements of a slice / w) and v the elements of a vector. Published.
constexpr std::int64_t dynamic_slice_cycles(const IpuModel& model, DType dtype, std::int64_t slices,
                                            std::int64_t slice_elements) {
  const std::int64_t vectors = ceil_divide(ceil_divide(slice_elements, model.workers), model.vector_width(dtype));
  return 25 + model.workers * (39 + slices * (24 + 2 * vectors));
}

/// Returns the cycles of reading rows of a table: w (30 + hits (19 + 2 ceil(row / 2)) + misses x 8), and 20 log2(rows) for each
/// search if indices are sorted. hits: indices of rows on the tile, misses: others; `row_elements`: the tile's part of a row.
/// Published.
constexpr std::int64_t gather_cycles(const IpuModel& model, std::int64_t hits, std::int64_t misses, std::int64_t row_elements,
                                     std::int64_t sorted_indices = 0) {
  std::int64_t search = 0;
  for (std::int64_t n = 1; n < sorted_indices; n *= 2) search += 20;
  return model.workers * (30 + hits * (19 + 2 * ceil_divide(row_elements, 2)) + misses * 8 + search);
}

/// Returns the cycles of adding scaled rows to those of a table: w (37 + hits (13 + 3 (row / atom - 1)) + misses x 5), where an
/// atom is the 4 bytes that are stored together; 38 and 11 for elements of 4 bytes. Smaller elements that share an atom take 20
/// more each. Rows of 8 bytes, and of 16 in elements of 4 bytes, have loops of their own. Published; the atom is assumed.
constexpr std::int64_t scatter_add_cycles(const IpuModel& model, DType dtype, std::int64_t hits, std::int64_t misses,
                                          std::int64_t row_elements) {
  const bool has_words = size_of(dtype) >= 4;
  const std::int64_t bytes = row_elements * size_of(dtype), atoms = ceil_divide(bytes, 4);
  const bool is_short = bytes == 8 || (has_words && bytes == 16);
  std::int64_t hit = (has_words ? 11 : 13) + 3 * (atoms > 0 ? atoms - 1 : 0);
  if (!has_words && bytes % 4 != 0) hit += 20 * row_elements;
  if (is_short) hit = has_words ? 4 * atoms : 9;
  return model.workers * ((has_words ? 38 : 37) - is_short + hits * hit + misses * 5);
}

}  // namespace tilewright
