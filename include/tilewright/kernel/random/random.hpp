#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/elementwise.hpp"
#include "tilewright/kernel/random/random_words.hpp"

namespace tilewright::kernel {

/// Random numbers of elements, as functions of a seed and the element's position. The numbers of a group of random words are
/// computed together, in vectors; an element uses its own. A number of float32 uses the word at its position. A number of float64
/// uses two words: if its position is in the k-th run of 16 positions of the group, the words are in the runs 2 k and 2 k + 1.
///
/// The bits are equal on every machine with a fused multiply-add, whatever its vectors. All operations are conversions, sums,
/// products, quotients and square roots, each rounded once by IEEE 754. No product is added except by `fma`, because a compiler
/// may contract other sums of products.

/// Numbers in a group of random words, for elements that are computed in T.
template <class T>
inline constexpr std::int64_t numbers_in_group = sizeof(T) == 8 ? group_words / 2 : group_words;

/// Calls f(i, a, b) for each i below 16 of both halves of a group: a and b are the 64-bit numbers of elements i and i + 16.
template <class F>
inline void for_each_wide_pair(const PhiloxVectors<WideVector>& philox, std::uint64_t group, F&& f) {
  alignas(64) std::uint32_t words[4][group_counters];
  philox.for_each_block(group, [&](const WordVector(&block)[4], std::int64_t offset) {
    for (int w = 0; w < 4; ++w) std::memcpy(words[w] + offset, &block[w], sizeof(WordVector));
  });
  const auto wide = [](std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; };
  for (std::int64_t i = 0; i < group_counters; ++i) f(i, wide(words[0][i], words[1][i]), wide(words[2][i], words[3][i]));
}

template <class X>
struct NormalPair {
  X first, second;
};
/// Returns sin(t) and cos(t) for t in [-pi / 4, pi / 4], by their Taylor series: an error below 1 ulp before rounding.
template <class X>
[[gnu::always_inline]] inline NormalPair<X> sine_and_cosine(const X& t) {
  const X y = t * t, cubed = t * y;
  if constexpr (std::is_same_v<X, double>)
    return {math::fma(cubed,
                      math::detail::polynomial(y, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                               1.0 / 6227020800, -1.0 / 1307674368000),
                      t),
            math::detail::polynomial(y, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                     -1.0 / 87178291200, 1.0 / 20922789888000)};
  else
    return {math::fma(cubed, math::detail::polynomial(y, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880), t),
            math::detail::polynomial(y, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320)};
}
/// Returns sqrt(-2 log(u)) for u = 2^exponent m with m in [sqrt(1/2), sqrt(2)], so that log(u) = exponent log(2) + 2 atanh(s)
/// with s = (m - 1) / (m + 1), and the series of atanh.
template <class X>
[[gnu::always_inline]] inline X normal_radius(const X& exponent, const X& m) {
  const X one = math::number<X>(1), s = math::divide(m - one, m + one), twice = s + s, y = s * s, cubed = twice * y;
  X series;
  if constexpr (std::is_same_v<X, double>)
    series = math::detail::polynomial(y, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19,
                                      1.0 / 21);
  else series = math::detail::polynomial(y, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9);
  const X log_m = math::fma(cubed, series, twice);
  return math::sqrt(math::number<X>(-2) * math::fma(exponent, math::number<X>(0x1.62e42fefa39efp-1), log_m));
}

/// Returns two independent normal numbers from two random words (Box and Muller, "A note on the generation of random normal
/// deviates", Annals of Mathematical Statistics, 1958).
template <class Words>
[[gnu::always_inline]] inline NormalPair<RandomLanes> normal_pair(const Words& for_radius, const Words& for_angle) {
  constexpr std::int32_t sqrt_half = 0x3f3504f3;  // bits of sqrt(1/2)
  constexpr std::uint32_t sign_bit = 0x80000000;
  const auto floats = [](const SignedVector& x) { return std::bit_cast<RandomLanes>(__builtin_convertvector(x, FloatVector)); };
  const auto words_of = [](const RandomLanes& x) { return std::bit_cast<WordVector>(x); };
  // u in [2^-32, 1], the middle of an interval of 2^-31
  const RandomLanes u = math::fma(floats(std::bit_cast<SignedVector>(for_radius >> 1)), RandomLanes(0x1p-31f),
                                  RandomLanes(0x1p-32f));
  const SignedVector exponent = (std::bit_cast<SignedVector>(u) - sqrt_half) >> 23;
  const RandomLanes radius = normal_radius(
      floats(exponent), std::bit_cast<RandomLanes>(SignedVector(std::bit_cast<SignedVector>(u) - (exponent << 23))));
  // the first two bits are a quarter of the circle, the others an angle around its middle
  const RandomLanes t = floats(std::bit_cast<SignedVector>(for_angle << 2)) * RandomLanes(0x1.921fb6p-32f);
  const auto [sine, cosine] = sine_and_cosine(t);
  const WordVector swaps = std::bit_cast<WordVector>(std::bit_cast<SignedVector>(for_angle << 1) >> 31);
  const WordVector difference = (words_of(sine) ^ words_of(cosine)) & swaps;
  const WordVector first = (words_of(cosine) ^ difference) ^ ((for_angle ^ (for_angle << 1)) & sign_bit);
  const WordVector second = (words_of(sine) ^ difference) ^ (for_angle & sign_bit);
  return {radius * std::bit_cast<RandomLanes>(first), radius * std::bit_cast<RandomLanes>(second)};
}
/// Returns two independent normal numbers in float64 from two random words of 64 bits, also by Box and Muller.
template <class Word>
inline NormalPair<double> wide_normal_pair(Word for_radius, Word for_angle) {
  constexpr std::int64_t sqrt_half = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
  const double u = math::fma(static_cast<double>(static_cast<std::int64_t>(for_radius >> 11)), 0x1p-53, 0x1p-54);
  const auto bits = std::bit_cast<std::int64_t>(u);
  const std::int64_t exponent = (bits - sqrt_half) >> 52;
  const double radius = normal_radius(static_cast<double>(exponent),
                                      std::bit_cast<double>(bits - exponent * (std::int64_t{1} << 52)));
  auto [sine, cosine] = sine_and_cosine(static_cast<double>(static_cast<std::int64_t>(for_angle << 2)) * 0x1.921fb54442d18p-64);
  const bool first_bit = (for_angle >> 63) != 0, second_bit = (for_angle >> 62 & 1) != 0;
  if (second_bit) std::swap(sine, cosine);
  return {radius * (first_bit != second_bit ? -cosine : cosine), radius * (first_bit ? -sine : sine)};
}

/// Returns the largest numbers of an element's type that are not above x, which differ from x in half precision only. With
/// rounding to the nearest, half precision would not be uniform. Among equally spaced numbers, the last one before `high` would
/// be 1.5 times as frequent as the others, and the first one half as frequent.
template <class Element>
[[gnu::always_inline]] inline RandomLanes rounded_down_to(const RandomLanes& x) {
  if constexpr (!is_half_type<Element>) {
    return x;
  } else {
    const RandomLanes nearest = rounded_to<Element>(x);
    const auto bits = std::bit_cast<SignedVector>(nearest);
    constexpr std::int32_t step = std::is_same_v<Element, bfloat16_t> ? 1 << 16
                                                                      : 1 << 13;  // to the next number, of a float's bits
    RandomLanes below = std::bit_cast<RandomLanes>(SignedVector(bits - ((bits >> 31) | 1) * step));
    if constexpr (std::is_same_v<Element, float16_t>) {  // around 0, its numbers are multiples of 2^-24
      const auto is_small = nearest > RandomLanes(-0x1p-14f) && nearest <= RandomLanes(0x1p-14f);
      below = math::select(is_small, nearest - RandomLanes(0x1p-24f), below);
    }
    return math::select(nearest > x, below, nearest);
  }
}

/// Uniform in [low, high), for elements of type Element: low + scale u, with u of 24 bits, or 53 in float64, at most `most`, and
/// in half precision rounded down.
template <class T, class Element = T>
struct UniformNumbers {
  static constexpr std::int64_t size = numbers_in_group<T>;
  PhiloxVectors<WideVector> philox;
  T low, scale, most;

