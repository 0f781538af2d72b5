#pragma once
#include <cstdint>

#include "tilewright/core/figures/figure.hpp"
#include "tilewright/graph/op_info/work_kind.hpp"

namespace tilewright {

/// Formula for the cycles of a vertex from its block. target/vertex_cycles.hpp has the formulas.
enum class CostFormula : std::uint8_t {
  none,  ///< no cycles: views, and ops that are counted elsewhere (transfers, collectives)
  map,          ///< one loop over the block, with one input
  binary_map,  ///< a map with two inputs or more
  arithmetic,  ///< x + y, x - y or x * y: a binary map that can load both inputs at the same time
  scaled_add,   ///< x + a y: one loop that loads and stores at the same time
  cast,         ///< one loop that converts
  fill,         ///< one loop that stores
  copy,  ///< unchanged elements, within a tile
  reduction,    ///< several terms for each element of the block
  parts,  ///< sums of the parts of a product
  line,         ///< several loops over each line of the block
  pairs,  ///< products of matrices with a result for each pair of a line of input 0 and one of input 1, and a loop over these
  serial,  ///< one loop of a single worker
  compiled,  ///< a loop that a compiler makes of C++: each load, store and operation is an instruction, and so are loop and addresses
  measured,  ///< cycles of a tile as measured: `start`, and `cycles` for every `elements` elements of the block
  window,  ///< several terms for each element of the block, in short rows
  slice,  ///< slices of a table at an offset that is computed in a run
  gather,  ///< rows of a table at positions that are computed in a run
  scatter,  ///< additions to rows of a table at positions that are computed in a run
  product,  ///< of matrices: the unit for products
  convolution,  ///< the unit for products
  other  ///< one loop over single elements
};

/// Loop of a worker: each step processes `elements` elements. Cycles of a map, a serial and a compiled loop include loads and
/// stores; those of a reduction are the cycles of a term.
struct LoopCost {
  std::int16_t cycles = 0;  ///< instructions of a worker for a step
  std::int16_t elements = 1;  ///< of a step
  std::int16_t start = 0;  ///< instructions of a worker before the loop; 0: those of the formula

  constexpr bool operator==(const LoopCost&) const = default;
};

/// Cost of an op's codelet on a simulated IPU. An op states it by a conversion, like its groups (graph/op_info/op_groups.hpp). An
/// unstated cost follows from the op's WorkKind and is assumed.
struct VertexCost {
  CostFormula formula = CostFormula::other;
  LoopCost float32{};  ///< for float32, integers of 4 and 8 bytes, bool and bytes
  LoopCost float16{};  ///< for float16 and integers of 2 bytes
  /// line: number of loops over each line; `cycles` counts all of them; pairs: number of products
  std::int8_t passes = 1;
  Confidence confidence = Confidence::given;
  std::int8_t vectors = 1;  ///< reduction: of results that one worker makes together

