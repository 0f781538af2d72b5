#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tilewright/core/philox.hpp"
#include "tilewright/kernel/vector/lanes.hpp"

namespace tilewright::kernel {

/// A group of random words: those of 16 neighbouring counters. Word w of the group's counter c is the word w * 16 + c of the
/// group. Vectors of up to 16 lanes, with one counter in each, therefore compute contiguous words.
inline constexpr std::int64_t group_counters = 16, group_words = 64;

/// Vectors of numbers that are made from words. Pairs of counters need several lanes, even if the machine has no vectors.
using RandomLanes = std::conditional_t<(lanes >= 4), Lanes, simd::make_sized_batch_t<float, 4>>;
inline constexpr std::int64_t random_lanes = RandomLanes::size;
static_assert(random_lanes <= group_counters);

/// The integers in such a vector, of the compiler's own types: they have the operators of integers.
template <std::size_t bytes>
struct IntegerVectors {
  typedef std::uint64_t Wide __attribute__((vector_size(bytes)));
  typedef std::uint32_t Words __attribute__((vector_size(bytes)));
  typedef std::int32_t Signed __attribute__((vector_size(bytes)));
  typedef float Floats __attribute__((vector_size(bytes)));
};
using WideVector = IntegerVectors<sizeof(RandomLanes)>::Wide;
using WordVector = IntegerVectors<sizeof(RandomLanes)>::Words;
using SignedVector = IntegerVectors<sizeof(RandomLanes)>::Signed;
using FloatVector = IntegerVectors<sizeof(RandomLanes)>::Floats;

/// Returns the products of the low halves of 64-bit lanes.
template <class V>
[[gnu::always_inline]] inline V multiply_low_halves(const V& a, const V& b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return std::bit_cast<V>(_mm512_mul_epu32(std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return std::bit_cast<V>(_mm256_mul_epu32(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(V) == 16) return std::bit_cast<V>(_mm_mul_epu32(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
#endif
#if defined(__aarch64__)
  if constexpr (sizeof(V) == 16)
    return std::bit_cast<V>(vmull_u32(vmovn_u64(std::bit_cast<uint64x2_t>(a)), vmovn_u64(std::bit_cast<uint64x2_t>(b))));
#endif
  constexpr std::uint64_t low_half = 0xffffffff;
  return (a & low_half) * (b & low_half);
}

/// Philox in vectors: the words of a group, `random_lanes` counters at a time. V is a vector of 64-bit lanes.
///
/// A state has a counter in each 64-bit lane, with its words in the low halves of four vectors. High halves hold remains of
/// products: the factors of the next products are low halves only. Counters of even and of odd number are a state each; their
/// words are combined at the end, and the processor works on both states at a time.
template <class V>
class PhiloxVectors {
 public:
  explicit PhiloxVectors(PhiloxKey key) {
    for (auto& round : keys_) {
      round[0] = V{} + key[0];
      round[1] = V{} + key[1];
      key = {key[0] + detail::philox_steps[0], key[1] + detail::philox_steps[1]};
    }
  }
  /// Calls f(words, offset in a row of 16 of the group) with four vectors, word w of `random_lanes` counters in the w-th.
  template <class F>
  [[gnu::always_inline]] void for_each_block(std::uint64_t group, F&& f) const {
    for (std::int64_t offset = 0; offset < group_counters; offset += random_lanes) {
      WordVector words[4];
      block(group * group_counters + static_cast<std::uint64_t>(offset), words);
      f(words, offset);
    }
  }

 private:
  [[gnu::always_inline]] void block(std::uint64_t first, WordVector (&words)[4]) const {
    static constexpr std::array<std::uint64_t, sizeof(V) / 8> even_lanes = [] {
      std::array<std::uint64_t, sizeof(V) / 8> result{};
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = 2 * i;
      return result;
    }();
    const V even_counter = std::bit_cast<V>(even_lanes) + first, odd_counter = even_counter + 1;
    V even[4] = {even_counter, even_counter >> 32}, odd[4] = {odd_counter, odd_counter >> 32};
    unrolled<detail::philox_rounds>([&](auto round) __attribute__((always_inline)) {
      run_round(even, keys_[round.value]);
      run_round(odd, keys_[round.value]);
    });
    constexpr std::uint64_t low_half = 0xffffffff;
    for (int w = 0; w < 4; ++w) words[w] = std::bit_cast<WordVector>(V((even[w] & low_half) | (odd[w] << 32)));
  }
  [[gnu::always_inline]] static void run_round(V (&state)[4], const V (&key)[2]) {
    const V a = multiply_low_halves(state[0], V{} + detail::philox_factors[0]);
    const V b = multiply_low_halves(state[2], V{} + detail::philox_factors[1]);
    state[0] = (b >> 32) ^ state[1] ^ key[0];
    state[1] = b;
    state[2] = (a >> 32) ^ state[3] ^ key[1];
    state[3] = a;
  }

  V keys_[detail::philox_rounds][2];
};

}  // namespace tilewright::kernel
