#pragma once
#include <cstdint>
#include <numeric>

#include "tilewright/core/figures/figure.hpp"

namespace tilewright {

/// Links of machines that run replicas, in a ladder of pairs. Each machine has `links` links to the previous one, and the same
/// number to the next one. All of them carry data in parallel, in both directions.
struct IpuLink {
  Figure bytes_per_second = 0;  ///< of one link, in one direction; 0: there are no links, and no cycles are counted
  Figure links = 1;  ///< to each neighbour
  Figure pair_links = 1;  ///< between the two machines of a pair
  Figure sync_cycles = 0;  ///< of the barrier of all machines before data goes over links
  Figure linked_ipus = 1;  ///< machines that links connect; more are connected by gateways
  Figure gateway_bytes_per_second = 0;  ///< of one machine, in one direction, to machines that no link reaches; 0: there are none

  /// Returns the cycles of a machine's clock for `bytes` bytes to a neighbour: sync + clock x bytes / (links x bandwidth).
  constexpr std::int64_t cycles(std::int64_t bytes, std::int64_t clock_hz) const { return cycles(bytes, clock_hz, links); }
  /// Returns the cycles of a machine's clock for `bytes` bytes to a neighbour over `over_links` links instead of all.
  constexpr std::int64_t cycles(std::int64_t bytes, std::int64_t clock_hz, std::int64_t over_links) const {
    if (bytes_per_second == 0 || bytes == 0) return 0;
    const std::int64_t bandwidth = over_links * bytes_per_second;
    const std::int64_t divisor = std::gcd(clock_hz, bandwidth);  // so that products of large numbers stay small
    const std::int64_t for_clock = clock_hz / divisor, for_bytes = bandwidth / divisor;
    return sync_cycles + (bytes * for_clock + for_bytes - 1) / for_bytes;
  }
};

}  // namespace tilewright
