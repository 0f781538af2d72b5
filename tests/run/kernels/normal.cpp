// labels: arm portable
// Normally distributed numbers, against what is known of the distribution. Bounds on statistics are 5 standard errors.
#include "tilewright/core/random/normal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/graph/initialiser.hpp"

namespace {

namespace tw = tilewright;
using Numbers = std::vector<double>;

constexpr std::size_t many = 1 << 20;

Numbers normal_numbers(std::size_t count, std::uint64_t seed) {
  tw::Random random(seed);
  Numbers values(count);
  tw::draw_normal(values, random);
  return values;
}
template <class F>
double mean_of(const Numbers& values, F f) {
  return std::accumulate(values.begin(), values.end(), 0.0, [&](double sum, double x) { return sum + f(x); }) /
         static_cast<double>(values.size());
}
/// The probability of numbers up to x.
double normal_distribution(double x) { return std::erfc(-x * std::numbers::sqrt2 / 2) / 2; }

/// The mean of products of numbers that are `lag` apart.
template <class F>
double correlation(const Numbers& values, std::size_t lag, F f) {
  double sum = 0;
  for (std::size_t i = lag; i < values.size(); ++i) sum += f(values[i - lag]) * f(values[i]);
  return sum / static_cast<double>(values.size() - lag);
}
double itself(double x) { return x; }
double normalised_square(double x) { return (x * x - 1) / std::numbers::sqrt2; }

}  // namespace

TEST_CASE("normal numbers: moments") {
  const Numbers values = normal_numbers(many, GENERATE(0u, 1u, 2u, 42u, 1u << 31));
  const double error = 5 / std::sqrt(static_cast<double>(many));
  CHECK(std::abs(mean_of(values, itself)) < error);
  CHECK(std::abs(mean_of(values, [](double x) { return x * x; }) - 1) < error * std::sqrt(2.0));
  CHECK(std::abs(mean_of(values, [](double x) { return x * x * x; })) < error * std::sqrt(15.0));
  CHECK(std::abs(mean_of(values, [](double x) { return x * x * x * x; }) - 3) < error * std::sqrt(96.0));
}
TEST_CASE("normal numbers: the distribution function") {
  Numbers values = normal_numbers(many, GENERATE(3u, 4u, 5u));
  std::ranges::sort(values);
  double largest = 0;
  for (std::size_t i = 0; i < many; ++i)
    largest = std::max(largest, std::abs((static_cast<double>(i) + 0.5) / many - normal_distribution(values[i])));
  CHECK(largest < 1.95 / std::sqrt(static_cast<double>(many)));  // Kolmogorov's distribution: exceeded once in 1,000
}
TEST_CASE("normal numbers: tails") {
  constexpr int seeds = 8;
  const double limit = GENERATE(2.0, 3.0, 4.0, 4.5);
  double below = 0, above = 0, farthest = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (const double x : normal_numbers(many, seed)) {
      below += x < -limit;
      above += x > limit;
      farthest = std::max(farthest, std::abs(x));
    }
  const double expected = seeds * many * normal_distribution(-limit);
  CHECK(std::abs(below - expected) < 5 * std::sqrt(expected));
  CHECK(std::abs(above - expected) < 5 * std::sqrt(expected));
  CHECK(farthest > 4.8);
  CHECK(farthest < 6.6);
}
TEST_CASE("normal numbers: neighbours are independent") {
  const Numbers values = normal_numbers(many, GENERATE(6u, 7u));
  for (const std::size_t lag : {1, 2, 3, 4, 128, 256, 512, 784, 1024}) {
    INFO("lag " << lag);
    CHECK(std::abs(correlation(values, lag, itself)) < 5 / std::sqrt(static_cast<double>(many)));
    CHECK(std::abs(correlation(values, lag, normalised_square)) < 5 / std::sqrt(static_cast<double>(many)));
  }
}
TEST_CASE("normal numbers: seeds are independent") {
  const Numbers a = normal_numbers(many, 1), b = normal_numbers(many, 2);
  const double products = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  CHECK(std::abs(products) < 5 * std::sqrt(static_cast<double>(many)));
}
TEST_CASE("normal numbers: the logarithm and the sine") {
  double radius_error = 0, sine_error = 0;
  for (std::uint64_t i = 0; i < 1u << 24; i += 37) {
    const auto bits = static_cast<std::uint32_t>(i << 8 | (i & 255));
    const double right = -2 * std::log((bits >> 1 | 1) * 0x1p-31);
    radius_error = std::max(radius_error, std::abs(double{tw::detail::squared_radius(bits)} - right) / std::max(1.0, right));
    const double x = static_cast<double>(i << 2 | 1) * 0x1p-26;
    sine_error = std::max(sine_error, std::abs(tw::detail::sine_of_quarter(x) - std::sin(std::numbers::pi / 2 * x)));
  }
  // the polynomial's error, and half a unit of the last place of u and of the result
  CHECK(radius_error < 2 * std::numbers::ln2 * 0x1p-22 + 2 * 0x1p-25 + 0x1p-24);
  CHECK(sine_error < 0x1p-24);
  for (std::uint32_t i = 0; i < 10'000; ++i) CHECK_FALSE(tw::detail::squared_radius(0xffffffffu - i) < 0);
  CHECK(tw::detail::squared_radius(0) == Approx(62 * std::numbers::ln2));
}
TEST_CASE("normal numbers: these, bit for bit, on every machine") {
  CHECK(normal_numbers(5, 1) == Numbers{-0x1.7f1f8cp-1, 0x1.84b79ep-1, 0x1.0aa9d8p-2, -0x1.70cae8p-1, -0x1.251942p-3});
  double sum = 0;  // of integers: it is exact
  for (const double x : normal_numbers(many, 1)) sum += std::floor(std::ldexp(x, 20));
  CHECK(sum == -920719150);
}
TEST_CASE("normal numbers: what is drawn at once makes no difference") {
  const Numbers all = normal_numbers(1001, 9);
  tw::Random random(9);
  Numbers parts(1001);
  std::size_t first = 0;
  for (const std::size_t count : {2, 256, 0, 258, 300, 185}) {
    tw::draw_normal(std::span(parts).subspan(first, count), random);
    first += count;
  }
  CHECK(first == all.size());
  CHECK(parts == all);
}
TEST_CASE("initialisers: parameters") {
  tw::Random random(1);
  Numbers values(many);
  const auto fill = [&](const tw::Initialiser& initialiser) { initialiser.fill(values, initialiser.a, initialiser.b, random); };
  const double error = 5 / std::sqrt(static_cast<double>(many));
  fill(tw::normal(3, 0.5));
  CHECK(std::abs(mean_of(values, itself) - 3) < error / 2);
  CHECK(std::abs(mean_of(values, [](double x) { return (x - 3) * (x - 3); }) - 0.25) < error * std::sqrt(2.0) / 4);
  fill(tw::uniform(-1, 3));
  CHECK(std::abs(mean_of(values, itself) - 1) < error * 4 / std::sqrt(12.0));
  const auto [least, most] = std::ranges::minmax(values);
  CHECK(least >= -1);
  CHECK(least < -0.999);
  CHECK(most < 3);
  CHECK(most > 2.999);
}
