#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tilewright/core/figures/figure.hpp"
#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"

namespace tilewright {

/// The path between a machine and its host or its streaming memory: exchange blocks that work in parallel. The blocks take
/// packets of data in turn, so the time of a transfer is that of the block with most bytes.
struct OffChipPath {
  Figure bytes_per_second = 0;  ///< of all blocks, in each direction; 0: there is no such path, and transfers cost nothing
  Figure sync_cycles = 0;  ///< of the barrier of tiles and exchange blocks before a transfer
  Figure latency_cycles = 0;  ///< from the barrier to the first byte
  Figure exchange_blocks = 1;
  Figure packet_bytes = 1;

  /// Returns the cycles of a machine's clock for one transfer of `bytes` bytes, or for several parallel transfers: sync + latency
  /// + clock x (bytes of the fullest block / (bandwidth / blocks)). 0 for no bytes.
  constexpr std::int64_t cycles(std::int64_t bytes, std::int64_t clock_hz) const {
    return cycles(Span<const std::int64_t>(&bytes, 1), clock_hz);
  }
  constexpr std::int64_t cycles(Span<const std::int64_t> transfers, std::int64_t clock_hz) const {
    if (bytes_per_second == 0) return 0;
    const std::int64_t fullest = fullest_block(transfers);
    if (fullest == 0) return 0;
    const std::int64_t divisor = std::gcd(clock_hz, bytes_per_second.value);  // so that products of large numbers stay small
    const std::int64_t for_clock = clock_hz / divisor, for_bytes = bytes_per_second / divisor;
    return sync_cycles + latency_cycles + (fullest * exchange_blocks * for_clock + for_bytes - 1) / for_bytes;
  }

 private:
  /// Returns the bytes of the fullest block. The blocks take full packets in turn; then the rest of each transfer, the largest
  /// first, goes to the block with the fewest bytes.
  constexpr std::int64_t fullest_block(Span<const std::int64_t> transfers) const {
    std::int64_t packets = 0;
    List<std::int64_t> rests;
    for (const std::int64_t bytes : transfers) {
      packets += bytes / packet_bytes;
      if (bytes % packet_bytes > 0) rests.push_back(bytes % packet_bytes);
    }
    sort_items(rests, [](std::int64_t a, std::int64_t b) { return a > b; });
    const std::int64_t all_have = packets / exchange_blocks * packet_bytes;
    List<std::int64_t> more(static_cast<std::size_t>(packets % exchange_blocks),
                            packet_bytes);  // by block: bytes beyond all_have; blocks after the last entry have none
    for (const std::int64_t rest : rests) {
      if (static_cast<std::int64_t>(more.size()) < exchange_blocks) more.push_back(rest);
      else *std::min_element(more.begin(), more.end()) += rest;
    }
    return all_have + (more.empty() ? 0 : *std::max_element(more.begin(), more.end()));
  }
};

}  // namespace tilewright
