#pragma once
#include <cstdint>

#include "tilewright/target/ipu_cycles.hpp"

// Cycles of reductions on one tile, of ops on lines that are made of them, and of windows: after popops' and popnn's estimates
// (poplibs sdk-release-3.4). The sums of parts of a product are in target/amp.hpp. w, v and e are as in target/ipu_cycles.hpp.

namespace tilewright {

/// Returns the cycles of `outputs` results, each of `terms` terms in different rows: w (16 + ceil(outputs / w, v) (6 + post +
/// (terms - 1) x cycles)), with post = 8 from float16 to float16, 7 from float16 to float32, and 5 otherwise. `term_cycles`: of a
/// vector of terms, 1 for sums and extremes. Published.
constexpr std::int64_t reduce_rows_cycles(const IpuModel& model, DType in, DType out, std::int64_t outputs, std::int64_t terms,
                                          std::int64_t term_cycles = 1) {
  const std::int64_t post = in == float16 ? (out == float16 ? 8 : 7) : 5;
  const std::int64_t vectors = ceil_divide(ceil_divide(outputs, model.workers), model.vector_width(in));
  return model.workers * (16 + vectors * (6 + post + (terms - 1) * term_cycles));
}

/// Returns the cycles of one result of `terms` neighbouring terms: w (22 + e / v x cycles) and a second pass over the w partial
/// results. Published.
constexpr std::int64_t reduce_line_cycles(const IpuModel& model, DType in, std::int64_t terms, std::int64_t term_cycles = 1) {
  const auto pass = [&](std::int64_t of_worker) {
    return model.workers * (22 + ceil_divide(of_worker, model.vector_width(in)) * term_cycles);
  };
  return pass(ceil_divide(terms, model.workers)) + pass(model.workers);
}
/// Returns the cycles of `lines` results of `terms` terms each. Each worker takes whole lines, with a start of 22 per line; or
/// all workers share each line, if there are few long lines and that is faster. Derived: 22 and 1 are the published numbers.
constexpr std::int64_t reduce_lines_cycles(const IpuModel& model, DType in, std::int64_t lines, std::int64_t terms,
                                           std::int64_t term_cycles = 1) {
  const std::int64_t vectors = ceil_divide(terms, model.vector_width(in)) * term_cycles;
  const std::int64_t whole = model.workers * ceil_divide(lines, model.workers) * (22 + vectors);
  const std::int64_t shared = lines * reduce_line_cycles(model, in, terms, term_cycles);
  return whole < shared ? whole : shared;
}

/// Returns the cycles of an op of several loops over each line of the tile: for each pass the start of a map, 20 + 17 w, and 22
/// instructions for each line of a worker; then the loops themselves. Derived from map_cycles and reduce_lines_cycles.
constexpr std::int64_t line_cycles(const IpuModel& model, const LoopCost& loop, std::int64_t passes, std::int64_t lines,
                                   std::int64_t length) {
  const std::int64_t start = loop.start > 0 ? loop.start : 17, of_worker = ceil_divide(lines, model.workers);
  return passes * (20 + model.workers * (start + 22 * (of_worker > 1 ? of_worker - 1 : 0))) +
         model.workers * loop_instructions(model, loop, lines * length);
}

/// Returns the cycles of a softmax of `rows` rows, by its parts: largest element, difference, exponential, sum in float32,
/// inverse of the sums, product; and for float16 the conversion of the inverses. Without `stable`, the first two parts are
/// omitted. Published parts: a test compares them with the cost that Softmax states.
constexpr std::int64_t softmax_cycles(const IpuModel& model, DType dtype, std::int64_t rows, std::int64_t length,
                                      bool stable = true) {
  const bool half = dtype == float16;
  const std::int64_t n = rows * length;
  const auto width = static_cast<std::int16_t>(model.vector_width(dtype));
  const LoopCost three{3, width}, exponential = half ? LoopCost{4, 4, 33} : LoopCost{6, 2}, inverse{6, 2};
  std::int64_t cycles = map_cycles(model, exponential, n) + reduce_lines_cycles(model, dtype, rows, length) +
                        map_cycles(model, inverse, rows) + binary_map_cycles(model, three, dtype, n);
  if (half) cycles += cast_cycles(model, rows);
  if (stable) cycles += reduce_lines_cycles(model, dtype, rows, length) + binary_map_cycles(model, three, dtype, n);
  return cycles;
}

/// Returns the cycles of a layer, group or batch norm of `groups` groups by its parts: two reductions, the inverse deviations,
/// and four maps; backward two reductions and three maps. Published parts.
constexpr std::int64_t norm_cycles(const IpuModel& model, DType dtype, std::int64_t groups, std::int64_t length, bool backward) {
  const std::int64_t n = groups * length;
  const LoopCost three{3, static_cast<std::int16_t>(model.vector_width(dtype))};
  const std::int64_t reductions = 2 * reduce_lines_cycles(model, dtype, groups, length);
  if (backward) return reductions + 3 * binary_map_cycles(model, three, dtype, n);
  const LoopCost inverse_deviation = dtype == float16 ? LoopCost{19, 4} : LoopCost{8, 2};
  return reductions + map_cycles(model, inverse_deviation, groups) + 4 * binary_map_cycles(model, three, dtype, n);
}

/// Returns the cycles of windows: for each of `rows` rows of results, 30 instructions and 3 for a vector of each term, 5 for the
/// gradient of a maximum. Published: 30 and 3; assumed: that workers share the rows.
constexpr std::int64_t pool_cycles(const IpuModel& model, DType dtype, std::int64_t rows, std::int64_t row_elements,
                                   std::int64_t terms, std::int64_t vector_cycles = 3) {
  const std::int64_t vectors = ceil_divide(row_elements, model.vector_width(dtype)) * terms;
  return model.workers * ceil_divide(rows, model.workers) * (30 + vector_cycles * vectors);
}

/// Returns the cycles of a cross-entropy of `elements` probabilities by one worker: 25 + 4 per element, 9 with the gradient of a
/// softmax; half of that for float16. Published.
constexpr std::int64_t cross_entropy_cycles(DType dtype, std::int64_t elements, bool with_softmax) {
  return 25 + (with_softmax ? 9 : 4) * (dtype == float16 ? ceil_divide(elements, 2) : elements);
}

}  // namespace tilewright