  void fill(std::uint64_t group, T* numbers) const {
    if constexpr (size == group_words) {
      philox.for_each_block(group, [&](const WordVector(&words)[4], std::int64_t offset) __attribute__((always_inline)) {
        for (int w = 0; w < 4; ++w) {
          const auto bits = std::bit_cast<SignedVector>(WordVector(words[w] >> 8));
          const RandomLanes u = std::bit_cast<RandomLanes>(__builtin_convertvector(bits, FloatVector)) * RandomLanes(0x1p-24f);
          const RandomLanes number = (math::min)(RandomLanes(most), math::fma(u, RandomLanes(scale), RandomLanes(low)));
          rounded_down_to<Element>(number).store_unaligned(numbers + w * group_counters + offset);
        }
      });
    } else {
      const auto number = [this](std::uint64_t bits) {
        return (math::min)(most, math::fma(static_cast<T>(static_cast<std::int64_t>(bits >> 11)) * T(0x1p-53), scale, low));
      };
      for_each_wide_pair(philox, group, [&](std::int64_t i, std::uint64_t a, std::uint64_t b) {
        numbers[i] = number(a);
        numbers[i + group_counters] = number(b);
      });
    }
  }
};

/// Normal, of the given mean and standard deviation.
template <class T>
struct NormalNumbers {
  static constexpr std::int64_t size = numbers_in_group<T>;
  PhiloxVectors<WideVector> philox;
  T mean, deviation;

