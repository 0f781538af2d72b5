// labels: none
// Products in slices that come one after the other, and sums of parts in stages, on the IPU model, beside plain loops. Integers
// have sums that float32 has exactly.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../strict/run.hpp"

namespace {

using support::load, support::store;
using namespace tw::literals;

template <int tiles>
constexpr tw::Target ipu = tw::gc200.with_tiles(tiles);
template <auto build, tw::Target target>
constexpr std::size_t steps = support::plan_of(build, target).steps.size();

/// Integers from -4 to 4.
template <std::size_t rank>
xt::xtensor<float, rank> integers(const std::array<std::size_t, rank>& shape, std::size_t seed) {
  xt::xtensor<float, rank> result(shape);
  for (std::size_t i = seed; float& element : result) element = static_cast<float>((i * 2'654'435'761 >> 13) % 9) - 4, ++i;
  return result;
}

// ---- products; the last number is how many thousandths of a tile's memory one may take

template <int rows, int inner, int columns, int thousandths>
constexpr void product(tw::Ir& ir) {
  const tw::MatMulOptions options{.available_memory_proportion = thousandths / 1000.};
  store("y", tw::ops::matmul(load(ir, "x", {rows, inner}), load(ir, "w", {inner, columns}), options));
}
// Products in turn with the sums of their parts, and a copy to the stream.
static_assert(steps<product<8, 64, 80, 600>, ipu<4>> == 2);
static_assert(steps<product<8, 64, 80, 5>, ipu<4>> == 5 * 2 + 1, "5 slices of columns");
static_assert(steps<product<8, 512, 16, 5>, ipu<16>> == 2 * 2 + 1, "2 of the inner axis, of which the copy adds the sums");
static_assert(steps<product<64, 512, 84, 5>, ipu<4>> == 6 * 4 * 2 + 6 + 1, "6 of columns, the last of 4, by 4 of the inner axis");

template <int rows, int inner, int columns, int thousandths, int tiles>
void check_product() {
  const auto x = integers<2>({rows, inner}, 1), w = integers<2>({inner, columns}, 2);
  tw::Session<product<rows, inner, columns, thousandths>, ipu<tiles>> session;
  const xt::xtensor<float, 2> y = session.run("x"_s = x, "w"_s = w)["y"_s];
  int wrong = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < inner; ++k) sum += x(i, k) * w(k, j);
      wrong += y(i, j) != sum;
    }
  CHECK(wrong == 0);
  check_strict<product<rows, inner, columns, thousandths>, ipu<tiles>>(1);
}

/// A 3 x 3 convolution.
template <int thousandths>
constexpr void convolution(tw::Ir& ir) {
  tw::ConvOptions options{.padding = {1, 1, 1, 1}, .available_memory_proportions = {thousandths / 1000.}};
  store("y", tw::ops::conv(load(ir, "x", {2, 8, 6, 6}), load(ir, "w", {48, 8, 3, 3}), options));
}
static_assert(steps<convolution<600>, ipu<4>> == 2 && steps<convolution<2>, ipu<4>> > 2, "slices of channels");

// ---- sums of more parts than are added at once

constexpr void integer_sum(tw::Ir& ir) { store("y", load(ir, "x", {100'003}, tw::int32).sum()); }
constexpr void column_sums(tw::Ir& ir) { store("y", load(ir, "x", {40'000, 5}).sum(tw::Axes(0))); }
constexpr void maxima(tw::Ir& ir) { store("y", tw::ops::max(load(ir, "x", {40'000, 5}, tw::float16), tw::Axes(0))); }
constexpr void log_sum(tw::Ir& ir) { store("y", tw::ops::logsumexp(load(ir, "x", {90'000}))); }
static_assert(steps<integer_sum, tw::gc200> == 3 && steps<maxima, tw::gc200> == 3 && steps<log_sum, tw::gc200> == 3,
              "parts, sums of some of them, sums of these");
static_assert(steps<column_sums, tw::gc200> == 4,
              "1,429 parts of 28 rows: few workers add 5 columns, so that 3 stages are faster");

}  // namespace

TEST_CASE("a product in slices of columns has the exact sums") { check_product<8, 64, 80, 5, 4>(); }
TEST_CASE("a product in slices of its sums has the exact sums") { check_product<8, 512, 16, 5, 16>(); }
TEST_CASE("a product in slices of columns and of its sums has the exact sums") { check_product<64, 512, 84, 5, 4>(); }

TEST_CASE("a convolution in slices has the exact sums") {
  const auto x = integers<4>({2, 8, 6, 6}, 1), w = integers<4>({48, 8, 3, 3}, 2);
  tw::Session<convolution<2>, ipu<4>> session;
  const xt::xtensor<float, 4> y = session.run("x"_s = x, "w"_s = w)["y"_s];
  int wrong = 0;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t m = 0; m < 48; ++m)
      for (std::size_t i = 0; i < 36; ++i) {
        float sum = 0;
        for (std::size_t c = 0; c < 8; ++c)
          for (std::size_t k = 0; k < 9; ++k) {
            const std::size_t row = i / 6 + k / 3, column = i % 6 + k % 3;  // of the padded image
            if (row >= 1 && row <= 6 && column >= 1 && column <= 6) sum += x(n, c, row - 1, column - 1) * w(m, c, k / 3, k % 3);
          }
        wrong += y(n, m, i / 6, i % 6) != sum;
      }
  CHECK(wrong == 0);
  check_strict<convolution<2>, ipu<4>>(1);
}

TEST_CASE("sums of parts in stages have the exact sums") {
  xt::xtensor<std::int32_t, 1> x(std::array<std::size_t, 1>{100'003});
  std::int32_t sum = 0;
  for (std::int32_t i = 0; auto& element : x) element = i * i % 1'000 - 300, sum += element, ++i;
  tw::Session<integer_sum, tw::gc200> session;
  CHECK(session.run("x"_s = x)["y"_s]() == sum);
  check_strict<integer_sum, tw::gc200>(1);

  const auto rows = integers<2>({40'000, 5}, 3);
  tw::Session<column_sums, tw::gc200> columns;
  const xt::xtensor<float, 1> sums = columns.run("x"_s = rows)["y"_s];
  for (std::size_t j = 0; j < 5; ++j) {
    float expected = 0;
    for (std::size_t i = 0; i < 40'000; ++i) expected += rows(i, j);
    CHECK(sums(j) == expected);
  }
  check_strict<column_sums, tw::gc200>(1);
}

TEST_CASE("other results of parts in stages are those of all elements") {
  auto rows = integers<2>({40'000, 5}, 4);
  rows(31'234, 2) = 77;
  tw::Session<maxima, tw::gc200> session;
  const xt::xtensor<tw::float16_t, 2> halves = xt::cast<tw::float16_t>(rows);
  const auto most = session.run("x"_s = halves)["y"_s];
  for (std::size_t j = 0; j < 5; ++j) CHECK(static_cast<float>(most(j)) == (j == 2 ? 77 : 4));
  check_strict<maxima, tw::gc200>(1);

  const auto x = integers<1>({90'000}, 5);
  double sum = 0;
  for (const float element : x) sum += std::exp(static_cast<double>(element));
  tw::Session<log_sum, tw::gc200> logs;
  CHECK(std::abs(logs.run("x"_s = x)["y"_s]() - std::log(sum)) < 1e-5);
  check_strict<log_sum, tw::gc200>(1);
}

// ---- reductions of a stream, of which each tile adds up what it has

template <bool takes_maximum>
constexpr void between(tw::Ir& ir) {  // terms before and behind each result
  const auto x = load(ir, "x", {4, 64, 8, 4});
  store("y", takes_maximum ? tw::ops::max(x, {1, 3}) : tw::ops::sum(x, {1, 3}));
}
static_assert(
    [] {
      const tw::Plan plan = support::plan_of(between<false>, ipu<64>);
      return plan.moves[0].before.total_bytes == 0 && plan.steps[0].vertices == 64;
    }(),
    "4 x 8 x 4 elements on a tile, of one image");

TEST_CASE("reductions of what tiles have are those of all elements") {
  const auto x = integers<4>({4, 64, 8, 4}, 5);
  tw::Session<between<false>, ipu<64>> sums({.strict = true});
  tw::Session<between<true>, ipu<64>> maxima({.strict = true});
  const xt::xtensor<float, 2> sum = sums.run("x"_s = x)["y"_s], largest = maxima.run("x"_s = x)["y"_s];
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 8; ++j) {
      float expected = 0, most = -4;
      for (std::size_t k = 0; k < 64; ++k)
        for (std::size_t l = 0; l < 4; ++l) expected += x(i, k, j, l), most = std::max(most, x(i, k, j, l));
      CHECK(sum(i, j) == expected);
      CHECK(largest(i, j) == most);
    }
}
