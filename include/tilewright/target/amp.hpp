#pragma once
#include <algorithm>
#include <cstdint>

namespace tilewright {

/// Cycles of products, convolutions and sums of parts on one tile, as poplibs sdk-release-3.4 estimates them
/// (PerformanceEstimation of poplin and of popops), unless a comment says "assumed". All cycles are those of the tile's clock. A
/// worker's instruction takes `tile_workers` cycles, because workers take turns.
inline constexpr std::int64_t tile_workers = 6;

constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The unit of a tile that multiplies matrices, for one choice of dtypes. It holds a block of weights, `channels` of the inner
/// axis by `units` columns of the result, and processes rows of the other operand.
struct AmpModel {
  std::int64_t units = 0;  ///< columns of a block; 0: the tile has no such unit
  std::int64_t channels = 0;  ///< of the inner axis in a block
  std::int64_t row_cycles = 0;  ///< of a row by a block, for all workers together, with consecutive rows
  std::int64_t element_bytes = 2;  ///< of operands: 2 or 4
  std::int64_t partial_bytes = 2;  ///< of sums: 2 or 4
  std::int64_t load_bytes = 8;  ///< of weights, loaded in a cycle
  std::int64_t more_block_cycles = 0;  ///< of a block of weights, in addition to poplibs' estimate

