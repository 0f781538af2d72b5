#pragma once
#include <cstdint>

#include "tilewright/core/random/random.hpp"

namespace tilewright::data {

/// Returns a uniform number in [0, bound), without bias: redraws the first 2^64 mod bound of the 2^64 values of bits(), so that
/// every remainder is equally frequent. (std::uniform_int_distribution and std::shuffle differ between standard libraries.)
constexpr std::uint64_t draw_below(std::uint64_t bound, Random& random) {
  const std::uint64_t first_accepted = (0 - bound) % bound;
  std::uint64_t bits = random.bits();
  while (bits < first_accepted) bits = random.bits();
  return bits % bound;
}

}  // namespace tilewright::data
