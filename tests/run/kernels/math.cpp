// labels: arm clang portable ubsan
// The functions of kernel/math.hpp against the standard library's in double precision.
#include <cstring>

#include "tilewright/ops/elementwise/activation.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
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

/// Whether a formula of x and y gives the same bits for floats and for batches of them.
template <class F>
bool gives_same_bits(F f) {
  alignas(batch) float x[batch::size], y[batch::size], results[batch::size];
  for (std::size_t round = 0; round < 200; ++round) {
    for (std::size_t i = 0; i < batch::size; ++i) {
      const auto number = static_cast<float>(round * batch::size + i);
      x[i] = std::sin(number), y[i] = 3 * std::cos(number);
    }
    f(batch::load_aligned(x), batch::load_aligned(y)).store_aligned(results);
    for (std::size_t i = 0; i < batch::size; ++i)
      if (const float result = f(x[i], y[i]); std::memcmp(&result, &results[i], sizeof(float)) != 0) return false;
  }
  return true;
}
TEST_CASE("gradients of activations are the same bits in vectors and in single elements") {
  CHECK(gives_same_bits([](auto x, auto dy) { return tilewright::Gelu::backward(x, dy); }));
  CHECK(gives_same_bits([](auto x, auto dy) { return tilewright::GeluErf::backward(x, dy); }));
  CHECK(gives_same_bits([](auto y, auto dy) { return tilewright::Sigmoid::backward(y, dy); }));
  CHECK(gives_same_bits([](auto x, auto dy) { return tilewright::Swish::backward(x, dy); }));
  CHECK(gives_same_bits([](auto y, auto dy) { return tilewright::Tanh::backward(y, dy); }));
}
