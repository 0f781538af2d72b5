#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/span.hpp"
#include "tilewright/target/cycle_count.hpp"
#include "tilewright/target/ipu_model.hpp"

// Cycles of what moves between tiles, and between tiles and what is outside of the chip.

namespace tilewright {

/// Traffic of one tile in one phase of the exchange.
struct TileTraffic {
  std::int64_t in = 0;  ///< bytes that the tile receives
  std::int64_t out = 0;  ///< bytes that the tile sends; those that several tiles receive count once
  std::int64_t fragments = 0;  ///< contiguous pieces, received and sent
  /// Whether the neighbour on the bus receives the same bytes: a broadcast to all tiles of an even run, or to all receivers.
  bool shares_bus = false;
};

/// Returns the cycles of a tile's bytes: max(ceil(in / B), ceil(out / B)), where B is 4 bytes per cycle, or twice that if both
/// tiles of a bus receive the same bytes. Published: popops' and poplin's ExchangeEstimator.
constexpr std::int64_t payload_cycles(const IpuModel& model, const TileTraffic& tile) {
  const std::int64_t bandwidth = model.exchange_bytes_per_cycle;
  const std::int64_t in_bandwidth = bandwidth * (tile.shares_bus ? model.tiles_per_exchange_bus.value : 1);
  return (std::max)(ceil_divide(tile.in, in_bandwidth), ceil_divide(tile.out, bandwidth));
}
/// Returns the cycles of the instructions that control a tile's exchange: 3 for each fragment, while bytes of other tiles are in
/// flight. Published: a third party's measurements.
constexpr std::int64_t exchange_control_cycles(const IpuModel& model, std::int64_t fragments) {
  return model.fragment_instructions * fragments;
}
/// Returns the cycles of a tile between the barrier and the end of its exchange, without the travel time of the last byte.
constexpr CycleCount tile_exchange_cycles(const IpuModel& model, const TileTraffic& tile) {
  return longer({payload_cycles(model, tile), model.exchange_bytes_per_cycle.confidence},
                {exchange_control_cycles(model, tile.fragments), model.fragment_instructions.confidence});
}

/// Returns the cycles of the barrier of all tiles.
constexpr CycleCount sync_cycles(const IpuModel& model) { return model.sync_cycles; }

/// Returns the cycles of a phase without its barrier: those of the slowest tile, and the assumed travel time between tiles. 0 if
/// nothing moves.
constexpr CycleCount exchange_cycles(const IpuModel& model, const CycleCount& slowest_tile) {
  return slowest_tile.cycles == 0 ? CycleCount() : slowest_tile + CycleCount(model.hop_cycles);
}
/// Returns the cycles of a phase with its barrier: sync + max over tiles of max(payload, control) + hop.
constexpr CycleCount exchange_phase_cycles(const IpuModel& model, Span<const TileTraffic> tiles) {
  CycleCount slowest;
  for (const TileTraffic& tile : tiles) slowest = longer(slowest, tile_exchange_cycles(model, tile));
  return sync_cycles(model) + exchange_cycles(model, slowest);
}

namespace detail {
/// Returns the path's cycles, and how many of them rest on guessed numbers.
constexpr CycleCount path_cycles(const OffChipPath& path, Span<const std::int64_t> transfers, std::int64_t clock_hz) {
  const std::int64_t all = path.cycles(transfers, clock_hz);
  if (all == 0) return {};
  const CycleCount begin = CycleCount(path.sync_cycles) + CycleCount(path.latency_cycles);
  return begin + CycleCount(all - begin.cycles, path.bytes_per_second.confidence);
}
}  // namespace detail

/// Returns the cycles of stream elements that are loaded or stored together: sync + latency + clock x bytes / bandwidth, with
/// 1,024-byte packets over 32 exchange blocks. Published: HostSliceTensor.cpp; the latency is assumed.
constexpr CycleCount host_cycles(const IpuModel& model, Span<const std::int64_t> transfers) {
  return detail::path_cycles(model.host, transfers, model.clock_hz);
}
/// Returns the cycles of rows of remote buffers, or code, that are loaded or stored together: sync + latency + clock x bytes /
/// bandwidth of the path to streaming memory. Assumed: 10 GB/s, and that loads and stores do not overlap.
constexpr CycleCount streaming_memory_cycles(const IpuModel& model, Span<const std::int64_t> transfers) {
  return detail::path_cycles(model.streaming_memory, transfers, model.clock_hz);
}

}  // namespace tilewright
