#pragma once
#include <cstdint>
#include <cstring>

#include "tilewright/kernel/copy/transpose.hpp"
#include "tilewright/kernel/vector/half.hpp"
#include "tilewright/kernel/vector/simd.hpp"
#include "tilewright/operand/blocks.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// The `count` floats from data on, and zeros after them; no other memory is read.
template <std::int64_t count>
[[gnu::always_inline]] inline FloatBatch load_first(const float* data) {
  if constexpr (count >= float_width) {
    return FloatBatch::load_unaligned(data);
  } else {
#if defined(__AVX512F__)
    if constexpr (float_width == 16) return FloatBatch(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), data));
#endif
#if defined(__AVX2__)
    if constexpr (float_width == 8) {
      const auto mask = [](int lane) { return lane < count ? -1 : 0; };
      return FloatBatch(
          _mm256_maskload_ps(data, _mm256_setr_epi32(mask(0), mask(1), mask(2), mask(3), mask(4), mask(5), mask(6), mask(7))));
    }
#endif
    alignas(line_bytes) float padded[float_width] = {};
    std::memcpy(padded, data, count * sizeof(float));
    return FloatBatch::load_aligned(padded);
  }
}

/// Converts the `count` numbers of half precision from data on to floats, with zeros after them; no other memory is read.
template <std::int64_t count, class T>
  requires is_half_type<T>
[[gnu::always_inline]] inline FloatBatch load_first(const T* data) {
  if constexpr (count >= float_width) return load_floats<FloatBatch>(data);
  else return load_first_floats<FloatBatch, count>(data);
}

/// Element j of the result is the sum of the elements of vectors[j]; vectors is overwritten.
template <int step = 0>
[[gnu::always_inline]] inline FloatBatch sums_of(FloatBatch (&vectors)[FloatBatch::size]) {
  if constexpr (step == transpose_steps) {
    return vectors[0];
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < float_width >> (step + 1); ++i)
      vectors[i] = transpose_step<step, 0>(vectors[2 * i], vectors[2 * i + 1]) +
                   transpose_step<step, 1>(vectors[2 * i], vectors[2 * i + 1]);
    return sums_of<step + 1>(vectors);
  }
}

}  // namespace tilewright::kernel
