// labels: optimised portable
// Functions of doubles and halves that need no library, beside those of the C library and the compiler.
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>

#include "../../catch.hpp"
#include "tilewright/core/float16.hpp"
#include "tilewright/kernel/functions/error_function.hpp"
#include "tilewright/kernel/functions/float64.hpp"
#include "tilewright/kernel/functions/hyperbolic.hpp"
#include "tilewright/kernel/functions/inverse_trigonometry.hpp"
#include "tilewright/kernel/functions/tangent.hpp"

namespace {

namespace functions = tilewright::math::detail;
namespace math = tilewright::math;
constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr double special[] = {0.0,    -0.0,    1.0,        -1.0,     2.0,       -2.0,         3.0,   -3.0,
                              0.5,    -0.5,    1.5,        infinity, -infinity, nan,          1e300, -1e300,
                              1e-300, -1e-300, 0x1p53 + 2, 1e20,     -1e20,     0x1p52 + 0.5, 709.0, -708.0};

/// The error in units of the last place of the right result, of which a long double has more bits.
double error_in_ulp(double result, long double right) {
  const auto rounded = static_cast<double>(right);
  if (result == rounded || (std::isnan(result) && std::isnan(rounded))) return 0;
  if (std::fabs(rounded) < DBL_MIN) return result == 0 ? 0 : HUGE_VAL;
  if (std::isinf(rounded) || std::isinf(result)) return HUGE_VAL;
  return static_cast<double>(std::fabs(static_cast<long double>(result) - right) / std::ldexp(1.0L, std::ilogb(rounded) - 52));
}

class Errors {
 public:
  void add(double result, long double right, double x, double y = 0) {
    const double error = error_in_ulp(result, right);
    if (error > largest) largest = error, at = {x, y};
  }
  double largest = 0;
  std::pair<double, double> at;
};

class Numbers {
 public:
  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  double positive() { return std::exp(between(-700, 700)); }

 private:
  std::mt19937_64 engine_{7};
};

constexpr int count = 200'000;

template <class F, class Right, class Draw>
void check(double most, F f, Right right, Draw draw) {
  Errors errors;
  for (int i = 0; i < count; ++i) {
    const double x = draw(i);
    errors.add(f(x), right(static_cast<long double>(x)), x);
  }
  INFO("at " << errors.at.first);
  CHECK(errors.largest <= most);
  for (const double x : special)
    if (x == 0 || std::fabs(x) >= DBL_MIN) {
      INFO("at " << x);
      CHECK(error_in_ulp(f(x), right(static_cast<long double>(x))) <= most);
    }
}

}  // namespace

TEST_CASE("float64: exp, log, log2 and tanh have small errors, also at special numbers") {
  Numbers numbers;
  const auto near_one = [&](int i) {
    return i % 2 == 0 ? 1 + numbers.between(-0.3, 0.4) * std::ldexp(1.0, -i % 40) : numbers.positive();
  };
  check(
      1, [](double x) { return functions::exp_of_double(x); }, [](long double x) { return std::exp(x); },
      [&](int i) { return i % 2 == 0 ? numbers.between(-1, 1) : numbers.between(-720, 720); });
  check(1, functions::log_of_double, [](long double x) { return std::log(x); }, near_one);
  check(1, functions::log2_of_double, [](long double x) { return std::log2(x); }, near_one);
  check(
      3, functions::tanh_of_double, [](long double x) { return std::tanh(x); },
      [&](int i) { return numbers.between(-25, 25) * (i % 3 == 0 ? 1e-3 : 1); });
  for (int k = -1022; k < 1024; ++k) CHECK(functions::log2_of_double(std::ldexp(1.0, k)) == k);
  CHECK(std::signbit(functions::tanh_of_double(-0.0)));
}

