#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tilewright/kernel/blocks.hpp"
#include "tilewright/kernel/half.hpp"
#include "tilewright/kernel/view.hpp"
#include "tilewright/kernel/xsimd.hpp"

namespace tilewright::detail {

using FloatBatch = xsimd::batch<float>;
inline constexpr std::int64_t float_width = FloatBatch::size;

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

/// The same of half precision.
template <std::int64_t count, class T>
  requires is_half_type<T>
[[gnu::always_inline]] inline FloatBatch load_first(const T* data) {
  if constexpr (count >= float_width) return load_floats<FloatBatch>(data);
  else return load_first_floats<FloatBatch, count>(data);
}

/// The vector whose element e is element Pick()(e) of x and y one after the other. (xsimd has no shuffle of two vectors in all
/// its versions; both compilers have this one.)
template <class Pick, std::size_t... e>
[[gnu::always_inline]] inline FloatBatch shuffled(const FloatBatch& x, const FloatBatch& y, std::index_sequence<e...>) {
  using Register = FloatBatch::register_type;
  return FloatBatch(__builtin_shufflevector(static_cast<Register>(x), static_cast<Register>(y), Pick()(static_cast<int>(e))...));
}
template <class Pick>
[[gnu::always_inline]] inline FloatBatch shuffled(const FloatBatch& x, const FloatBatch& y) {
  return shuffled<Pick>(x, y, std::make_index_sequence<FloatBatch::size>());
}
/// Patterns that are one instruction each, with lanes of four floats. Of x0 x1 x2 x3 and y0 y1 y2 y3 in each lane:
/// x0 y0 x1 y1 or x2 y2 x3 y3.
template <int half>
struct InterleaveElements {
  constexpr int operator()(int e) const { return e / 4 * 4 + e % 4 / 2 + 2 * half + e % 2 * static_cast<int>(float_width); }
};
/// x0 x1 y0 y1 or x2 x3 y2 y3.
template <int half>
struct InterleavePairs {
  constexpr int operator()(int e) const { return e / 4 * 4 + e % 2 + 2 * half + e % 4 / 2 * static_cast<int>(float_width); }
};
/// The even or the odd lanes of x and y.
template <int odd>
struct AlternateLanes {
  constexpr int operator()(int e) const { return (e / 4 * 2 + odd) * 4 + e % 4; }
};

/// The shuffles of step `step` on a pair of vectors, on the way from one vector a row to one vector a column.
template <int step, int half>
[[gnu::always_inline]] inline FloatBatch transpose_step(const FloatBatch& x, const FloatBatch& y) {
  if constexpr (step == 0) return shuffled<InterleaveElements<half>>(x, y);
  else if constexpr (step == 1) return shuffled<InterleavePairs<half>>(x, y);
  else return shuffled<AlternateLanes<half>>(x, y);
}
inline constexpr int transpose_steps = float_width == 16 ? 4 : float_width == 8 ? 3 : 2;

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

/// Transposes a square of one vector a row.
template <int step = 0>
[[gnu::always_inline]] inline void transpose(FloatBatch (&rows)[FloatBatch::size]) {
  if constexpr (step == transpose_steps) {
    // Within lanes, the first step chose bit 1 of the column and the second bit 0.
    for (int lane = 0; lane < float_width; lane += 4) std::swap(rows[lane + 1], rows[lane + 2]);
  } else {
    // A pair is two rows with numbers that differ in bit `step`. Afterwards this bit tells the half that the shuffle took.
#pragma GCC unroll 16
    for (int i = 0; i < float_width; ++i) {
      if (i & (1 << step)) continue;
      const FloatBatch x = rows[i], y = rows[i + (1 << step)];
      rows[i] = transpose_step<step, 0>(x, y);
      rows[i + (1 << step)] = transpose_step<step, 1>(x, y);
    }
    transpose<step + 1>(rows);
  }
}

}  // namespace tilewright::detail
