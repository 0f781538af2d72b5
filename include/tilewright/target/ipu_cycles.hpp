#pragma once
#include <cstdint>

#include "tilewright/graph/op_info/vertex_cost.hpp"
#include "tilewright/target/cycle_count.hpp"
#include "tilewright/target/ipu_model.hpp"
#include "tilewright/target/operand_banks.hpp"

// Cycles of loops over the elements of one tile, which all its workers share, after the estimates of poplibs sdk-release-3.4,
// popops/popopsCycleEstimators.cpp and popops/PerformanceEstimation.cpp. A worker's instruction takes as many cycles of the tile
// as there are workers. `elements` is what the tile has, w its workers, v the elements of a vector (2 of float32, 4 of float16)
// and e = ceil(elements / w).

namespace tilewright {

/// Returns the loop for a dtype. IPUs have neither float64 nor 64-bit integers, which take twice as long as float32 here.
constexpr LoopCost loop_of(const VertexCost& cost, DType dtype) {
  LoopCost loop = size_of(dtype) == 2 ? cost.float16 : cost.float32;
  if (size_of(dtype) == 8) loop.cycles = static_cast<std::int16_t>(2 * loop.cycles);
  return loop;
}
/// Returns the confidence of a cost for a dtype: stated costs are for float16 and float32, and others are assumed to be equal.
constexpr Confidence confidence_of(const VertexCost& cost, DType dtype) {
  return dtype == float16 || dtype == float32 || is_guess(cost.confidence) ? cost.confidence : Confidence::assumed;
}
/// Returns the instructions of a worker for its share of the elements.
constexpr std::int64_t loop_instructions(const IpuModel& model, const LoopCost& loop, std::int64_t elements) {
  return ceil_divide(ceil_divide(elements, model.workers), loop.elements) * loop.cycles;
}

/// Returns the cycles of a map with one input: 20 + w (17 + steps of a worker x cycles of a step). Published.
constexpr std::int64_t map_cycles(const IpuModel& model, const LoopCost& loop, std::int64_t elements) {
  return 20 + model.workers * ((loop.start > 0 ? loop.start : 17) + loop_instructions(model, loop, elements));
}
/// Returns the cycles of a map with two inputs: launch + w (29 + steps x cycles); 26 instead of 29 for float16, 58 in place.
/// Published.
constexpr std::int64_t binary_map_cycles(const IpuModel& model, const LoopCost& loop, DType dtype, std::int64_t elements,
                                         bool in_place = false) {
  const std::int64_t start = loop.start > 0 ? loop.start : in_place ? 58 : dtype == float16 ? 26 : 29;
  return model.launch_cycles + model.workers * (start + loop_instructions(model, loop, elements));
}
/// Returns the cycles of adding elements to others: the binary map in place, with 3 instructions for a vector.
constexpr std::int64_t add_in_place_cycles(const IpuModel& model, std::int64_t bytes) {
  const LoopCost loop{.cycles = 3, .elements = static_cast<std::int16_t>(model.data_path_bytes)};
  return binary_map_cycles(model, loop, float32, bytes, true);
}

/// Several maps in one loop. For each op, the loop has the arithmetic of the op's own loop, that is without the 2 slots that load
/// and store there; a scaled addition and a conversion have an instruction for each vector. For loads and stores, it has 2 to 4
/// slots: one fewer than the number of tensors that it reads and writes. Assumed.
class FusedMap {
 public:
  constexpr explicit FusedMap(DType dtype, const IpuModel& model) : dtype_(dtype), width_(model.vector_width(dtype)) {}
  constexpr void add(const VertexCost& cost) {
    LoopCost loop = loop_of(cost, dtype_);
    if (cost.formula == CostFormula::scaled_add || cost.formula == CostFormula::cast)
      loop = {.cycles = 3, .elements = static_cast<std::int16_t>(width_)};
    if (loop.cycles == 0) return;
    const std::int64_t arithmetic = loop.cycles > 2 ? loop.cycles - 2 : 1;
    instructions_ += ceil_divide(width_ * arithmetic, loop.elements);
    ++ops_;
  }
  constexpr int ops() const { return ops_; }
  constexpr std::int64_t cycles(const IpuModel& model, std::int64_t elements, int tensors) const {
    const std::int64_t slot_count = tensors < 3 ? 2 : tensors > 5 ? 4 : tensors - 1;
    const LoopCost loop{.cycles = static_cast<std::int16_t>(instructions_ + slot_count),
                        .elements = static_cast<std::int16_t>(width_)};
    return tensors < 3 ? map_cycles(model, loop, elements) : binary_map_cycles(model, loop, dtype_, elements);
  }

