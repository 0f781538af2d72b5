#pragma once
#include <cstddef>
#include <cstdint>

#include "tilewright/kernel/copy/copy.hpp"
#include "tilewright/kernel/elementwise_loops.hpp"
#include "tilewright/operand/view.hpp"
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace tilewright::kernel {

/// Smallest extent in bytes of a copy's result in memory for stores that bypass the caches. A store into the caches first reads
/// its line from memory, unless it is cached; after a store that bypasses them, the next reader reads it from memory. Measured on
/// Zen 4 for a copy followed by a sum of its result, as time with bypass divided by time without. For 4 MB, the ratio is 0.7 if
/// the memory was not cached before, and 1.2 if the last level had it. For 2 MB, it is 1.04 and 1.6. concat, split and slice of
/// ./dev bench ops have such copies.
inline constexpr std::int64_t streamed_bytes = std::int64_t{4} << 20;
/// A vertex that writes fewer bytes uses the caches, because bypassing requires a wait at the end until all its stores are done.
inline constexpr std::int64_t streamed_vertex_bytes = std::int64_t{64} << 10;

#ifdef __SSE2__
/// Stores a whole cache line and bypasses the caches, with the longest vectors of the machine: on Zen 4, a line in four parts
/// takes up to twice as long.
[[gnu::always_inline]] inline void stream_line(char* to, const char* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX__)
  for (std::size_t i = 0; i < line_bytes; i += sizeof(__m256i))
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
#else
  for (std::size_t i = 0; i < line_bytes; i += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
#endif
}
/// Prefetches the cache line a page of 4 KB after an address. Processors prefetch by themselves, but only to the end of a page.
[[gnu::always_inline]] inline void fetch_next_page(const char* data) {
  _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(data) + 4096), _MM_HINT_T0);
}
#endif

/// Copies `from` to `to`, broadcast to its shape, bypassing the caches, if the processor is an x86-64, all runs of `to` are whole
/// cache lines, and it is not a transposed matrix; otherwise like copy_elements.
template <class To, class From>
inline void stream_elements(To to, From from) {
#ifdef __SSE2__
  static_assert(To::spec.dtype == From::spec.dtype);
  using T = typename To::element;
  static constexpr auto loops = elementwise_loops<2>({To::spec, From::spec});
  constexpr std::int64_t size = sizeof(T), line = line_bytes, step = loops.run_strides[1];
  constexpr bool whole_lines = [] {
    bool result = loops.run_strides[0] == 1 && loops.run * size % line == 0 && !is_transposed<T>(loops);
    for (int axis = 0; axis < loops.outer.rank; ++axis)
      result = result && loops.strides[0][static_cast<std::size_t>(axis)] * size % line == 0;
    return result;
  }();
  if constexpr (whole_lines) {
    if (reinterpret_cast<std::uintptr_t>(to.data) % line_bytes == 0) {
      for_each_offset<2>(loops.outer, loops.strides, [&](const auto& at) {
        auto* const target = reinterpret_cast<char*>(to.data + at[0]);
        const T* const source = from.data + at[1];
        if constexpr (step == 1) {
          const auto* const bytes = reinterpret_cast<const char*>(source);
          for (std::int64_t i = 0; i < loops.run * size; i += line) {
            fetch_next_page(bytes + i);
            stream_line(target + i, bytes + i);
          }
        } else {
          for (std::int64_t k = 0; k < loops.run; k += line / size) {
            alignas(line) T gathered[line / size];
            for (std::int64_t i = 0; i < line / size; ++i) gathered[i] = source[(k + i) * step];
            stream_line(target + k * size, reinterpret_cast<const char*>(gathered));
          }
        }
      });
      _mm_sfence();  // other threads' barrier does not order these stores
      return;
    }
  }
#endif
  copy_elements(to, from);
}

}  // namespace tilewright::kernel
