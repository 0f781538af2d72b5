#pragma once
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "tilewright/kernel/vector/rounding.hpp"

namespace tilewright::math {

namespace detail {
/// An angle as quarters of a turn, of which whole turns are left out, and the rest, from -pi / 4 to pi / 4.
struct ReducedAngle {
  std::uint32_t quarters;
  ExactPair rest;
};
/// The bits of 2 / pi, after two words of bits before the point.
inline constexpr std::uint32_t two_over_pi[] = {
    0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
    0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
    0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046};

/// For a positive number: the product with 2 / pi without multiples of 4, of which 7 words of 2 / pi are enough: 2 bits before
/// the point and 222 behind it. (M. Payne and R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18
/// (1983).)
inline ReducedAngle reduced_large_angle(double x) {
  constexpr std::size_t words = 7;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto skipped = static_cast<std::size_t>((bits >> 52) - (1075 - 62));  // x = m 2^(skipped - 62), with m of 53 bits
  const std::uint64_t m = (bits & 0xfffffffffffff) | (std::uint64_t{1} << 52);
  const std::size_t first = skipped / 32, shift = skipped % 32;
  const std::uint32_t factors[] = {static_cast<std::uint32_t>(m << shift), static_cast<std::uint32_t>((m << shift) >> 32),
                                   static_cast<std::uint32_t>(shift > 0 ? m >> (64 - shift) : 0)};
  std::uint32_t product[words] = {};  // the least word first
  for (std::size_t i = 0; i < 3; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; i + j < words; ++j) {
      carry += std::uint64_t{factors[i]} * two_over_pi[first + words - 1 - j] + product[i + j];
      product[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  const std::uint32_t top = product[words - 1], quarters = (top + 0x20000000u) >> 30;
  const bool is_negative = (top & 0x20000000u) != 0;  // the fraction is above 1/2
  if (is_negative) {
    std::uint64_t carry = 1;
    for (std::uint32_t& word : product) {
      carry += static_cast<std::uint32_t>(~word);
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  product[words - 1] &= 0x3fffffffu;
  ExactPair fraction{0, 0};
  double unit = 0x1p-30;  // of a word
  for (std::size_t j = words; j-- > 0; unit *= 0x1p-32) {
    const ExactPair sum = exact_sum(fraction.nearest, product[j] * unit);
    fraction = exact_sum(sum.nearest, sum.rest + fraction.rest);
  }
  const ExactPair angle = exact_product(fraction.nearest, 0x1.921fb54442d18p+0);
  const double rest = angle.rest + (fraction.nearest * 0x1.1a62633145c07p-54 + fraction.rest * 0x1.921fb54442d18p+0);
  const ExactPair sum = exact_sum(angle.nearest, rest);
  return is_negative ? ReducedAngle{quarters, {-sum.nearest, -sum.rest}} : ReducedAngle{quarters, sum};
}
/// For a finite number. Up to 2^20, pi / 2 is in four parts, the first three with so few bits that k times them is exact.
inline ReducedAngle reduced_angle(double x) {
  if (std::fabs(x) > 0x1p20) {
    const auto [quarters, rest] = reduced_large_angle(std::fabs(x));
    return x > 0 ? ReducedAngle{quarters, rest} : ReducedAngle{0u - quarters, {-rest.nearest, -rest.rest}};
  }
  constexpr double shift = 0x1.8p52;
  const double k = (x * 0x1.45f306dc9c883p-1 + shift) - shift;
  const ExactPair first = exact_sum(x - k * 0x1.921fb544p+0, -(k * 0x1.0b4611a6p-34));
  const ExactPair second = exact_sum(first.nearest, -(k * 0x1.3198a2ep-69));
  return {static_cast<std::uint32_t>(static_cast<std::int32_t>(k)),
          exact_sum(second.nearest, first.rest + (second.rest - k * 0x1.b839a252049c1p-104))};
}
/// Return the sine and the cosine of an angle from -pi / 4 to pi / 4, by their series.
inline ExactPair sine_of_reduced(const ExactPair& angle) {
  const double r = angle.nearest, square = r * r;
  const double cubic = r * square *
                       series(square, -1 / 6., 1 / 120., -1 / 5040., 1 / 362880., -1 / 39916800., 1 / 6227020800.,
                              -1 / 1307674368000., 1 / 355687428096000.);
  return exact_sum(r, cubic + angle.rest * (1 - 0.5 * square));
}
inline ExactPair cosine_of_reduced(const ExactPair& angle) {
  const double r = angle.nearest;
  const ExactPair square = exact_product(r, r), head = exact_sum(1, -0.5 * square.nearest);
  const double fourth = square.nearest * square.nearest *
                        series(square.nearest, 1 / 24., -1 / 720., 1 / 40320., -1 / 3628800., 1 / 479001600., -1 / 87178291200.,
                               1 / 20922789888000., -1 / 6402373705728000.);
  return exact_sum(head.nearest, fourth + (head.rest - 0.5 * square.rest - r * angle.rest));
}
/// Returns sin(x + quarter pi / 2), with an error of at most 1 ulp.
inline double sin_of_quarter(std::uint32_t quarter, double x) {
  if (!(std::fabs(x) < infinity64)) return nan64;
  if (quarter == 0 && std::fabs(x) < 0x1p-27) return x;
  const auto [quarters, angle] = reduced_angle(x);
  const std::uint32_t turns = quarters + quarter;
  const double size = turns % 2 == 0 ? sine_of_reduced(angle).nearest : cosine_of_reduced(angle).nearest;
  return (turns & 2) == 0 ? size : -size;
}

/// Returns sin(x + quarter pi / 2). With k = x / (pi / 2) to the nearest and r = x - k pi / 2, it is sin(r) for even k + quarter,
/// otherwise cos(r), with its sign. pi / 2 is in four parts, the first three with so few bits that k times them is exact. The
/// polynomials have the smallest maximal relative errors, 2^-28 and 2^-33, of those that begin with r and with 1 - r^2 / 2
/// (fitted for this file by weighted least squares). Beyond 2^13 quarters of a turn, elements are computed in float64.
template <int quarter, Float32 X>
inline X sin_of_quarter(X x) {
  const X size = math::abs(x);
  const X limited = math::select(size < number<X>(12800), x, number<X>(0));
  constexpr double shift = 0x1.8p23;
  const X shifted = math::fma(limited, number<X>(0x1.45f306p-1), number<X>(shift)), k = shifted - number<X>(shift);
  X r = math::fma(k, number<X>(-0x1.92p+0), limited);
  r = math::fma(k, number<X>(-0x1.fb4p-12), r);
  r = math::fma(k, number<X>(-0x1.444p-24), r);
  r = math::fma(k, number<X>(-0x1.68c234p-39), r);
  const X rr = r * r;
  const X sine = math::fma(r * rr, polynomial(rr, -0x1.555546p-3, 0x1.110736p-7, -0x1.99422cp-13), r);
  const X cosine = math::fma(rr * rr, polynomial(rr, 0x1.55554ap-5, -0x1.6c0c2ep-10, 0x1.99e9f0p-16),
                             math::fma(rr, number<X>(-0.5), number<X>(1)));
  const auto turns = to_bits(shifted) + quarter;  // its last bits are those of k + quarter
  const X is_odd = from_bits<X>((turns & 1) * 0x3f800000);  // 1 or 0
  const X result = math::select(is_odd > number<X>(0), cosine, sine);
  const X with_sign = from_bits<X>(to_bits(result) ^ ((turns & 2) << 30));
  return where_special(
      !(size < number<X>(12800)), with_sign, [](float y) { return static_cast<float>(sin_of_quarter(quarter, y)); }, x);
}
}  // namespace detail

template <class X>
inline X sin(X x) {
  if constexpr (std::same_as<X, double>) return detail::sin_of_quarter(0, x);
  else return detail::sin_of_quarter<0>(x);
}
template <class X>
inline X cos(X x) {
  if constexpr (std::same_as<X, double>) return detail::sin_of_quarter(1, x);
  else return detail::sin_of_quarter<1>(x);
}

}  // namespace tilewright::math