  /// Returns whether an op states the cost.
  constexpr bool is_stated() const { return passes != 0; }
  /// Returns whether the cost of a vertex is known.
  constexpr bool is_complete() const {
    const auto is_loop = [](const LoopCost& loop) { return loop.cycles > 0 && loop.elements > 0 && loop.start >= 0; };
    switch (formula) {
      case CostFormula::none:
      case CostFormula::scaled_add:
      case CostFormula::cast:
      case CostFormula::fill:
      case CostFormula::copy:
      case CostFormula::parts:
      case CostFormula::slice:
      case CostFormula::gather:
      case CostFormula::scatter:
      case CostFormula::product:
      case CostFormula::convolution: return true;
      default: return passes > 0 && vectors > 0 && is_loop(float32) && is_loop(float16);
    }
  }
  constexpr bool operator==(const VertexCost&) const = default;
};

// What ops of the library state, by formula. Loops are (instructions, elements of a step[, start]): of float32, then of float16.

constexpr VertexCost loop_cost(CostFormula formula, const LoopCost& float32, const LoopCost& float16,
                               Confidence confidence = Confidence::assumed) {
  return {formula, float32, float16, 1, confidence};
}
constexpr VertexCost map_cost(const LoopCost& float32, const LoopCost& float16, Confidence confidence = Confidence::assumed) {
  return loop_cost(CostFormula::map, float32, float16, confidence);
}
constexpr VertexCost binary_map_cost(const LoopCost& float32, const LoopCost& float16,
                                     Confidence confidence = Confidence::assumed) {
  return loop_cost(CostFormula::binary_map, float32, float16, confidence);
}
/// Returns the cost of a sum, difference or product of two tensors. Published.
constexpr VertexCost arithmetic_cost() { return loop_cost(CostFormula::arithmetic, {3, 2}, {3, 4}, Confidence::published); }
constexpr VertexCost reduction_cost(const LoopCost& float32, const LoopCost& float16,
                                    Confidence confidence = Confidence::assumed) {
  return loop_cost(CostFormula::reduction, float32, float16, confidence);
}
/// Returns the cost of a sum. A worker makes two vectors of results together, as the accumulators have them. Published: popops,
/// findGrainSizeForOp.
constexpr VertexCost sum_cost() { return {CostFormula::reduction, {1, 2}, {1, 4}, 1, Confidence::published, 2}; }
/// Returns the cost of `passes` loops over each line. The given instructions are those of all these loops together.
constexpr VertexCost line_cost(int passes, const LoopCost& float32, const LoopCost& float16,
                               Confidence confidence = Confidence::assumed) {
  return {CostFormula::line, float32, float16, static_cast<std::int8_t>(passes), confidence};
}
/// Returns the cost of `products` products, and a loop over their pairs of lines.
constexpr VertexCost pair_cost(int products, const LoopCost& float32, const LoopCost& float16,
                               Confidence confidence = Confidence::assumed) {
  return {CostFormula::pairs, float32, float16, static_cast<std::int8_t>(products), confidence};
}
/// Instructions of a worker for the loop and the addresses of a step of a compiled loop. Derived: lbm-graphcore's blur of 3 x 3
/// (gaussian-blur-scaling) has 10 loads and stores and 11 operations for 1 or 2 elements of float32, and takes 24.9 and 23.7.
inline constexpr int compiled_loop_instructions = 3;
/// Returns the cost of a loop in C++ of which each step has `accesses` loads and stores and `operations` operations for
/// `elements` elements. A compiler puts no two of them into one instruction.
constexpr VertexCost compiled_cost(int accesses, int operations, int elements = 1) {
  const LoopCost loop{.cycles = static_cast<std::int16_t>(accesses + operations), .elements = static_cast<std::int16_t>(elements)};
  return loop_cost(CostFormula::compiled, loop, loop, Confidence::derived);
}
/// Returns the cost of an op whose author has measured a tile that is busy with a vertex: `start` cycles of the tile, and
/// `cycles` for every `elements` elements of the vertex's block.
constexpr VertexCost measured_cost(const LoopCost& float32, const LoopCost& float16) {
  return loop_cost(CostFormula::measured, float32, float16, Confidence::given);
}
/// Returns the cost by a formula that contains all numbers.
constexpr VertexCost formula_cost(CostFormula formula, Confidence confidence = Confidence::assumed) {
  return {.formula = formula, .confidence = confidence};
}

/// Returns the cost of a unary op's gradient: a few products if computed from the result; from the input, also the op's own loop.
/// Assumed.
constexpr VertexCost unary_gradient_cost(const VertexCost& forward, bool from_output) {
  if (from_output || forward.float32.cycles == 0) return binary_map_cost({6, 2}, {6, 4});
  LoopCost of_float32 = forward.float32, of_float16 = forward.float16;
  for (LoopCost* loop : {&of_float32, &of_float16}) loop->cycles = static_cast<std::int16_t>(loop->cycles + 4);
  return binary_map_cost(of_float32, of_float16);
}

/// Returns the cost of ops that state none: a guess, except for those without cost.
constexpr VertexCost default_vertex_cost(WorkKind kind, CodeKind code) {
  if (code == CodeKind::copy && (kind == WorkKind::other || kind == WorkKind::map))
    return formula_cost(CostFormula::copy, Confidence::published);
  switch (kind) {
    case WorkKind::map: return binary_map_cost({8, 2}, {8, 4});
    case WorkKind::reduction: return reduction_cost({1, 2}, {1, 4});
    case WorkKind::line: return line_cost(4, {12, 2}, {12, 4});
    case WorkKind::product: return formula_cost(CostFormula::product, Confidence::published);
    case WorkKind::convolution: return formula_cost(CostFormula::convolution, Confidence::published);
    case WorkKind::indexed: return formula_cost(CostFormula::gather);
    case WorkKind::view:
    case WorkKind::composite:
    case WorkKind::transfer:
    case WorkKind::collective: return formula_cost(CostFormula::none, Confidence::derived);
    default: return loop_cost(CostFormula::other, {8, 1}, {8, 1});
  }
}

}  // namespace tilewright
