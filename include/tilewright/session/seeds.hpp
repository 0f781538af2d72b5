#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tilewright/core/memory/with_memory.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/philox.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/execute/memory_error.hpp"

namespace tilewright {

/// Splits a number into the two words of a seed for random ops, the most significant first. Throws std::out_of_range for a number
/// outside of 0 to 2^64 - 1.
template <std::integral T>
[[nodiscard]] constexpr std::array<std::uint32_t, 2> uint64_to_two_uint32(T number) {
  if (!std::in_range<std::uint64_t>(number))
    throw std::out_of_range("uint64_to_two_uint32: " + std::to_string(number) + ": a number of at least 0 expected");
  return {static_cast<std::uint32_t>(static_cast<std::uint64_t>(number) >> 32), static_cast<std::uint32_t>(number)};
}
/// Joins two words of a seed into a number, the most significant first. Throws std::out_of_range for words outside of 0 to 2^32 -
/// 1.
template <std::integral High, std::integral Low>
[[nodiscard]] constexpr std::uint64_t two_uint32_to_uint64(High high, Low low) {
  if (!std::in_range<std::uint32_t>(high) || !std::in_range<std::uint32_t>(low))
    throw std::out_of_range("two_uint32_to_uint64: " + std::to_string(high) + " and " + std::to_string(low) +
                            ": numbers from 0 to 4294967295 expected");
  return static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint64_t>(low);
}
[[nodiscard]] constexpr std::uint64_t two_uint32_to_uint64(const std::array<std::uint32_t, 2>& words) {
  return two_uint32_to_uint64(words[0], words[1]);
}

/// Options of create_seeds: the number of seeds, and which ones.
struct SeedOptions {
  std::uint64_t offset = 0;  ///< distinguishes sets of seeds, such as those of an epoch or of a process
  std::int64_t batches_per_step = 1;  ///< runs of the program
  std::int64_t replicas = 1;  ///< replicas of the program
  std::int64_t gradient_accumulation_factor = 1;  ///< micro-batches of a run
};
/// Returns seeds for random ops: [batches_per_step, gradient_accumulation_factor, replicas, 2]. All seeds differ; every call with
/// equal arguments returns equal seeds. No axis is omitted. Throws std::invalid_argument for a count below 1 and for more than
/// 2^32 seeds; MemoryError.
template <std::integral T>
inline xt::xtensor<std::uint32_t, 4> create_seeds(T seed, const SeedOptions& options = {}) {
  const std::uint64_t key = two_uint32_to_uint64(uint64_to_two_uint32(seed));  // which checks it
  std::array<std::size_t, 4> shape{0, 0, 0, 2};
  const Pair<const char*, std::int64_t> counts[] = {{"batches_per_step", options.batches_per_step},
                                                    {"gradient_accumulation_factor", options.gradient_accumulation_factor},
                                                    {"replicas", options.replicas}};
  for (std::size_t i = 0; i < 3; ++i) {
    if (counts[i].second < 1)
      throw std::invalid_argument(std::string("create_seeds: ") + counts[i].first + " " + std::to_string(counts[i].second) +
                                  ": at least 1 expected");
    shape[i] = static_cast<std::size_t>(counts[i].second);
  }
  const std::uint64_t count = detail::saturated_product({shape[0], shape[1], shape[2]});
  const std::string found = text(shape[0], " x ", shape[1], " x ", shape[2], " seeds").string();
  if (count > std::uint64_t{1} << 32) throw std::invalid_argument("create_seeds: " + found + ": at most 2^32 expected");
  const std::uint64_t bytes = 2 * sizeof(std::uint32_t) * count;
  auto seeds = detail::with_memory(
      bytes, [&] { return xt::xtensor<std::uint32_t, 4>::from_shape(shape); },
      [&] { return MemoryError(found.c_str(), static_cast<std::int64_t>(bytes)); });
  for (std::size_t i = 0; i < seeds.size() / 2; ++i) {
    const auto words = detail::host_seed(key, options.offset, static_cast<std::uint32_t>(i));
    seeds.data()[2 * i] = words[0];
    seeds.data()[2 * i + 1] = words[1];
  }
  return seeds;
}

}  // namespace tilewright
