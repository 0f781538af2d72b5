#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

namespace tilewright {

/// The way between a machine and the streaming memory beside it: DRAM behind exchange blocks, which all work at a time. Data goes
/// in packets, which the blocks take in turn, so that the block with most packets says how long a transfer takes.
struct StreamingMemory {
  std::int64_t bytes_per_second = 0;  ///< each way; 0: there is none, as on the host, and transfers cost nothing
  std::int64_t sync_cycles = 0;  ///< tiles and exchange blocks wait for each other before a transfer
  std::int64_t exchange_blocks = 1;
  std::int64_t packet_bytes = 1;

  /// Cycles of a machine's clock for one transfer: sync + clock x (bytes of the fullest block / (bandwidth / blocks)).
  constexpr std::int64_t cycles(std::int64_t bytes, std::int64_t clock_hz) const {
    if (bytes_per_second == 0 || bytes == 0) return 0;
    const std::int64_t round = exchange_blocks * packet_bytes;
    const std::int64_t fullest = bytes / round * packet_bytes + std::min(bytes % round, packet_bytes);
    const std::int64_t divisor = std::gcd(clock_hz, bytes_per_second);  // so that products of large numbers stay small
    const std::int64_t cycles = clock_hz / divisor, for_bytes = bytes_per_second / divisor;
    return sync_cycles + (fullest * exchange_blocks * cycles + for_bytes - 1) / for_bytes;
  }
  constexpr bool operator==(const StreamingMemory&) const = default;
};

}  // namespace tilewright
