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
inline double tan_of_double(double x) {
  if (!(std::fabs(x) < infinity64)) return nan64;
  if (std::fabs(x) < 0x1p-27) return x;
  const auto [quarters, angle] = reduced_angle(x);
  const ExactPair sine = sine_of_reduced(angle), cosine = cosine_of_reduced(angle);
  const bool is_odd = quarters % 2 != 0;
  const ExactPair a = is_odd ? ExactPair{-cosine.nearest, -cosine.rest} : sine, b = is_odd ? sine : cosine;
  const double quotient = a.nearest / b.nearest;
  const ExactPair product = exact_product(quotient, b.nearest);
  return quotient + (((a.nearest - product.nearest) - product.rest) + (a.rest - quotient * b.rest)) / b.nearest;
}

/// With k and r = x - k pi / 2 as in sin_of_quarter, r in two parts, it is tan(r), or -1 / tan(r) for odd k. The polynomial has
/// the smallest maximal relative error, 2^-29, of those that begin with r (fitted for this file by Remez's algorithm).
template <Float32 X>
inline X tan_of_float(X x) {
  const X size = math::abs(x), zero = number<X>(0), one = number<X>(1);
  const X limited = math::select(size < number<X>(12800), x, zero);
  constexpr double shift = 0x1.8p23;
  const X shifted = math::fma(limited, number<X>(0x1.45f306p-1), number<X>(shift)), k = shifted - number<X>(shift);
  const auto times_k = [&](double part) { return math::fma(k, number<X>(-part), zero); };
  const auto [second, second_rest] = exact_sum_of_floats<X>(math::fma(k, number<X>(-0x1.92p+0), limited), times_k(0x1.fb4p-12));
  const auto [third, third_rest] = exact_sum_of_floats<X>(second, times_k(0x1.444p-24));
  const X low = math::fma(k, number<X>(-0x1.68c234p-39), second_rest + third_rest);
  const X r = third + low, r_rest = (third - r) + low, square = r * r;
  const X p = polynomial(square, 0x1.555562p-2, 0x1.110d48p-3, 0x1.baea5ep-5, 0x1.5c0d84p-6, 0x1.66865ap-7, -0x1.98f6bp-15,
                         0x1.236256p-8);
  const X of_r = math::fma(r * square, p, r), t = r + math::fma(r * square, p, r_rest * math::fma(of_r, of_r, one));
  const X is_odd = from_bits<X>((to_bits(shifted) & 1) * 0x3f800000);  // 1 or 0
  const X result = math::select(is_odd > zero, -math::divide(one, t), t);
  return where_special(
      !(size < number<X>(12800)), math::select(size < number<X>(0x1p-12), x, result),
      [](float y) { return static_cast<float>(tan_of_double(y)); }, x);
}
}  // namespace detail

template <class X>
inline X tan(X x) {
  if constexpr (std::same_as<X, double>) return detail::tan_of_double(x);
  else return detail::tan_of_float(x);
}

}  // namespace tilewright::math
