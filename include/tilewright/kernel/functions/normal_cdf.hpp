#pragma once
#include <cmath>
#include <concepts>

#include "tilewright/kernel/vector/rounding.hpp"

namespace tilewright::math {

namespace detail {
inline constexpr double two_over_sqrt_pi = 1.1283791670955126;

/// Returns erfc(x) exp(x^2) for x from 1/2 on: up to 6 a polynomial of q = (x - 2) / (x + 2) with a relative error of 2^-55,
/// beyond it one of 1 / x^2, divided by x sqrt(pi), with 2^-59 (both interpolated for this file at Chebyshev's nodes).
inline double scaled_erfc(double x) {
  if (x < 6)
    return series((x - 2) / (x + 2), 0x1.058671b52c776p-2, -0x1.b57034efd3f72p-2, 0x1.eeea7dc8a78b0p-3, -0x1.437f0b68c0d65p-4,
                  0x1.e9471597a4d97p-9, 0x1.ca95ed5397cd9p-8, -0x1.bc25a4816b5fdp-11, -0x1.016b5d1264948p-10,
                  0x1.6d5f04f468adfp-15, 0x1.6da98d4bcecd2p-13, 0x1.cdca89bfe556fp-16, -0x1.cebf247a59f25p-16,
                  -0x1.d47f3910476bfp-17, 0x1.785549d9b5e20p-20, 0x1.f835b8e42b6e0p-19, 0x1.3893a5f9ab468p-20,
                  -0x1.dceff7ed1312dp-22, -0x1.e35028e50f290p-22, -0x1.17c0e2eadbf2ap-24, 0x1.2aedecaedb2c8p-25);
  constexpr double one_over_sqrt_pi = 0.5641895835477563;
  const double rest = series(1 / (x * x), 0x1.0000000000000p+0, -0x1.fffffffffffc0p-2, 0x1.7ffffffff2946p-1,
                             -0x1.dfffffee35892p+0, 0x1.a3fff9e003755p+2, -0x1.d87ebf4d4b543p+4, 0x1.44c302c8bf656p+7,
                             -0x1.0704b4a7cfc68p+10, 0x1.e0e033ead705bp+12, -0x1.c450c10297b4cp+15, 0x1.67af812432cd3p+18,
                             -0x1.46df2d2dfccd4p+20);
  return one_over_sqrt_pi / x * rest;
}

/// Near 0 it is a product, which no smaller term makes denormal. Up to 1 it is x + x P(x^2), beyond it 1 - erfc(x). P has the
/// smallest maximal error, 2^-62 (fitted for this file by Remez's algorithm).
inline double erf_of_double(double x) {
  const double size = std::fabs(x), square = x * x;
  if (!(size < 6)) return x != x ? x : std::copysign(1.0, x);
  if (size < 0x1p-28) return x * two_over_sqrt_pi;
  if (size < 1)
    return x + x * series(square, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b34p-4, -0x1.b82ce31284f38p-6,
                          0x1.565bcd0dbd921p-8, -0x1.c02db3db49762p-11, 0x1.f9a321e4b84f9p-14, -0x1.f4d1e434bc0cfp-17,
                          0x1.b9df305cad6f7p-20, -0x1.5f1f40faeea79p-23, 0x1.f7b99d7c8709ap-27, -0x1.38ac2290d3965p-30,
                          0x1.062759c5be8ecp-34);
  return std::copysign(1 - exp_of_double(-square) * scaled_erfc(size), x);
}
/// Returns the normal distribution of a double, with errors of at most 5 ulp. `rest` is what x^2 loses, and a factor of exp.
inline NormalDistribution<double> normal_distribution_of_double(double x) {
  constexpr double peak = 0.3989422804014327;  // 1 / sqrt(2 pi)
  const double scaled = x * 0.7071067811865476, size = std::fabs(scaled);
  const auto [square, rest] = exact_product(x, x);
  const double power = exp_of_double(-0.5 * square, -0.5 * rest);
  const auto without_denormals = [](double y) { return y < 0x1p-1022 ? 0 : y; };
  const double density = without_denormals(power * peak);
  if (size < 0.5) return {0.5 + 0.5 * erf_of_double(scaled), density};
  const double beyond = without_denormals(0.5 * power * scaled_erfc(size));
  return {x < 0 ? beyond : 1 - beyond, density};
}
}  // namespace detail

/// For t = |x| it is exp(-t^2 / 2) R(t) below -t. R is a polynomial of q = (t - 3.5) / (t + 3.5) with the smallest maximal
/// relative error for t up to 14, 2^-29 (fitted for this file by weighted least squares). The rest of t^2 that a float does not
/// hold is a factor of exp.
template <class X>
inline NormalDistribution<X> normal_distribution(X x) {
  constexpr double peak = 0.3989422804014327;  // 1 / sqrt(2 pi)
  if constexpr (std::same_as<X, double>) {
    return detail::normal_distribution_of_double(x);
  } else {
    const X t = (math::min)(number<X>(14), math::abs(x)), square = t * t, rest = math::fma(t, t, -square);
    const X q = math::divide(t - number<X>(3.5), t + number<X>(3.5));
    const X r = detail::polynomial(q, 0x1.b396fap-4, -0x1.7f4318p-3, 0x1.01c066p-3, -0x1.f8f35ap-5, 0x1.385f4ep-6,
                                   -0x1.9933bcp-10, -0x1.6a370ep-10, 0x1.9782bap-12, 0x1.1857bcp-13, -0x1.a60012p-15,
                                   -0x1.4d2bdep-16);
    const X rounded = math::exp(number<X>(-0.5) * square), power = math::fma(rounded * number<X>(-0.5), rest, rounded);
    const X beyond = power * r;
    const X below = math::select(x < number<X>(0), beyond, number<X>(1) - beyond);
    return {math::select(x == x, below, x), math::select(x == x, power * number<X>(peak), x)};
  }
}
}  // namespace tilewright::math
