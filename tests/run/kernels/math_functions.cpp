// labels: portable clang
// The functions of the headers beside kernel/math.hpp against the standard library's in double precision.
#include <array>
#include <random>

#include "tilewright/execute/arithmetic_mode.hpp"
#include "tilewright/kernel/functions/error_function.hpp"
#include "tilewright/kernel/functions/hyperbolic.hpp"
#include "tilewright/kernel/functions/inverse_trigonometry.hpp"
#include "tilewright/kernel/functions/normal_cdf.hpp"
#include "tilewright/kernel/functions/power.hpp"
#include "tilewright/kernel/functions/tangent.hpp"
#include "tilewright/kernel/functions/trigonometry.hpp"
#include "ulp.hpp"

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// Returns 0 of its sign for a denormal number.
float flushed(float x) { return std::abs(x) < smallest_normal ? std::copysign(0.F, x) : x; }
/// The largest error of a function of two numbers, as floats and as batches, for random pairs and all pairs of special ones, in a
/// run's mode: denormal numbers count as 0.
template <class F, class Right>
double largest_error_of_pairs(F f, Right right) {
  const tilewright::internal::ArithmeticMode mode;
  double largest = 0;
  std::array<float, 2> worst{};
  const auto check = [&](float a, float b) {
    alignas(batch) float y[batch::size];
    f(batch(a), batch(b)).store_aligned(y);
    for (const float result : {y[0], y[batch::size - 1], f(a, b)}) {
      const double error = error_in_ulp(result, right(double{flushed(a)}, double{flushed(b)}));
      if (error > largest) worst = {a, b};
      largest = std::max(largest, error);
    }
  };
  const float special[] = {0,     1,     2,     3,     0.5f,      0.75f,  1.5f,     16777216,  1e-30f, 2.5f,
                           1e30f, 1e38f, 127.f, 128.f, 8388609.f, 1e-38f, infinity, nan_value, 1e-45f};
  for (const float a : special)
    for (const float b : special)
      for (const float sign : {1.f, -1.f})
        for (const float other : {1.f, -1.f}) check(sign * a, other * b);
  std::mt19937 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto bits = [&] {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      return std::isnan(x) ? nan_value : x;  // C's pow of a signalling one and 0 is NaN
    };
    const float a = bits(), b = bits();
    check(a, b);
    const float size = std::ldexp(a, 1 - std::ilogb(a));  // numbers from 2 to 4, so that their powers are no infinities
    if (std::isfinite(size)) check(std::abs(size), std::ldexp(static_cast<float>(random() >> 8), -18));
  }
  UNSCOPED_INFO("largest error at " << worst[0] << ", " << worst[1]);
  return largest;
}

}  // namespace

