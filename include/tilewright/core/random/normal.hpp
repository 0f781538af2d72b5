#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tilewright/core/random/random.hpp"
#include "tilewright/core/span.hpp"

namespace tilewright {

namespace detail {

/// Returns coefficients[0] - x (coefficients[1] - x (coefficients[2] - ...)), with each product rounded to a multiple of 2^-bits.
///
/// x and the coefficients have so few bits that products are exact before they are rounded. Therefore the result has equal bits
/// whether or not the compiler contracts a product and a sum.
template <int bits, std::size_t count>
constexpr double alternating_polynomial(double x, const double (&coefficients)[count]) {
  constexpr double shift = 1.5 * static_cast<double>(std::int64_t{1} << (52 - bits));  // numbers of this size are such multiples
  double sum = coefficients[count - 1];
  for (std::size_t i = count - 1; i-- > 0;) sum = (coefficients[i] + shift) - (sum * x + shift);
  return sum;
}

/// Returns log2(1 + x) / x, with an error of at most 2^-22 in log2(1 + x), and 1 for x = 1 (fitted for this file by weighted
/// least squares). x is a multiple of 2^-23 below 1, and the result one of 2^-29.
constexpr double log2_quotient(double x) {
  constexpr double coefficients[] = {0x1.715469dp+0, 0x1.714a1ccp-1, 0x1.eaf408p-2, 0x1.664d8eap-2,
                                     0x1.f8dce08p-3, 0x1.22c9954p-3, 0x1.bc2e46p-5, 0x1.3e6abp-7};
  return alternating_polynomial<29>(x, coefficients);
}

/// Returns sin(pi / 2 x), with an error of at most 2^-24 (fitted for this file by weighted least squares). x is a multiple of
/// 2^-26 from 0 to 1.
constexpr double sine_of_quarter(double x) {
  constexpr double coefficients[] = {0x1.921fb54p+0, 0x1.4abbc18p-1, 0x1.4668bp-4, 0x1.324ccp-8, 0x1.3dbp-13};
  constexpr double shift = 1.5 * 0x1p26;
  return x * alternating_polynomial<26>((x * x + shift) - shift, coefficients);
}

/// Returns -2 ln u, where the first 31 bits give u in (0, 1).
constexpr float squared_radius(std::uint32_t bits) {
  // the last bit is always 1: u is the middle of an interval. As a float, u is 2^(exponent - 158) (1 + fraction).
  const auto u = std::bit_cast<std::int32_t>(static_cast<float>(static_cast<std::int32_t>(bits >> 1 | 1)));
  const double fraction = (u & 0x7fffff) * 0x1p-23;
  const double negative_log2 = (158 - (u >> 23)) - fraction * log2_quotient(fraction);
  return static_cast<float>(2 * 0x1.62e42fefa39efp-1 * negative_log2);  // 2 ln 2
}
constexpr float with_sign(float size, std::uint32_t sign) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | (sign & 0x80000000u));
}

}  // namespace detail

/// Writes independent numbers of mean 0 and standard deviation 1, at most 6.56 in magnitude. Each pair takes one call of
/// random.bits() (Box and Muller, "A note on the generation of random normal deviates", Annals of Mathematical Statistics, 1958).
///
/// Their bits are equal on every machine, however the compiler vectorises or contracts: all operations are conversions, sums,
/// products and square roots, which IEEE 754 rounds in one way, and products in sums are exact. (-ffast-math breaks this
/// guarantee.)
inline void draw_normal(Span<double> values, Random& random) {
  constexpr std::size_t most = 128;
  std::uint32_t high[most], low[most];
  float radii[most], cosines[most], sines[most];
  while (!values.empty()) {
    const std::size_t pairs = (std::min)(most, (values.size() + 1) / 2);
    const Random draws = random;
    for (std::size_t i = 0; i < most; ++i) {  // a constant number, also if fewer are needed: compilers make short loops of it
      const std::uint64_t bits = draws.bits_ahead(i);
      high[i] = static_cast<std::uint32_t>(bits >> 32);
      low[i] = static_cast<std::uint32_t>(bits);
    }
    for (std::size_t i = 0; i < most; ++i) radii[i] = detail::squared_radius(high[i]);
    for (std::size_t i = 0; i < most; ++i) {  // an angle in the first quarter of the circle, and two signs
      const double angle = static_cast<std::int32_t>((low[i] & 0x1ffffff) << 1 | 1) * 0x1p-26;
      cosines[i] = detail::with_sign(static_cast<float>(detail::sine_of_quarter(1 - angle)), low[i]);
      sines[i] = detail::with_sign(static_cast<float>(detail::sine_of_quarter(angle)), low[i] << 1);
    }
    // a loop of its own, because compilers that heed errno do not vectorise it
    for (std::size_t i = 0; i < most; ++i) radii[i] = __builtin_sqrtf(radii[i]);
    for (std::size_t i = 0; i < values.size() / 2 && i < pairs; ++i) {
      values[2 * i] = static_cast<double>(radii[i] * cosines[i]);
      values[2 * i + 1] = static_cast<double>(radii[i] * sines[i]);
    }
    if (values.size() < 2 * pairs) values.back() = static_cast<double>(radii[pairs - 1] * cosines[pairs - 1]);
    random.skip(pairs);
    values = values.subspan((std::min)(2 * pairs, values.size()));
  }
}

}  // namespace tilewright