  constexpr std::int64_t macs_per_cycle() const { return row_cycles == 0 ? 0 : units * channels / row_cycles; }
  /// Returns the cycles to load a block of weights.
  constexpr std::int64_t load_cycles() const { return units * channels * element_bytes / load_bytes; }
  /// Returns the cycles of a block of weights without those of its rows: 203 for 16 x 16 of float16 by poplibs' estimate.
  constexpr std::int64_t block_cycles() const {
    return (element_bytes == 4 ? 132 : 114) + 25 + load_cycles() + more_block_cycles;
  }
  /// Returns the model with 235 instead of 203 cycles for a block of 16 x 16 of float16, as a third party measured on hardware.
  [[nodiscard]] constexpr AmpModel with_measured_overhead() const {
    AmpModel result = *this;
    result.more_block_cycles = 32;
    return result;
  }
  constexpr bool operator==(const AmpModel&) const = default;
};

namespace detail {
/// Returns the instructions of a worker for `rows` rows by one block of weights. The first block of a result also sets the sums
/// to zero.
constexpr std::int64_t amp_worker_cycles(const AmpModel& amp, std::int64_t rows, bool first) {
  if (amp.element_bytes == 4) {
    const std::int64_t zeros = first && rows > 0 ? 2 + 8 * rows : 0;
    if (rows == 0) return 24;
    return zeros + (rows == 1 ? 47 : rows == 2 ? 46 : 46 + 8 * (rows - 3));
  }
  const std::int64_t cycles = rows == 0 ? 15 : rows == 1 ? 26 : rows == 2 ? 35 : 31 + 4 * (rows - 3);
  return cycles - (first ? 1 : 0);
}
}  // namespace detail

/// Returns the cycles of a product of (rows, inner) by (inner, columns) on a tile, `groups` times.
constexpr std::int64_t amp_cycles(const AmpModel& amp, std::int64_t rows, std::int64_t inner, std::int64_t columns,
                                  std::int64_t groups = 1) {
  const std::int64_t inner_blocks = ceil_divide(inner, amp.channels), column_blocks = ceil_divide(columns, amp.units);
  const std::int64_t worker_rows = ceil_divide(rows, tile_workers), load = amp.load_cycles() + amp.more_block_cycles;
  const std::int64_t first = tile_workers * detail::amp_worker_cycles(amp, worker_rows, true);
  const std::int64_t next = tile_workers * detail::amp_worker_cycles(amp, worker_rows, false);
  const std::int64_t start = amp.element_bytes == 4 ? 50 : 50 + tile_workers * (7 + 3 * (inner_blocks * groups - 1));
  return start + groups * (13 + 11 + column_blocks * (25 + load + first) +
                           (inner_blocks - 1) * (15 + column_blocks * (25 + load + next)));
}

/// Corrections of amp_cycles in addition to block_cycles() of each block of weights and row_cycles of each row in it. With these,
/// a search estimates products in a few operations. Derived from the formulas above; the static tests compare them.
struct AmpCorrections {
  std::int64_t one_row = 0, two_rows = 0;  ///< of a block of weights, if each worker has one row, or two
  std::int64_t inner_block = 0;  ///< of a block of the inner axis, once for all its blocks of weights
};
constexpr AmpCorrections amp_corrections(std::int64_t element_bytes) {
  return element_bytes == 4 ? AmpCorrections{102, 48, 15} : AmpCorrections{18, 48, 15 + 3 * tile_workers};
}

/// Instructions of a worker for each result of a dot product, in addition to those for its terms, as poplibs estimates them.
inline constexpr std::int64_t dot_product_end = 7;
/// Returns the cycles of the same product as amp_cycles, but computed by dot products of vectors. They support any number of
/// columns. Assumed: 65 cycles to start, and 29 instructions of each worker.
constexpr std::int64_t dot_product_cycles(std::int64_t element_bytes, std::int64_t rows, std::int64_t inner, std::int64_t columns,
                                          std::int64_t groups = 1) {
  const std::int64_t vector = 8 / element_bytes, worker_rows = ceil_divide(rows * groups, tile_workers);
  return 65 + tile_workers * (29 + worker_rows * (7 + columns * (ceil_divide(inner, vector) + dot_product_end)));
}

/// A tile's part of a convolution: `rows` lines of `line` positions of the result each, from `inner` channels to `columns`
/// channels. A kernel has `kernel_rows` x `kernel_line` elements.
struct ConvolutionBlock {
  std::int64_t rows = 1, line = 1;
  std::int64_t inner = 1, columns = 1, groups = 1;
  std::int64_t kernel_rows = 1, kernel_line = 1;
};

/// Returns the cycles of a convolution by the unit for products, one product for each element of the kernel. A pass loads
/// `filter_rows` rows of the kernel, 1, 2 or 4, with 1 / `filter_rows` of the channels. Assumed: all workers have the same number
/// of positions; one pass for each block of columns.
constexpr std::int64_t convolution_cycles(const AmpModel& amp, const ConvolutionBlock& block, std::int64_t filter_rows = 1) {
  const bool single = amp.element_bytes == 4;
  // a worker has whole lines, or a part of one if there are fewer lines than workers
  const std::int64_t pieces = ceil_divide(block.rows, tile_workers);
  const std::int64_t workers_of_line = std::max<std::int64_t>(1, tile_workers / std::max<std::int64_t>(1, block.rows));
  const std::int64_t places = ceil_divide(block.line, workers_of_line);
  const std::int64_t of_places = single ? (places == 0   ? 17
                                           : places == 1 ? 33
                                           : places == 2 ? 44
                                                         : 45 + 8 * (places - 3))
                                        : (places == 0   ? 17
                                           : places == 1 ? 29
                                           : places == 2 ? 33
                                                         : 34 + 4 * (places - 3));
  const std::int64_t worker = 17 + (amp.partial_bytes == 2 ? 1 : 0) + pieces * (3 - 9 + of_places);
  const std::int64_t load = amp.load_cycles() + amp.more_block_cycles + (filter_rows == 1 ? 15 : filter_rows == 2 ? 46 : 60) + 3;
  const std::int64_t kernel_rows = ceil_divide(block.kernel_rows, filter_rows);
  const std::int64_t of_kernel = kernel_rows * (14 + block.kernel_line * (12 + load + tile_workers * worker));
  const std::int64_t inner_blocks = ceil_divide(block.inner * filter_rows, amp.channels);
  const std::int64_t column_blocks = ceil_divide(block.columns, amp.units);
  const std::int64_t zeros = tile_workers * block.groups * column_blocks *
                             (ceil_divide(ceil_divide(block.rows * block.line * amp.units, tile_workers), 8 / amp.partial_bytes) +
                              5);
  return 109 + 54 + tile_workers * (amp.partial_bytes == 2 ? 10 : 9) +
         block.groups * (23 * column_blocks + 16 + inner_blocks * (14 + column_blocks * (14 + of_kernel))) + zeros;
}

/// Returns the cycles of a convolution of groups with few channels by the unit's mode for these (SLIC). It slides a window of 4
/// elements along a line, with 2 x 4 products of at most 4 channels per cycle. Float16 only. Assumed: 200 cycles to start, and 30
/// for each line of the result and pass of the kernel.
constexpr std::int64_t slic_cycles(const ConvolutionBlock& block) {
  const std::int64_t channels = std::min<std::int64_t>(4, block.inner), macs_per_cycle = channels * 4 * 2;
  const std::int64_t windows = block.kernel_rows * ceil_divide(block.kernel_line, 4);
  const std::int64_t macs = block.groups * block.rows * block.line * block.inner * block.columns * windows * 4;
  return 200 + ceil_divide(macs, macs_per_cycle) + 30 * ceil_divide(block.rows, tile_workers) * windows * block.groups;
}

/// Bytes of a block of a tensor that is transposed: 16 lines of as many elements as the unit multiplies at a time.
inline constexpr std::int64_t transposed_block_bytes = 512;
/// Returns the bytes of those blocks that each of `tiles` tiles transposes.
constexpr std::int64_t transposed_bytes(std::int64_t tensor_bytes, std::int64_t tiles) {
  return transposed_block_bytes * ceil_divide(ceil_divide(tensor_bytes, transposed_block_bytes), tiles);
}
/// Returns the cycles of a tile to transpose such blocks, each by one worker: 7 + w (29 + blocks of a worker x (18 + 4 (12 +
/// c))), where c is 8 for float16 and 18 for float32. Published: popsparse, getTransposeCycleEstimate.
constexpr std::int64_t transpose_cycles(std::int64_t element_bytes, std::int64_t bytes) {
  const std::int64_t of_worker = ceil_divide(ceil_divide(bytes, transposed_block_bytes), tile_workers);
  return 7 + tile_workers * (29 + of_worker * (18 + 4 * (12 + (element_bytes == 2 ? 8 : 18))));
}

/// Smallest numbers of parts that are combined in two stages, and in three: poplibs' choice (poplin, ConvReducePlan).
inline constexpr std::int64_t min_parts_of_stages = 16, min_parts_of_three_stages = 125;
/// Stages of a sum of parts: stage i adds depth[i] of them. Their number is also poplibs' choice.
struct ReductionStages {
  std::int64_t depth[3]{1, 1, 1};
  int count = 0;  ///< 0: there is one part, and nothing to add
};
constexpr ReductionStages reduction_stages(std::int64_t parts) {
  if (parts <= 1) return {};
  if (parts < min_parts_of_stages) return {{parts, 1, 1}, 1};
  if (parts < min_parts_of_three_stages) {  // two factors near the square root
    std::int64_t root = 4;
    while (root * (root + 1) < parts) ++root;
    return {{ceil_divide(parts, root), root, 1}, 2};
  }
  std::int64_t root = 5;  // three factors near the cube root
  while ((2 * root + 1) * (2 * root + 1) * (2 * root + 1) < 8 * parts) ++root;
  std::int64_t rest = (root - 1) * root;
  while ((2 * rest + 1) * (2 * rest + 1) * (2 * rest + 1) < 8 * parts * parts) ++rest;
  return {{ceil_divide(parts, rest), ceil_divide(rest, root), root}, 3};
}

/// Returns the cycles of one stage: sums of `parts` parts for each of `outputs` neighbouring results. `fast`: parts are in
/// interleaved memory, from which twice as many bytes are read per cycle.
constexpr std::int64_t reduction_stage_cycles(std::int64_t outputs, std::int64_t parts, std::int64_t partial_bytes,
                                              std::int64_t output_bytes, bool fast = false) {
  const std::int64_t vector = partial_bytes == 4 ? 4 : 8, part_cycles = fast ? 1 : 2;
  const std::int64_t store_cycles = partial_bytes == 4 ? (output_bytes == 4 ? 8 : 7) : (output_bytes == 4 ? 10 : 9);
  return 33 + tile_workers *
                  (20 + (part_cycles * (parts - 1) + store_cycles) * ceil_divide(ceil_divide(outputs, vector), tile_workers));
}

/// Returns, for a search, the part of the cycles of a sum of `parts` parts that does not grow with the number of results. One
/// stage takes 33 cycles, and each worker 20 instructions and 2 more for each part, derived from reduction_stage_cycles. For two
/// and for three stages, the result is an estimate for any number of parts: that of two stages of 6 parts, or of about three
/// stages of 7.
constexpr std::int64_t reduction_start_cycles(std::int64_t parts) {
  if (parts < min_parts_of_stages) return 33 + 20 * tile_workers + 2 * tile_workers * parts;
  return parts < min_parts_of_three_stages ? 450 : 700;
}

/// Returns the cycles of all stages of a sum of parts. In the first stage, each tile has at most `parts` parts of each of
/// `outputs` results. Returns 0 for a single part.
constexpr std::int64_t reduction_cycles(std::int64_t outputs, std::int64_t parts, std::int64_t partial_bytes,
                                        std::int64_t output_bytes, bool fast = false) {
  const ReductionStages stages = reduction_stages(parts);
  std::int64_t elements = outputs * parts, cycles = 0;
  for (int i = 0; i < stages.count; ++i) {
    elements = ceil_divide(elements, stages.depth[i]);
    const bool last = i + 1 == stages.count;
    cycles += reduction_stage_cycles(elements, stages.depth[i], partial_bytes, last ? output_bytes : partial_bytes, fast);
  }
  return cycles;
}

}  // namespace tilewright
