#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/math.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// Bools in vectors: a bool is a lane of a mask, like the result of a comparison of batches, and a byte only in memory. A formula
/// with bools uses the functions below, and `&`, `|` and `!`, which accept bools and masks.

/// Load the bools from `data` on as a mask, and store a mask as bools.
template <class Mask>
[[gnu::always_inline]] inline Mask load_mask(const bool* data) {
  using Batch = typename Mask::batch_type;
#if defined(__AVX512F__)
  if constexpr (sizeof(Batch) == 64) {
    const __m512i words = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data)));
    return Mask(_mm512_test_epi32_mask(words, words));
  }
#endif
#if defined(__AVX2__) && !defined(__AVX512VL__)
  if constexpr (sizeof(Batch) == 32) {
    const __m256i words = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(data)));
    return Mask(_mm256_castsi256_ps(_mm256_cmpgt_epi32(words, _mm256_setzero_si256())));
  }
#endif
  alignas(Batch) float elements[Batch::size];
  for (std::size_t i = 0; i < Batch::size; ++i) elements[i] = data[i] ? 1.f : 0.f;
  return Batch::load_aligned(elements) > Batch(0.f);
}
template <class Mask>
[[gnu::always_inline]] inline void store_mask(bool* data, const Mask& mask) {
  using Batch = typename Mask::batch_type;
#if defined(__AVX512F__)
  if constexpr (sizeof(Batch) == 64)
    return _mm_storeu_si128(reinterpret_cast<__m128i*>(data), _mm512_cvtepi32_epi8(_mm512_maskz_set1_epi32(mask, 1)));
#endif
#if defined(__AVX2__) && !defined(__AVX512VL__)
  if constexpr (sizeof(Batch) == 32) {
    const __m256i words = _mm256_srli_epi32(_mm256_castps_si256(mask), 31);
    const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    return _mm_storel_epi64(reinterpret_cast<__m128i*>(data), _mm_packs_epi16(halves, halves));
  }
#endif
  alignas(Batch) float elements[Batch::size];
  simd::select(mask, Batch(1.f), Batch(0.f)).store_aligned(elements);
  for (std::size_t i = 0; i < Batch::size; ++i) data[i] = elements[i] != 0;
}

/// Contiguous bools as a line of masks (kernel/vector/line.hpp has those of numbers).
struct MaskLine {
  using Batch = simd::batch<float>;
  using Mask = typename Batch::batch_bool_type;
  static constexpr auto width = static_cast<std::int64_t>(Batch::size);

  bool* data;

  template <std::int64_t count = width>
  Mask load(std::int64_t k) const {
    if constexpr (count == width) return load_mask<Mask>(data + k);
    bool elements[static_cast<std::size_t>(width)]{};
    for (std::int64_t i = 0; i < count; ++i) elements[i] = data[k + i];
    return load_mask<Mask>(elements);
  }
  template <std::int64_t count = width>
  void store(std::int64_t k, const Mask& mask) const {
    if constexpr (count == width) return store_mask(data + k, mask);
    bool elements[static_cast<std::size_t>(width)];
    store_mask(elements, mask);
    for (std::int64_t i = 0; i < count; ++i) data[k + i] = elements[i];
  }
};
/// One bool as a line of any length.
struct BroadcastMask {
  bool value;
  template <std::int64_t = 0>
  typename MaskLine::Mask load(std::int64_t) const {
    return typename MaskLine::Mask(value);
  }
};

/// Converts the result of a formula to the form that is stored as elements of type T: a mask for bools, and 0 or 1 for numbers.
template <class T, class X>
[[gnu::always_inline]] inline auto as_element(const X& x) {
  if constexpr (std::is_arithmetic_v<X>) {
    return static_cast<compute_t<T>>(x);
  } else if constexpr (std::is_same_v<T, bool>) {
    if constexpr (is_mask<X>) return x;
    else return math::not_equal(x, X(0));
  } else {
    if constexpr (is_mask<X>) return math::select(x, typename X::batch_type(1), typename X::batch_type(0));
    else return x;
  }
}

}  // namespace tilewright::kernel