  void fill(std::uint64_t group, T* numbers) const {
    if constexpr (size == group_words) {
      philox.for_each_block(group, [&](const WordVector(&words)[4], std::int64_t offset) __attribute__((always_inline)) {
        for (int w = 0; w < 4; w += 2) {
          const auto [first, second] = normal_pair(words[w], words[w + 1]);
          float* row = numbers + w * group_counters + offset;
          math::fma(first, RandomLanes(deviation), RandomLanes(mean)).store_unaligned(row);
          math::fma(second, RandomLanes(deviation), RandomLanes(mean)).store_unaligned(row + group_counters);
        }
      });
    } else {
      for_each_wide_pair(philox, group, [&](std::int64_t i, std::uint64_t a, std::uint64_t b) {
        const auto [first, second] = wide_normal_pair(a, b);
        numbers[i] = math::fma(first, deviation, mean);
        numbers[i + group_counters] = math::fma(second, deviation, mean);
      });
    }
  }
};

/// Factors of dropout: 0 where the element's word is below `threshold`, otherwise `scale`. The dropped elements do not depend on
/// T.
template <class T>
struct DropoutFactors {
  static constexpr std::int64_t size = group_words;
  PhiloxVectors<WideVector> philox;
  std::uint32_t threshold;
  T scale;

  void fill(std::uint64_t group, T* factors) const {
    philox.for_each_block(group, [&](const WordVector(&words)[4], std::int64_t offset) __attribute__((always_inline)) {
      for (int w = 0; w < 4; ++w) {
        T* row = factors + w * group_counters + offset;
        if constexpr (std::is_same_v<T, float>) {
          const auto kept = std::bit_cast<WordVector>(words[w] >= threshold);
          std::bit_cast<RandomLanes>(WordVector(kept & std::bit_cast<std::uint32_t>(scale))).store_unaligned(row);
        } else {
          for (std::int64_t i = 0; i < random_lanes; ++i) row[i] = words[w][i] >= threshold ? scale : T(0);
        }
      }
    });
  }
};

/// Computes out = f(number of the element's position, ins...), element by element, with the ins broadcast to out's shape.
/// `numbers` computes the numbers of a group; `positions` is the last input of an op that takes positions.
template <class Numbers, class F, class Out, class Positions, class... In>
inline void assign_random(const Numbers& numbers, F&& f, Out out, Positions positions, In... ins) {
  using Number = compute_t<typename Out::element>;
  constexpr int operands = 2 + static_cast<int>(sizeof...(In));
  constexpr std::int64_t size = Numbers::size;
  static constexpr auto loops = elementwise_loops<operands>({Out::spec, Positions::spec, In::spec...});
  constexpr bool contiguous = [] {
    bool result = loops.run >= size && loops.run_strides[0] == 1 && loops.run_strides[1] == 1;
    for (auto stride : loops.run_strides) result = result && (stride == 0 || stride == 1);
    return result;
  }();
  const std::int64_t first = position_of(positions);
  alignas(64) Number group[static_cast<std::size_t>(size)];
  std::int64_t filled = -1;
  for_each_offset<operands>(loops.outer, loops.strides, [&](const auto& offsets) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      for (std::int64_t k = 0; k < loops.run;) {
        const std::int64_t position = first + offsets[1] + k * loops.run_strides[1], in_group = position % size;
        if (position / size != filled) numbers.fill(static_cast<std::uint64_t>(filled = position / size), group);
        if constexpr (contiguous) {
          if (in_group == 0 && k + size <= loops.run) {
            line_assign<size>(f, run_line<1>(out.data + offsets[0] + k), Line<Number, 1>{group},
                              run_line<loops.run_strides[i + 2]>(ins.data + offsets[i + 2] + k * loops.run_strides[i + 2])...);
            k += size;
            continue;
          }
        }
        const std::int64_t end = loops.run_strides[1] == 1 ? (std::min)(loops.run, k + size - in_group) : k + 1;
        for (const Number* number = group + in_group; k < end; ++k, ++number)
          out.data[offsets[0] + k * loops.run_strides[0]] = static_cast<typename Out::element>(
              f(*number, static_cast<Number>(ins.data[offsets[i + 2] + k * loops.run_strides[i + 2]])...));
      }
    }(std::index_sequence_for<In...>{});
  });
}

}  // namespace tilewright::kernel
