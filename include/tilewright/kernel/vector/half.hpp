#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tilewright/kernel/mask.hpp"
#include "tilewright/kernel/vector/simd.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// Conversions of half precision, float16 and bfloat16, which are storage formats: kernels compute in float32. Reading an element
/// converts it to float, which is exact; writing rounds the result of an op once, to nearest, ties to even. A value that the next
/// op gets in registers is rounded in the same way (`rounded_to`). A program therefore gives equal bits with and without fusion,
/// in vectors and in single elements.
///
/// x86 converts vectors of float16 by F16C and AVX-512F, and 64-bit ARM by NEON. They neither flush nor ignore denormal halves;
/// elsewhere the compiler converts the elements. bfloat16 is the first half of a float: shifts and additions of integers convert
/// it.

template <class X>
concept FloatBatchLike = !std::is_arithmetic_v<X> && std::is_same_v<typename X::value_type, float>;

#if defined(__AVX512F__)
/// Converts 16 elements of 16 bits to floats.
template <class T>
[[gnu::always_inline]] inline __m512 widened(__m256i elements) {
  if constexpr (std::is_same_v<T, float16_t>) return _mm512_cvtph_ps(elements);
  else return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(elements), 16));
}
/// Returns floats whose first halves are the nearest bfloat16.
[[gnu::always_inline]] inline __m512i rounded_to_first_half(__m512 x) {
  const __m512i all = _mm512_castps_si512(x), odd = _mm512_and_si512(_mm512_srli_epi32(all, 16), _mm512_set1_epi32(1));
  const __m512i nearest = _mm512_add_epi32(_mm512_add_epi32(all, odd), _mm512_set1_epi32(0x7fff));
  const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(nearest, is_nan, all, _mm512_set1_epi32(0x400000));
}
/// Converts 16 floats to elements of 16 bits.
template <class T>
[[gnu::always_inline]] inline __m256i narrowed(__m512 x) {
  if constexpr (std::is_same_v<T, float16_t>) return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  else return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded_to_first_half(x), 16));
}
#endif
#if defined(__AVX2__)
/// Converts 8 elements of bfloat16 to floats.
template <class T>
[[gnu::always_inline]] inline __m256 widened(__m128i elements)
  requires(std::is_same_v<T, bfloat16_t>)
{
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(elements), 16));
}
[[gnu::always_inline]] inline __m256i rounded_to_first_half(__m256 x) {
  const __m256i all = _mm256_castps_si256(x), odd = _mm256_and_si256(_mm256_srli_epi32(all, 16), _mm256_set1_epi32(1));
  const __m256i nearest = _mm256_add_epi32(_mm256_add_epi32(all, odd), _mm256_set1_epi32(0x7fff));
  const __m256i quiet = _mm256_or_si256(all, _mm256_set1_epi32(0x400000));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(nearest, quiet, is_nan);
}
template <class T>
[[gnu::always_inline]] inline __m128i narrowed(__m256 x)
  requires(std::is_same_v<T, bfloat16_t>)
{
  const __m256i words = _mm256_srli_epi32(rounded_to_first_half(x), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}
#endif

/// Loads the elements from `data` on as a batch of floats.
template <FloatBatchLike Batch>
[[gnu::always_inline]] inline Batch load_floats(const float* data) {
  return Batch::load_unaligned(data);
}
template <FloatBatchLike Batch, class T>
  requires is_half_type<T>
[[gnu::always_inline]] inline Batch load_floats(const T* data) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Batch) == 64) return Batch(widened<T>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(data))));
#endif
#if defined(__AVX2__)
  if constexpr (std::is_same_v<T, bfloat16_t> && sizeof(Batch) == 32)
    return Batch(widened<T>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data))));
#endif
  if constexpr (std::is_same_v<T, float16_t>) {
#if defined(__F16C__)
    if constexpr (sizeof(Batch) == 32) return Batch(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data))));
    if constexpr (sizeof(Batch) == 16) return Batch(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(data))));
#endif
#if defined(__aarch64__)
    if constexpr (sizeof(Batch) == 16) {
      float16x4_t halves;
      std::memcpy(&halves, data, sizeof(halves));
      return Batch(vcvt_f32_f16(halves));
    }
#endif
  }
  alignas(Batch) float elements[Batch::size];
  for (std::size_t i = 0; i < Batch::size; ++i) elements[i] = static_cast<float>(data[i]);
  return Batch::load_aligned(elements);
}

