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

/// Returns the cycles of such results, with the launch, if each worker takes whole groups of `vectors` vectors. If they are
/// faster, workers take parts of the terms of a group, and a second compute set adds up these parts, in float32 if they are sums
/// of float16. Published: popops, findGrainSizeForOp and connectTwoStageReductions; basicOpSupervisorOverhead for the launch.
constexpr std::int64_t reduce_columns_cycles(const IpuModel& model, DType dtype, std::int64_t outputs, std::int64_t terms,
                                             std::int64_t term_cycles, std::int64_t vectors) {
  const std::int64_t group = vectors * model.vector_width(dtype), groups = ceil_divide(outputs, group);
  const auto of_worker = [&](DType of, std::int64_t results, std::int64_t count) {
    return model.launch_cycles +
           reduce_rows_cycles(model, of, of, model.workers * (results < outputs ? results : outputs), count, term_cycles);
  };
  const std::int64_t whole = of_worker(dtype, ceil_divide(groups, model.workers) * group, terms);
  const std::int64_t parts = model.workers / groups;
  if (parts < 2 || terms < 2 * parts) return whole;
  const std::int64_t in_parts = of_worker(dtype, group, ceil_divide(terms, parts)) + model.sync_cycles +
                                of_worker(vectors > 1 && dtype == float16 ? float32 : dtype, group, parts);
  return whole < in_parts ? whole : in_parts;
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

/// Returns the cycles of `outputs` results of `terms` terms each, of which `run` are neighbours in memory: two compute sets, of
/// which one adds up runs of terms, and the other one their results, in either order. Published: popops, which sums the outer
/// terms first (connectSmallInnerFactorReductions).
constexpr std::int64_t reduce_runs_cycles(const IpuModel& model, DType dtype, std::int64_t outputs, std::int64_t terms,
                                          std::int64_t run, std::int64_t term_cycles, std::int64_t vectors) {
  const std::int64_t runs = ceil_divide(terms, run);
  const std::int64_t outer_first = reduce_columns_cycles(model, dtype, outputs * run, runs, term_cycles, vectors) +
                                   reduce_lines_cycles(model, dtype, outputs, run, term_cycles);
  const std::int64_t inner_first = reduce_lines_cycles(model, dtype, outputs * runs, run, term_cycles) +
                                   reduce_columns_cycles(model, dtype, outputs, runs, term_cycles, vectors);
  return (outer_first < inner_first ? outer_first : inner_first) + model.launch_cycles + model.sync_cycles;
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

/// Results of the windows of a vertex, or elements of their gradient, and the loop over them.
struct PoolVertex {
  std::int64_t rows = 1, columns = 1;  ///< of all images
  std::int64_t vectors = 1;  ///< of channels
  std::int64_t terms = 1;  ///< loops over a row: elements of a window that the row meets
  std::int64_t spacing = 1;  ///< distance of the columns of such a loop: a stride, in a gradient
  std::int64_t start = 41, loop_start = 4, cycles = 3;  ///< instructions: of a worker, of a loop, and of a vector in it
};

/// Returns the cycles of windows: 13 + w x worker. Workers share the results, in the order of rows. A worker takes 41
/// instructions to start (42 for means, 51 for the gradient of a maximum), 4 and one for each vector of its share to set them, 15
/// for a row of its share or a part of one, 25 for each element of the windows that the row meets, and for each vector of
/// channels there 3 + 4
/// + 3 x columns (5 + 3 for means, 7 + 5 for the gradient of a maximum). Published: popnn, getPoolingCycles.
constexpr std::int64_t pool_cycles(const IpuModel& model, const PoolVertex& of) {
  const std::int64_t results = of.rows * of.columns;
  std::int64_t longest = 0;
  for (std::int64_t worker = 0; worker < model.workers; ++worker) {
    const std::int64_t begin = worker * results / model.workers, end = (worker + 1) * results / model.workers;
    std::int64_t rows = 0, loops = 0;  // parts of rows, and the vectors of one loop over each
    if (begin < end) {
      const std::int64_t first = begin / of.columns, last = (end - 1) / of.columns;
      rows = last - first + 1;
      const auto add = [&](std::int64_t columns) { loops += ceil_divide(columns, of.spacing); };
      add((rows == 1 ? end : (first + 1) * of.columns) - begin);
      if (rows > 1) add(end - last * of.columns);
      if (rows > 2) loops += (rows - 2) * ceil_divide(of.columns, of.spacing);
    }
    const std::int64_t of_rows = rows * (15 + of.terms * (25 + of.vectors * (3 + of.loop_start)));
    const std::int64_t of_loops = of.terms * of.vectors * of.cycles * loops,
                       set = ceil_divide(results * of.vectors, model.workers);
    const std::int64_t all = of.start + 4 + set + of_rows + of_loops;
    if (all > longest) longest = all;
  }
  return 13 + model.workers * longest;
}

/// Returns the cycles of a cross-entropy of `elements` probabilities by one worker: 25 + 4 per element, 9 with the gradient of a
/// softmax; half of that for float16. Published.
constexpr std::int64_t cross_entropy_cycles(DType dtype, std::int64_t elements, bool with_softmax) {
  return 25 + (with_softmax ? 9 : 4) * (dtype == float16 ? ceil_divide(elements, 2) : elements);
}

}  // namespace tilewright
