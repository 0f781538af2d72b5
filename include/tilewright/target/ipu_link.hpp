#pragma once
#include <cstdint>
#include <numeric>

namespace tilewright {

/// The links of machines that run replicas, in a ring. Each machine has `links` links to the one before it and as many to the one
/// after it; all of them carry data at the same time, both ways.
struct IpuLink {
  std::int64_t bytes_per_second = 0;  ///< of one link, one way; 0: there are no links, as on the host, and no cycles are counted
  std::int64_t links = 1;  ///< to each neighbour
  std::int64_t sync_cycles = 0;  ///< of the barrier of all machines before data goes over links

  /// Cycles of a machine's clock for `bytes` bytes to a neighbour: sync + clock x bytes / (links x bandwidth).
  constexpr std::int64_t cycles(std::int64_t bytes, std::int64_t clock_hz) const {
    if (bytes_per_second == 0 || bytes == 0) return 0;
    const std::int64_t bandwidth = links * bytes_per_second;
    const std::int64_t divisor = std::gcd(clock_hz, bandwidth);  // so that products of large numbers stay small
    const std::int64_t cycles = clock_hz / divisor, for_bytes = bandwidth / divisor;
    return sync_cycles + (bytes * cycles + for_bytes - 1) / for_bytes;
  }
  constexpr bool operator==(const IpuLink&) const = default;
};

}  // namespace tilewright
