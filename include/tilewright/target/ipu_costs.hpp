#pragma once
#include <cstddef>
#include <cstdint>

#include "tilewright/graph/work_kind.hpp"

namespace tilewright {

/// Estimates of what runs on a tile: bytes of code, by the kinds of code that ops state, and cycles. They enter a plan's figures
/// (MemoryUse, RemoteTraffic, CollectiveTraffic), and never what is planned.
struct TileCosts {
  std::int64_t vertex_code_bytes[code_kinds]{};  ///< by CodeKind: of a vertex's code, once for all of a compute set on a tile

  std::int64_t vertex_bytes = 0;   ///< of a vertex's state, in each step: its extents
  std::int64_t operand_bytes = 0;  ///< of a vertex's state, in each step: a pointer for each operand

  std::int64_t step_bytes = 0;      ///< of control code: a step, a call, or a load of code
  std::int64_t exchange_bytes = 0;  ///< of control code: a step before which tiles exchange data
  std::int64_t branch_bytes = 0;    ///< of control code: a loop or a conditional

  std::int64_t add_cycles = 0;          ///< of an addition in place: to start it
  std::int64_t add_workers = 1;         ///< the threads of a tile that share it, and take turns
  std::int64_t add_worker_cycles = 0;   ///< of each worker: to begin and to end
  std::int64_t add_vector_cycles = 0;   ///< of each worker: for a vector
  std::int64_t add_vector_bytes = 1;

  constexpr std::int64_t code_bytes(CodeKind kind) const { return vertex_code_bytes[static_cast<std::size_t>(kind)]; }
  /// Cycles to add to so many bytes, spread over the tiles.
  constexpr std::int64_t addition(std::int64_t bytes, std::int64_t tiles) const {
    const std::int64_t at_a_time = add_workers * add_vector_bytes * tiles, vectors = (bytes + at_a_time - 1) / at_a_time;
    return add_cycles + add_workers * (add_worker_cycles + add_vector_cycles * vectors);
  }
  constexpr bool operator==(const TileCosts&) const = default;
};

/// Of a Mk2 IPU.
///  - Code: rough averages, by tile, of what popliner's tests (test_popart_bert_inf.py) expect of Poplar's profiles. State and
///    control are of the same source. Not counted there, nor here: exchange code, stacks, padding.
///  - Additions: popops' estimate of a binary op in place, 11 + 6 (58 + 3 vectors of 8 bytes of each of 6 workers).
/// Tests hold them: tests/static/code_memory.cpp and tests/static/replication.cpp.
inline constexpr TileCosts ipu_costs{.vertex_code_bytes = {300 /* other */, 220 /* map */, 200 /* copy */, 400 /* reduction */,
                                                           1000 /* product */, 1560 /* softmax */, 2020 /* norm */},
                                     .vertex_bytes = 4,
                                     .operand_bytes = 4,
                                     .step_bytes = 8,
                                     .exchange_bytes = 20,
                                     .branch_bytes = 40,
                                     .add_cycles = 11,
                                     .add_workers = 6,
                                     .add_worker_cycles = 58,
                                     .add_vector_cycles = 3,
                                     .add_vector_bytes = 8};
static_assert(ipu_costs.code_bytes(CodeKind::other) == 300 && ipu_costs.code_bytes(CodeKind::norm) == 2020,
              "the table is in the order of CodeKind");

}  // namespace tilewright
