#pragma once
#include <array>
#include <cstdint>

namespace tilewright {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

namespace detail {
/// Constants of Philox 4x32: factors of words 0 and 2, and the increments of the key's words after a round.
inline constexpr std::uint64_t philox_factors[] = {0xd2511f53, 0xcd9e8d57};
inline constexpr std::uint32_t philox_steps[] = {0x9e3779b9, 0xbb67ae85};
inline constexpr int philox_rounds = 10;

/// Use of words 2 and 3 of a counter. Counters of different uses are disjoint, so their random numbers are independent.
enum class PhiloxUse : std::uint32_t {
  numbers,      ///< words 0 and 1 number the blocks of a tensor's elements; words 2 and 3 are 0
  child_seeds,  ///< words 0 and 1 are the modifier; word 2 is 0, word 3 is this value
  host_seeds,  ///< word 0 is the seed's index, words 1 and 2 are the offset; word 3 is this value
  text_crops,  ///< word 0 is the row of a batch, words 1 and 2 are the step; word 3 is this value
  /// words 0 and 1 are the lower words of sample and epoch, word 2 has 16 higher bits of each; word 3 is this value
  sample_seeds
};
}  // namespace detail

/// Returns four random words from a counter and a key: Philox 4x32-10 ("Parallel random numbers: as easy as 1, 2, 3", SC 2011).
/// For one key, different counters give different results. Calls do not depend on each other.
constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < detail::philox_rounds; ++round) {
    const std::uint64_t a = detail::philox_factors[0] * counter[0], b = detail::philox_factors[1] * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + detail::philox_steps[0], key[1] + detail::philox_steps[1]};
  }
  return counter;
}

namespace detail {
/// Returns seed number `index` of those that create_seeds makes with an offset.
constexpr PhiloxKey host_seed(std::uint64_t seed, std::uint64_t offset, std::uint32_t index) {
  const PhiloxCounter counter{index, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32),
                              static_cast<std::uint32_t>(PhiloxUse::host_seeds)};
  const PhiloxCounter words = philox(counter, {static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)});
  return {words[0], words[1]};
}
}  // namespace detail

}  // namespace tilewright
