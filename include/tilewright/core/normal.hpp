#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/core/random.hpp"

namespace tilewright {

namespace detail {

/// a b / 2^32, rounded down.
constexpr std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
}

/// log2(1 + x) in units of 2^-31, of x in units of 2^-32.
///
/// x (c0 - x (c1 - x (c2 - ...))): at most 2^-22 off, and 1 at x = 1 (fitted for this file by weighted least squares).
constexpr std::uint32_t log2_above_1(std::uint32_t x) {
  constexpr std::uint32_t coefficients[] = {0xb8aa34e6, 0x5c52872f, 0x3d5e80ff, 0x2cc9b1d6,
                                            0x1f8dce07, 0x122c9952, 0x6f0b91a,  0x13e6aaf};
  std::uint32_t sum = 0;
  for (int i = 7; i >= 0; --i) sum = coefficients[i] - multiply_high(sum, x);
  return multiply_high(sum, x);
}

/// sin(pi / 2 x) in units of 2^-30, of x in units of 2^-32.
///
/// x (c0 - x^2 (c1 - x^2 (c2 - ...))): at most 2^-27 off (fitted for this file by weighted least squares).
constexpr std::int32_t sine_of_quarter(std::uint32_t x) {
  constexpr std::uint32_t coefficients[] = {0x6487ed48, 0x2957782d, 0x519a2be, 0x4c9334, 0x27b61};
  const std::uint32_t square = multiply_high(x, x);
  std::uint32_t sum = 0;
  for (int i = 4; i >= 0; --i) sum = coefficients[i] - multiply_high(sum, square);
  return static_cast<std::int32_t>(multiply_high(sum, x));
}

/// -2 ln u divided by 2^60, with u in (0, 1) of the upper 31 bits.
constexpr float squared_radius(std::uint64_t bits) {
  // the last bit is always 1: u is the middle of an interval. As a float, u is 2^(exponent - 158) (1 + fraction).
  const auto odd = static_cast<std::int32_t>(bits >> 33 | 1);
  const auto u = std::bit_cast<std::uint32_t>(static_cast<float>(odd));
  const std::uint32_t negative_log2 = ((158 - (u >> 23)) << 26) - (log2_above_1(u << 9) >> 5);  // in units of 2^-26
  constexpr auto scale = static_cast<float>(2 * 0x1.62e42fefa39efp-1 * 0x1p-86);               // 2 ln 2
  return static_cast<float>(static_cast<std::int32_t>(negative_log2)) * scale;
}
constexpr float with_sign(float size, std::uint32_t sign) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | (sign & 0x80000000u));
}

}  // namespace detail

/// Independent numbers of mean 0 and standard deviation 1, none beyond +-6.56; each two take one call of random.bits() (Box and
/// Muller, "A note on the generation of random normal deviates", Annals of Mathematical Statistics, 1958).
///
/// They are the same bit for bit on every machine, however the compiler vectorises: logarithm, sine and cosine are made of
/// integers, and of floats there are only conversions, products and square roots, which IEEE 754 rounds in one way. No product
/// is added to anything, so that there is nothing to contract.
inline void draw_normal(std::span<double> values, Random& random) {
  constexpr std::size_t most = 128;
  float radii[most], cosines[most], sines[most];
  while (!values.empty()) {
    const std::size_t pairs = std::min(most, (values.size() + 1) / 2);
    const Random draws = random;
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::uint64_t bits = draws.bits_ahead(i);
      radii[i] = detail::squared_radius(bits);
      // the lower half is an angle in the first quarter of the circle, and two signs
      const auto low = static_cast<std::uint32_t>(bits), angle = low << 2 | 2;
      cosines[i] = detail::with_sign(static_cast<float>(detail::sine_of_quarter(0 - angle)), low);
      sines[i] = detail::with_sign(static_cast<float>(detail::sine_of_quarter(angle)), low << 1);
    }
    // alone, because compilers that heed errno do not vectorise it
    for (std::size_t i = 0; i < pairs; ++i) radii[i] = std::sqrt(radii[i]);
    for (std::size_t i = 0; i < values.size() / 2 && i < pairs; ++i) {
      values[2 * i] = static_cast<double>(radii[i] * cosines[i]);
      values[2 * i + 1] = static_cast<double>(radii[i] * sines[i]);
    }
    if (values.size() < 2 * pairs) values.back() = static_cast<double>(radii[pairs - 1] * cosines[pairs - 1]);
    random.skip(pairs);
    values = values.subspan(std::min(2 * pairs, values.size()));
  }
}

}  // namespace tilewright
