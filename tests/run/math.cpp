// The functions of kernel/math.hpp against the standard library's in double precision.
#include "ulp.hpp"

// The bounds are those of the docstrings. Measured with every 31st float: 1.6, 0.9, 2.5 and 2.5.
TEST_CASE("exp, log, tanh and sigmoid are at most 3 units in the last place off") {
  CHECK(largest_error([](auto x) { return math::exp(x); }, [](double x) { return std::exp(x); }) <= 2);
  CHECK(largest_error([](auto x) { return math::log(x); }, [](double x) { return std::log(x); }) <= 1);
  CHECK(largest_error([](auto x) { return math::tanh(x); }, [](double x) { return std::tanh(x); }) <= 3);
  CHECK(largest_error([](auto x) { return math::sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }) <= 3);
}

TEST_CASE("the square root is rounded right") {
  CHECK(largest_error([](auto x) { return math::sqrt(x); }, [](double x) { return std::sqrt(x); }) <= 0.5);
}

TEST_CASE("functions meet their limits") {
  CHECK(math::exp(0.f) == 1);
  CHECK(math::exp(-200.f) == 0);
  CHECK(math::exp(-infinity) == 0);
  CHECK(math::log(1.f) == 0);
  CHECK(math::log(-0.f) == -infinity);
  CHECK(std::signbit(math::tanh(-0.f)));
  CHECK(math::tanh(1e-20f) == 1e-20f);
  CHECK(math::tanh(-infinity) == -1);
  CHECK(math::sigmoid(-infinity) == 0);
  CHECK(math::sigmoid(infinity) == 1);
}
