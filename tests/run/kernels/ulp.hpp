#pragma once
// Functions of floats and batches of floats against the standard library's in double precision, in units of the last place.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "../../catch.hpp"
#include "tilewright/kernel/math.hpp"

namespace math = tilewright::math;
using batch = tilewright::simd::batch<float>;

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float smallest_normal = std::numeric_limits<float>::min();

/// How far a result is off, in units of the last place of the right one. Where that is below the normal numbers, 0 counts as
/// right; where it rounds to infinity, infinity.
inline double error_in_ulp(float result, double right) {
  if (std::isnan(right)) return std::isnan(result) ? 0 : HUGE_VAL;
  const auto rounded = static_cast<float>(right);
  if (result == rounded) return 0;
  if (std::isnan(result)) return HUGE_VAL;
  if (std::abs(right) < double{smallest_normal} && result == 0) return 0;
  if (std::isinf(rounded) || std::isinf(result)) return HUGE_VAL;
  const int exponent = std::max(std::ilogb(right), std::numeric_limits<float>::min_exponent - 1);
  return std::abs(result - right) / std::ldexp(1.0, exponent - 23);
}

/// The largest error for every 997th float and some special ones, as floats and as batches.
template <class F, class Right>
double largest_error(F f, Right right) {
  double largest = 0;
  float worst = 0;
  alignas(batch) float x[batch::size], y[batch::size];
  std::size_t count = 0;
  const auto check = [&](float value) {
    x[count % batch::size] = value;
    if (++count % batch::size != 0) return;
    f(batch::load_aligned(x)).store_aligned(y);
    for (std::size_t i = 0; i < batch::size; ++i) {
      const double expected = right(double{x[i]});
      for (float result : {y[i], f(x[i])}) {
        const double error = error_in_ulp(result, expected);
        if (error > largest) worst = x[i];
        largest = std::max(largest, error);
      }
    }
  };
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 997)
    check(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (float special :
       {0.f, 1.f, infinity, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::max(), smallest_normal,
        std::numeric_limits<float>::denorm_min(), 88.7228317f, 88.7228394f, 87.3365402f, 87.3365479f, 103.f, 200.f, 9.01f, 9.1f})
    for (float sign : {1.f, -1.f}) check(sign * special);
  while (count % batch::size != 0) check(1);
  UNSCOPED_INFO("largest error at " << worst);
  return largest;
}