TEST_CASE("float64: trigonometric, hyperbolic and other functions are at most 2 units in the last place off for all numbers") {
  Numbers numbers;
  const auto any = [&](int i) { return std::copysign(numbers.positive(), i % 2 == 0 ? 1.0 : -1.0); };
  const auto within = [&](double bound) {
    return [&numbers, bound](int i) { return numbers.between(-bound, bound) * (i % 4 == 0 ? std::ldexp(1.0, -i % 60) : 1); };
  };
  const auto near_quarters = [&](int i) {  // neighbours of multiples of pi / 2
    const double size = i % 3 == 0 ? std::exp(numbers.between(0, 700)) : numbers.between(0, 1e6);
    return std::nearbyint(size) * 1.5707963267948966;
  };
  for (const auto& draw : {std::function<double(int)>(any), std::function<double(int)>(within(10)),
                           std::function<double(int)>(within(1)), std::function<double(int)>(within(720))}) {
    check(1, [](double x) { return math::sin(x); }, [](long double x) { return std::sin(x); }, draw);
    check(1, [](double x) { return math::cos(x); }, [](long double x) { return std::cos(x); }, draw);
    check(2, [](double x) { return math::tan(x); }, [](long double x) { return std::tan(x); }, draw);
    check(2, [](double x) { return math::asin(x); }, [](long double x) { return std::asin(x); }, draw);
    check(2, [](double x) { return math::acos(x); }, [](long double x) { return std::acos(x); }, draw);
    check(2, [](double x) { return math::atan(x); }, [](long double x) { return std::atan(x); }, draw);
    check(2, [](double x) { return math::sinh(x); }, [](long double x) { return std::sinh(x); }, draw);
    check(2, [](double x) { return math::cosh(x); }, [](long double x) { return std::cosh(x); }, draw);
    check(2, [](double x) { return math::erf(x); }, [](long double x) { return std::erf(x); }, draw);
    check(
        5, [](double x) { return math::normal_distribution(x).below; },
        [](long double x) { return std::erfc(x * -0.70710678118654752440L) / 2; }, draw);
    check(
        3, [](double x) { return math::normal_distribution(x).density; },
        [](long double x) { return std::exp(-x * x / 2) * 0.39894228040143267794L; }, draw);
    check(2, [](double x) { return math::gaussian(x); }, [](long double x) { return std::exp(-x * x); }, draw);
    check(2, [](double x) { return math::expm1(x); }, [](long double x) { return std::expm1(x); }, draw);
    check(2, [](double x) { return math::log1p(x); }, [](long double x) { return std::log1p(x); }, draw);
    check(
        2, [](double x) { return math::divide(1.0, math::sqrt(x)); },  // rsqrt
        [](long double x) { return 1 / std::sqrt(x); }, draw);
  }
  check(1, [](double x) { return math::sin(x); }, [](long double x) { return std::sin(x); }, near_quarters);
  check(1, [](double x) { return math::cos(x); }, [](long double x) { return std::cos(x); }, near_quarters);
  check(2, [](double x) { return math::tan(x); }, [](long double x) { return std::tan(x); }, near_quarters);
  for (const auto f : {math::sin<double>, math::tan<double>, math::asin<double>, math::atan<double>, math::sinh<double>,
                       math::erf<double>, math::expm1<double>, math::log1p<double>})
    CHECK((f(-0.0) == 0 && std::signbit(f(-0.0)) && !std::signbit(f(0.0))));
}

TEST_CASE("float64: fmod is that of C but for denormal numbers, which are zeros") {
  Numbers numbers;
  const auto flushed = [](double x) { return std::fabs(x) < DBL_MIN ? std::copysign(0.0, x) : x; };
  const auto check = [&](double x, double y) {
    const double expected = flushed(std::fmod(flushed(x), flushed(y))), found = math::fmod(x, y);
    INFO(x << " " << y);
    CHECK((found == expected || (std::isnan(found) && std::isnan(expected))));
    CHECK((std::signbit(found) == std::signbit(expected) || std::isnan(found)));
  };
  for (int i = 0; i < count / 10; ++i) {
    const double x = numbers.positive() * (i % 2 == 0 ? 1 : -1);
    check(x, numbers.positive() * (i % 3 == 0 ? 1 : -1));
    check(x, x * numbers.between(-1, 1));
    check(std::nearbyint(numbers.between(-1e6, 1e6)), std::nearbyint(numbers.between(-100, 100)));
  }
  for (const double x : special)
    for (const double y : special) check(x, y), check(x, DBL_MIN * y), check(DBL_MAX, x), check(x, DBL_MIN);
}

