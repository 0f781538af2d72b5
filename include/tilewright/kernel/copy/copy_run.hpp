#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tilewright/kernel/vector/simd.hpp"

namespace tilewright::kernel {

/// Copies `count` elements without changing bits, even those of NaNs. Up to 4 KB are copied here, alternating a load and a store
/// of at most 32 bytes. For 1 to 2 KB that are in no cache, glibc 2.36's memcpy takes up to twice as long on Zen 4, and several
/// loads before their stores take a third longer.
template <std::int64_t count, class T>
[[gnu::always_inline]] inline void copy_run(T* to, const T* from) {
  constexpr std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  constexpr std::size_t step = std::min<std::size_t>(simd::batch<std::uint8_t>::size, 32);
  using Block [[gnu::vector_size(step)]] = unsigned char;
  if constexpr (bytes < 2 * step || bytes > 4096) {
    std::memcpy(to, from, bytes);
  } else {
    auto* target = reinterpret_cast<std::byte*>(to);
    const auto* const source = reinterpret_cast<const std::byte*>(from);
    const auto copy = [&](std::size_t at) __attribute__((always_inline)) {
      Block block;
      std::memcpy(&block, source + at, step);
      std::memcpy(target + at, &block, step);
    };
    for (std::size_t at = 0; at + step <= bytes; at += step) {
      asm("" : "+r"(target));  // else compilers make a call of memcpy of the loop
      copy(at);
    }
    if constexpr (bytes % step != 0) copy(bytes - step);
  }
}

}  // namespace tilewright::kernel
