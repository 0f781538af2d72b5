#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "tilewright/target/cycle_count.hpp"
#include "tilewright/target/ipu_model.hpp"

// Cycles of what moves between tiles, and between tiles and what is outside of the chip.

namespace tilewright {

/// What one tile has in one phase of the exchange.
struct TileTraffic {
  std::int64_t in = 0;         ///< bytes that it receives
  std::int64_t out = 0;        ///< bytes that it sends; those that several tiles receive count once
  std::int64_t fragments = 0;  ///< contiguous pieces, received and sent
  /// Whether its neighbour on the same bus receives the same bytes: a broadcast to all tiles of an even run, or to all receivers.
  bool shares_bus = false;
};

/// Cycles of a tile's bytes: max(ceil(in / B), ceil(out / B)), B being 4 bytes a cycle, and twice that for what both tiles of a
/// bus receive. Published: popops' and poplin's ExchangeEstimator.
constexpr std::int64_t payload_cycles(const IpuModel& model, const TileTraffic& tile) {
  const std::int64_t bandwidth = model.exchange_bytes_per_cycle;
  const std::int64_t in_bandwidth = bandwidth * (tile.shares_bus ? model.tiles_per_exchange_bus.value : 1);
  return std::max(ceil_divide(tile.in, in_bandwidth), ceil_divide(tile.out, bandwidth));
}
/// Cycles of the instructions that steer a tile's exchange: 3 for each fragment, while others' bytes are on their way. Published:
/// a third party's measurements.
constexpr std::int64_t exchange_control_cycles(const IpuModel& model, std::int64_t fragments) {
  return model.fragment_instructions * fragments;
}
/// Cycles of a tile between the barrier and the end of its exchange, without the way of the last byte.
constexpr CycleCount tile_exchange_cycles(const IpuModel& model, const TileTraffic& tile) {
  return longer({payload_cycles(model, tile), model.exchange_bytes_per_cycle.confidence},
                {exchange_control_cycles(model, tile.fragments), model.fragment_instructions.confidence});
}

/// The barrier of all tiles.
constexpr CycleCount sync_cycles(const IpuModel& model) { return model.sync_cycles; }

/// A phase without its barrier: that of the slowest tile, and the way between tiles, whose length is assumed. 0 if nothing moves.
constexpr CycleCount exchange_cycles(const IpuModel& model, const CycleCount& slowest_tile) {
  return slowest_tile.cycles == 0 ? CycleCount() : slowest_tile + CycleCount(model.hop_cycles);
}
/// A phase with its barrier: sync + max over tiles of max(payload, control) + hop.
constexpr CycleCount exchange_phase_cycles(const IpuModel& model, std::span<const TileTraffic> tiles) {
  CycleCount slowest;
  for (const TileTraffic& tile : tiles) slowest = longer(slowest, tile_exchange_cycles(model, tile));
  return sync_cycles(model) + exchange_cycles(model, slowest);
}

namespace detail {
/// The path's cycles, of which those of each guessed number are assumed.
constexpr CycleCount path_cycles(const OffChipPath& path, std::span<const std::int64_t> transfers, std::int64_t clock_hz) {
  const std::int64_t all = path.cycles(transfers, clock_hz);
  if (all == 0) return {};
  const CycleCount begin = CycleCount(path.sync_cycles) + CycleCount(path.latency_cycles);
  return begin + CycleCount(all - begin.cycles, path.bytes_per_second.confidence);
}
}  // namespace detail

/// Elements of streams that are loaded or stored together: sync + latency + clock x bytes / bandwidth, with 1,024-byte packets
/// over 32 exchange blocks. Published: HostSliceTensor.cpp; the latency is assumed.
constexpr CycleCount host_cycles(const IpuModel& model, std::span<const std::int64_t> transfers) {
  return detail::path_cycles(model.host, transfers, model.clock_hz);
}
/// Rows of remote buffers, or code, loaded or stored together: the same over the path to streaming memory. Assumed: 10 GB/s, and
/// that loads and stores do not overlap.
constexpr CycleCount streaming_memory_cycles(const IpuModel& model, std::span<const std::int64_t> transfers) {
  return detail::path_cycles(model.streaming_memory, transfers, model.clock_hz);
}

}  // namespace tilewright