 private:
  DType dtype_;
  std::int64_t width_;
  std::int64_t instructions_ = 0;  // for a vector
  int ops_ = 0;
};

/// Returns the cycles of a conversion: 12 + w (18 + 19 + e / 4 x cycles), with 2 cycles for 4 elements. Published for float16 and
/// float32.
constexpr std::int64_t cast_cycles(const IpuModel& model, std::int64_t elements) {
  return 12 + model.workers * (18 + 19 + 2 * ceil_divide(ceil_divide(elements, model.workers), 4));
}

/// Returns the cycles of a sum, difference or product of two tensors: a binary map, whose loop has an instruction fewer if both
/// inputs are in different banks. Published: poplibs sdk-release-3.4, popops/codelets/asm/binaryOps1D.S.
constexpr std::int64_t arithmetic_cycles(const IpuModel& model, LoopCost loop, DType dtype, std::int64_t elements, bool in_place,
                                         OperandBanks banks) {
  if (banks >= OperandBanks::different) --loop.cycles;
  return binary_map_cycles(model, loop, dtype, elements, in_place);
}

/// Returns the cycles of x + a y: 97 + w (24 + cycles x (e / v - 1)), with 3 cycles for a vector; 2 if x and y are in different
/// banks; 1 if the store shares their cycle, from 16 vectors on. Published: 57 to 63 to start, and 36 to 38 more on hardware
/// (tessellate-ipu, tests of tiles: 64 to 512 elements of float32 of one tile).
constexpr std::int64_t scaled_add_cycles(const IpuModel& model, DType dtype, std::int64_t elements,
                                         OperandBanks banks = OperandBanks::same) {
  const std::int64_t vectors = ceil_divide(ceil_divide(elements, model.workers), model.vector_width(dtype));
  const std::int64_t cycles = banks < OperandBanks::different ? 3 : banks == OperandBanks::interleaved && vectors >= 16 ? 1 : 2;
  return 97 + model.workers * (24 + cycles * (vectors > 0 ? vectors - 1 : 0));
}
/// Returns the smallest distance in bytes between the starts of two tensors of which a loop is sure to find the elements with one
/// index in different banks: two banks, which is one turn of interleaved memory, and the bytes by which the accesses of a cycle
/// differ. Published: poplibs sdk-release-3.4, popops/codelets/asm/ScaledAddSupervisor_fp.S and binaryOps1D.S test it in a run.
constexpr std::int64_t bank_distance(const IpuModel& model) { return 2 * model.memory_element_bytes + 0xb8 + 8; }

/// Returns the cycles of setting elements to a number: 23 + elements / v, by one worker, because more workers would not speed up
/// the stores. Published.
constexpr std::int64_t fill_cycles(const IpuModel& model, DType dtype, std::int64_t elements) {
  return 23 + ceil_divide(elements, model.vector_width(dtype));
}

/// Returns the cycles of a copy within the tile: a call of all workers, and 8 bytes per cycle. Published: measured on ipu21 by a
/// third party.
constexpr std::int64_t copy_cycles(const IpuModel& model, std::int64_t bytes) {
  return bytes == 0 ? 0 : model.copy_call_cycles + ceil_divide(bytes, model.copy_bytes);
}

}  // namespace tilewright