TEST_CASE("sine and cosine are at most 2 units in the last place off") {
  CHECK(largest_error([](auto x) { return math::sin(x); }, [](double x) { return std::sin(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::cos(x); }, [](double x) { return std::cos(x); }) <= 2);
  double largest = 0;
  for (int i = -13000; i <= 13000; ++i) {  // close to the zeros of both
    const auto x = static_cast<float>(i * 1.5707963267948966);
    largest = std::max(
        {largest, error_in_ulp(math::sin(x), std::sin(double{x})), error_in_ulp(math::cos(x), std::cos(double{x}))});
  }
  CHECK(largest <= 2);
}

TEST_CASE("trigonometric, hyperbolic and other functions are at most 2 units in the last place off") {
  CHECK(largest_error([](auto x) { return math::tan(x); }, [](double x) { return std::tan(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::asin(x); }, [](double x) { return std::asin(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::acos(x); }, [](double x) { return std::acos(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::atan(x); }, [](double x) { return std::atan(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::sinh(x); }, [](double x) { return std::sinh(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::cosh(x); }, [](double x) { return std::cosh(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::erf(x); }, [](double x) { return std::erf(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::gaussian(x); }, [](double x) { return std::exp(-x * x); }) <= 3);
  CHECK(largest_error([](auto x) { return math::expm1(x); }, [](double x) { return std::expm1(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::log1p(x); }, [](double x) { return std::log1p(x); }) <= 2);
  double largest = 0;
  for (int i = -13000; i <= 13000; ++i) {  // close to the zeros and poles of the tangent
    const auto x = static_cast<float>(i * 1.5707963267948966);
    largest = std::max(largest, error_in_ulp(math::tan(x), std::tan(double{x})));
  }
  CHECK(largest <= 2);
}

TEST_CASE("trigonometric, hyperbolic and other odd functions keep the sign of 0") {
  for (const auto f : {math::tan<float>, math::asin<float>, math::atan<float>, math::sinh<float>, math::erf<float>,
                       math::expm1<float>, math::log1p<float>})
    CHECK((f(-0.F) == 0 && std::signbit(f(-0.F)) && !std::signbit(f(0.F))));
}

TEST_CASE("the angle of a point is at most 2 units in the last place off") {
  CHECK(largest_error_of_pairs([](auto y, auto x) { return math::atan2(y, x); },
                               [](double y, double x) { return std::atan2(y, x); }) <= 2);
}

TEST_CASE("the logarithm to the base 2 is at most 1 unit in the last place off, and exact for powers of 2") {
  CHECK(largest_error([](auto x) { return math::log2(x); }, [](double x) { return std::log2(x); }) <= 1);
  for (int i = -126; i < 128; ++i)
    if (math::log2(std::ldexp(1.f, i)) != static_cast<float>(i)) FAIL(i);
}

TEST_CASE("the normal distribution is at most 8 units in the last place off") {
  CHECK(largest_error([](auto x) { return math::normal_cdf(x); }, [](double x) { return std::erfc(-x * M_SQRT1_2) / 2; }) <= 8);
}

TEST_CASE("powers are at most 3 units in the last place off") {
  CHECK(largest_error_of_pairs([](auto x, auto y) { return math::pow(x, y); },
                               [](double x, double y) { return std::pow(x, y); }) <= 3);
}

TEST_CASE("the remainder is exact") {
  CHECK(largest_error_of_pairs([](auto x, auto y) { return math::fmod(x, y); },
                               [](double x, double y) { return std::fmod(x, y); }) == 0);
}

TEST_CASE("the logarithm of a denormal number is that of 0") {
  const tilewright::internal::ArithmeticMode mode;
  for (const volatile double number : {0x1p-1074, -0x1p-1074, 0x1p-1023, 0x1p-149}) {  // volatile: not at compile time
    const double x = number;
    const auto y = static_cast<float>(x);
    INFO(x);
    CHECK((math::log(y) == -infinity && math::log2(y) == -infinity));
    if (x == 0x1p-149) continue;  // which float64 has
    CHECK((math::log(x) == -infinity && math::log2(x) == -infinity));
    const tilewright::simd::batch<double> results = math::log(tilewright::simd::batch<double>(x));
    CHECK(!tilewright::simd::any(!(results == tilewright::simd::batch<double>(-infinity))));
  }
}

TEST_CASE("roundings keep the sign of 0") {
  for (const float x : {-0.F, -0.25F, 0.F, 0.25F}) {
    const auto is_right = [&](auto f, float expected) {
      alignas(batch) float y[batch::size];
      f(batch(x)).store_aligned(y);
      for (const float result : {y[0], y[batch::size - 1], f(x)})
        if (result != expected || std::signbit(result) != std::signbit(expected)) return false;
      return true;
    };
    INFO(x);
    CHECK(is_right([](auto z) { return math::floor(z); }, x == -0.25F ? -1 : std::copysign(0.F, x)));
    CHECK(is_right([](auto z) { return math::ceil(z); }, x == 0.25F ? 1 : std::copysign(0.F, x)));
    CHECK(is_right([](auto z) { return math::trunc(z); }, std::copysign(0.F, x)));
  }
}

TEST_CASE("integers wrap around") {
  CHECK(math::abs(std::int8_t(-128)) == -128);
  CHECK(math::negate(std::int32_t(-2147483647 - 1)) == -2147483647 - 1);
  CHECK(math::add(std::uint16_t(65535), std::uint16_t(2)) == 1);
  CHECK(math::multiply(std::uint16_t(65535), std::uint16_t(65535)) == 1);
  CHECK(math::multiply(std::int64_t(1) << 62, std::int64_t(6)) == std::numeric_limits<std::int64_t>::min());
  CHECK(math::fmod(std::numeric_limits<std::int64_t>::min(), std::int64_t(-1)) == 0);
  CHECK(math::pow(std::int32_t(-3), std::int32_t(3)) == -27);
  CHECK(math::pow_by_number(std::int64_t(3), 40.0) == -6289078614652622815);
  CHECK(math::pow(std::int32_t(-1), std::int32_t(-3)) == -1);
  CHECK(math::pow(std::int32_t(2), std::int32_t(-1)) == 0);
}