/// Writes a batch of floats, or one, rounded to the type of the elements at `data`.
template <FloatBatchLike Batch>
[[gnu::always_inline]] inline void store_floats(float* data, const Batch& x) {
  x.store_unaligned(data);
}
template <class T, FloatBatchLike Batch>
  requires is_half_type<T>
[[gnu::always_inline]] inline void store_floats(T* data, const Batch& x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Batch) == 64) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(data), narrowed<T>(x));
#endif
#if defined(__AVX2__)
  if constexpr (std::is_same_v<T, bfloat16_t> && sizeof(Batch) == 32)
    return _mm_storeu_si128(reinterpret_cast<__m128i*>(data), narrowed<T>(x));
#endif
  if constexpr (std::is_same_v<T, float16_t>) {
#if defined(__F16C__)
    if constexpr (sizeof(Batch) == 32)
      return _mm_storeu_si128(reinterpret_cast<__m128i*>(data), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    if constexpr (sizeof(Batch) == 16)
      return _mm_storel_epi64(reinterpret_cast<__m128i*>(data), _mm_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
#endif
#if defined(__aarch64__)
    if constexpr (sizeof(Batch) == 16) {
      const float16x4_t halves = vcvt_f16_f32(x);
      std::memcpy(data, &halves, sizeof(halves));
      return;
    }
#endif
  }
  alignas(Batch) float elements[Batch::size];
  x.store_aligned(elements);
  for (std::size_t i = 0; i < Batch::size; ++i) data[i] = static_cast<T>(elements[i]);
}

/// Loads the first `count` elements from `data` on, and sets the other elements of the batch to `rest`. Reads no other memory.
template <FloatBatchLike Batch, std::int64_t count, class T>
  requires is_half_type<T>
[[gnu::always_inline]] inline Batch load_first_floats(const T* data, float rest = 0) {
  constexpr auto size = static_cast<std::int64_t>(Batch::size);
  static_assert(0 < count && count < size);
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if constexpr (size == 16) {
    const __m256i others = _mm256_set1_epi16(std::bit_cast<short>(static_cast<T>(rest)));
    return Batch(widened<T>(_mm256_mask_loadu_epi16(others, static_cast<__mmask16>((1u << count) - 1), data)));
  }
#endif
  T elements[Batch::size];
  std::memcpy(elements, data, count * sizeof(T));
  for (std::int64_t i = count; i < size; ++i) elements[i] = static_cast<T>(rest);
  return load_floats<Batch>(elements);
}
/// Writes the first `count` elements of a batch.
template <std::int64_t count, class T, FloatBatchLike Batch>
  requires is_half_type<T>
[[gnu::always_inline]] inline void store_first_floats(T* data, const Batch& x) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if constexpr (Batch::size == 16)
    return _mm256_mask_storeu_epi16(data, static_cast<__mmask16>((1u << count) - 1), narrowed<T>(x));
#endif
  T elements[Batch::size];
  store_floats(elements, x);
  std::memcpy(data, elements, count * sizeof(T));
}

/// Rounds a number, a batch of floats or a mask to an element of type T and back, as a write and a read would.
template <class T, class X>
[[gnu::always_inline]] inline auto rounded_to(const X& x) {
  if constexpr (std::is_arithmetic_v<X>) {
    return static_cast<compute_t<T>>(static_cast<T>(x));
  } else if constexpr (is_mask<X> || std::is_same_v<T, bool>) {
    return as_element<T>(x);
  } else if constexpr (std::is_same_v<T, float16_t>) {
#if defined(__AVX512F__)
    if constexpr (sizeof(X) == 64) return X(_mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
#endif
#if defined(__F16C__)
    if constexpr (sizeof(X) == 32) return X(_mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)));
    if constexpr (sizeof(X) == 16) return X(_mm_cvtph_ps(_mm_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)));
#endif
#if defined(__aarch64__)
    if constexpr (sizeof(X) == 16) return X(vcvt_f32_f16(vcvt_f16_f32(x)));
#endif
    T elements[X::size];
    store_floats(elements, x);
    return load_floats<X>(elements);
  } else if constexpr (std::is_same_v<T, bfloat16_t>) {
#if defined(__AVX512F__)
    if constexpr (sizeof(X) == 64)
      return X(_mm512_castsi512_ps(_mm512_and_si512(rounded_to_first_half(x), _mm512_set1_epi32(-0x10000))));
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(X) == 32)
      return X(_mm256_castsi256_ps(_mm256_and_si256(rounded_to_first_half(x), _mm256_set1_epi32(-0x10000))));
#endif
    T elements[X::size];
    store_floats(elements, x);
    return load_floats<X>(elements);
  } else {
    return x;
  }
}

}  // namespace tilewright::kernel