TEST_CASE("float64: the angle of a point is at most 2 units in the last place off, and has C's special cases") {
  Numbers numbers;
  Errors errors;
  for (int i = 0; i < count; ++i) {
    const double x = i % 2 == 0 ? numbers.between(-2, 2) : std::exp(numbers.between(-600, 700));
    const double y = i % 3 == 0 ? numbers.between(-2, 2) : x * std::exp(numbers.between(-30, 30));
    errors.add(math::atan2(y, x), std::atan2(static_cast<long double>(y), static_cast<long double>(x)), y, x);
  }
  INFO("at " << errors.at.first << ", " << errors.at.second);
  CHECK(errors.largest <= 2);
  for (const double y : special)
    for (const double x : special) {
      INFO(y << " above " << x);
      const double angle = math::atan2(y, x), right = std::atan2(y, x);
      CHECK(error_in_ulp(angle, static_cast<long double>(right)) <= 1);
      CHECK((std::isnan(right) || std::signbit(angle) == std::signbit(right)));
    }
}

TEST_CASE("float64: powers have small errors, and C's special cases") {
  Numbers numbers;
  Errors errors;
  for (int i = 0; i < count; ++i) {
    const double x = i % 2 == 0 ? std::exp(numbers.between(-50, 50)) : numbers.between(0.9, 1.1);
    const double y = i % 2 == 0 ? numbers.between(-15, 15) : numbers.between(-8000, 8000);
    errors.add(functions::power_of_double(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y)), x, y);
  }
  INFO("at " << errors.at.first << ", " << errors.at.second);
  CHECK(errors.largest <= 1);
  for (const double x : special)
    for (const double y : special) {
      INFO(x << " to the power of " << y);
      const double power = functions::power_of_double(x, y), right = std::pow(x, y);
      CHECK(error_in_ulp(power, static_cast<long double>(right)) <= 1);
      CHECK((std::isnan(right) || std::signbit(power) == std::signbit(right)));
    }
}

TEST_CASE("float64: a product and a sum are rounded once, as by std::fma") {
  Numbers numbers;
  int differences = 0;
  for (int i = 0; i < count; ++i) {
    const double a = numbers.between(-2, 2), b = numbers.between(-2, 2);
    const double c = i % 5 == 0 ? -a * b : numbers.between(-3, 3) * (i % 2 == 0 ? 1 : std::exp(numbers.between(-80, 80)));
    differences += tilewright::detail::fused(a, b, c) != std::fma(a, b, c);
  }
  CHECK(differences == 0);
  CHECK(tilewright::detail::fused(1e300, 1e-300, 1) == 2);
  CHECK(tilewright::detail::fused(1e300, 1e300, 1) == infinity);
}

#ifdef __FLT16_MANT_DIG__
TEST_CASE("float16 in integers is the compiler's") {
  using Own = tilewright::detail::Float16;
  int differences = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    Own own;
    own.bits = static_cast<std::uint16_t>(bits);
    const float number = static_cast<float>(std::bit_cast<_Float16>(own)), own_number = own;
    if (std::isnan(number)) differences += !std::isnan(own_number);
    else differences += std::bit_cast<std::uint32_t>(number) != std::bit_cast<std::uint32_t>(own_number);
  }
  CHECK(differences == 0);
  for (std::uint64_t bits = 0; bits < 0x100000000; bits += 65'521 - bits % 7) {  // of floats
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const Own own(number);
    if (std::isnan(number)) differences += !std::isnan(static_cast<float>(own));
    else differences += own.bits != std::bit_cast<std::uint16_t>(static_cast<_Float16>(number));
  }
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {  // half of the way to the next half, and its neighbours
    Own own, next;
    own.bits = static_cast<std::uint16_t>(bits), next.bits = static_cast<std::uint16_t>(bits + 1);
    if (bits + 1 == 0x7c00) break;
    const float middle = (static_cast<float>(own) + static_cast<float>(next)) / 2;
    for (const float number : {std::nextafter(middle, 0.f), middle, std::nextafter(middle, 1e9f)})
      differences += Own(number).bits != std::bit_cast<std::uint16_t>(static_cast<_Float16>(number));
  }
  Numbers numbers;
  for (int i = 0; i < count; ++i) {
    const double number = numbers.between(-70'000, 70'000) * std::ldexp(1.0, -i % 40);
    const auto integer = static_cast<std::int64_t>(number * 100);
    differences += Own(number).bits != std::bit_cast<std::uint16_t>(static_cast<_Float16>(number));
    differences += Own(integer).bits != std::bit_cast<std::uint16_t>(static_cast<_Float16>(integer));
  }
  CHECK(differences == 0);
}
#endif
