#pragma once
#include <cstdint>
#include <numeric>

namespace tilewright {

/// The links between machines that run replicas: each has some to the one before it and as many to the one after it, and both
/// ways of all of them work at a time.
struct IpuLink {
  std::int64_t bytes_per_second = 0;  ///< of one link, one way; 0: there are none, as on the host, and nothing is counted
  std::int64_t links = 1;             ///< to each neighbour
  std::int64_t sync_cycles = 0;       ///< machines wait for each other before they exchange data

  /// Cycles of a machine's clock for so many bytes to a neighbour: sync + clock x bytes / (links x bandwidth).
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
