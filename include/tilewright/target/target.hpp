#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/dtype.hpp"
#include "tilewright/target/ipu_costs.hpp"
#include "tilewright/target/ipu_link.hpp"
#include "tilewright/target/streaming_memory.hpp"

namespace tilewright {

/// A machine: tiles that compute in supersteps, each with a memory of its own. A structural type, so that a session can have it
/// as template argument: `Session<step, ipu_model.with_tiles(64)>`.
struct Target {
  std::int64_t tiles = 1;
  std::int64_t bytes_per_tile = 0;     ///< memory of a tile; 0: the host's memory, and no limit is checked
  std::int64_t vector_bytes = 8;       ///< width of a vector: work is cut at multiples of it
  std::int64_t shortest_reduction = 0;  ///< fewest terms of the partial sums that a reduction is cut into; 0: it is never cut
  std::int64_t block_bytes =
      40'960;  ///< limit of the working set that ops of one vertex pass on to each other, the size of a cache; work is cut to it

  bool keeps_weights = false;  ///< whether large matrices are always cut along their rows, so that each row stays with one tile
  bool fuses = true;  ///< whether ops are joined; without, every op is a step of its own

  std::int64_t clock_hz = 0;  ///< clock of a tile; 0: no cycles are counted
  StreamingMemory streaming_memory{};
  IpuLink replica_link{};  ///< between replicas
  const TileCosts* costs = &ipu_costs;  ///< a static object, never null; the host has the IPU's

  constexpr Target without_fusion() const {
    Target result = *this;
    result.fuses = false;
    return result;
  }
  constexpr Target with_tiles(std::int64_t count) const {
    Target result = *this;
    result.tiles = count;
    return result;
  }
  constexpr Target with_bytes_per_tile(std::int64_t bytes) const {
    Target result = *this;
    result.bytes_per_tile = bytes;
    return result;
  }
  constexpr std::int64_t vector_width(DType dtype) const { return std::max<std::int64_t>(1, vector_bytes / size_of(dtype)); }
  constexpr double seconds(std::int64_t cycles) const {
    return clock_hz == 0 ? 0 : static_cast<double>(cycles) / static_cast<double>(clock_hz);
  }
  constexpr bool checks_memory() const { return bytes_per_tile > 0; }
  constexpr bool operator==(const Target&) const = default;
};

/// The host: its cores as a few large tiles. The number of tiles is fixed, so that results do not depend on the host.
inline constexpr Target cpu{.tiles = 8, .vector_bytes = 64, .keeps_weights = true};

/// One Mk2 IPU: 1,472 tiles of 624 KiB (Graphcore's GC200; 897 MiB on the chip). Work is cut at multiples of 32 bytes, the
/// output of one 8-row float32 matrix product.
///
/// Clock: the IPU-POD64's 15.978 Pflop/s in float16 (datasheet) by 64 IPUs, 1,472 tiles and 128 operations a cycle.
/// Streaming memory: behind 16 GB/s of PCIe, of which 10 GB/s are assumed to arrive; 32 exchange blocks and packets of 1,024
/// bytes as in poplibs' HostSliceTensor.cpp; a global sync of 600 cycles as reported of Poplar's target for this generation.
/// Links: 16 GB/s each way, of which 85 % arrive, as in poplibs' sources of 2019; two to each neighbour, as in a
/// ladder of IPUs; the same global sync.
inline constexpr Target ipu_model{
    .tiles = 1472,
    .bytes_per_tile = 638'976,
    .vector_bytes = 32,
    .shortest_reduction = 32,
    .clock_hz = 1'325'000'000,
    .streaming_memory = {.bytes_per_second = 10'000'000'000, .sync_cycles = 600, .exchange_blocks = 32, .packet_bytes = 1024},
    .replica_link = {.bytes_per_second = 13'600'000'000, .links = 2, .sync_cycles = 600}};

}  // namespace tilewright
