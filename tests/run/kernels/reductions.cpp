// labels: more
// Kernels of reductions, running sums and orders over all dtypes, along rows and columns, beside loops over single elements.
// 64-bit integers have values that no double has.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/array.hpp"
#include "tilewright/ops/ops.hpp"

namespace tw = tilewright;
namespace authoring = tw::authoring;

namespace {

template <tw::DType dtype, tw::Shape shape>
using Dense = tw::View<tw::written_out({dtype, shape, tw::dense_strides(shape)})>;

/// Elements with ties, extremes of the dtype and both signs.
template <class T>
std::vector<T> elements(std::int64_t count) {
  std::mt19937_64 random(7);
  std::vector<T> result(static_cast<std::size_t>(count));
  for (T& x : result) {
    const auto bits = random();
    if constexpr (std::is_integral_v<T>) x = static_cast<T>(bits % 4 == 0 ? bits % 3 : bits);
    else x = static_cast<T>(static_cast<int>(bits % 65) / 16.0 - 2);
  }
  if constexpr (std::is_integral_v<T>) {
    result[3] = std::numeric_limits<T>::max();
    result[1] = std::numeric_limits<T>::lowest();
  }
  return result;
}

/// Calls f(line of x) for the lines along an axis, and compares what it gives with the elements of y, k of them.
template <class T, class R, class F>
void check_lines(const std::vector<T>& x, const std::vector<R>& y, std::int64_t columns, int axis, std::int64_t k,
                 double tolerance, F&& f) {
  const auto rows = static_cast<std::int64_t>(x.size()) / columns;
  const std::int64_t n = axis == 0 ? rows : columns, lines = axis == 0 ? columns : rows;
  const std::int64_t y_columns = axis == 0 ? columns : k;
  std::int64_t wrong = 0;
  for (std::int64_t line = 0; line < lines; ++line) {
    std::vector<T> elements;
    for (std::int64_t i = 0; i < n; ++i)
      elements.push_back(x[static_cast<std::size_t>(axis == 0 ? i * columns + line : line * columns + i)]);
    const auto expected = f(elements);
    for (std::int64_t i = 0; i < k; ++i) {
      const R actual = y[static_cast<std::size_t>(axis == 0 ? i * y_columns + line : line * y_columns + i)];
      const auto e = expected[static_cast<std::size_t>(i)];
      if constexpr (std::is_integral_v<R>) wrong += actual != static_cast<R>(e);
      else
        wrong += !(std::abs(static_cast<double>(actual) - static_cast<double>(e)) <=
                   tolerance * std::max(1.0, std::abs(static_cast<double>(e))));
    }
  }
  CHECK(wrong == 0);
}

template <tw::DType dtype, int axis>
void check_kernels() {
  using T = tw::element_t<dtype>;
  using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  constexpr std::int64_t rows = 6, columns = 35, n = axis == 0 ? rows : columns, lines = rows * columns / n;
  constexpr std::uint64_t bits = std::uint64_t{1} << axis;
  constexpr tw::Shape kept{lines};
  using X = Dense<dtype, tw::Shape{rows, columns}>;
  using Y = Dense<dtype, kept>;
  using I = Dense<tw::int32, kept>;
  constexpr double tolerance = dtype == tw::float16 ? 1e-3 : dtype == tw::float32 ? 1e-5 : 1e-12;
  INFO(to_text(dtype) << ", axis " << axis);
  std::vector<T> x = elements<T>(rows * columns), y(static_cast<std::size_t>(lines));
  std::vector<std::int32_t> index(static_cast<std::size_t>(lines));
  const auto check = [&](auto f) {
    check_lines(x, y, columns, axis, 1, tolerance, [&](const auto& line) { return std::vector{f(line)}; });
  };
  const auto check_index = [&](auto f) {
    check_lines(x, index, columns, axis, 1, 0, [&](const auto& line) { return std::vector{f(line) - line.begin()}; });
  };
  const auto total = [](const auto& line, Wide start, auto combine) {
    for (const T each : line) start = combine(start, static_cast<Wide>(each));
    return start;
  };
  const auto array = X{x.data()}.array();
  const auto reduced = Y{y.data()}.array();
  reduced = authoring::max<axis>(array);
  check([](const auto& line) { return *std::max_element(line.begin(), line.end()); });
  reduced = authoring::min<axis>(array);
  check([](const auto& line) { return *std::min_element(line.begin(), line.end()); });
  tw::kernel::assign_extreme_index<true, axis>(X{x.data()}, I{index.data()});
  check_index([](const auto& line) { return std::max_element(line.begin(), line.end()); });
  tw::kernel::assign_extreme_index<false, axis>(X{x.data()}, I{index.data()});
  check_index([](const auto& line) { return std::min_element(line.begin(), line.end()); });
  tw::kernel::assign_median<bits>(X{x.data()}, Y{y.data()});
  check([](auto line) {
    std::sort(line.begin(), line.end());
    return line[(n - 1) / 2];
  });

  if constexpr (std::is_integral_v<T>) {
    reduced = authoring::prod<axis>(array);
    check([&](const auto& line) { return total(line, 1, [](Wide a, Wide b) { return a * b; }); });
    tw::kernel::assign_integer_mean<bits>(X{x.data()}, Y{y.data()});
    check([&](const auto& line) {
      const Wide sum = total(line, 0, [](Wide a, Wide b) { return a + b; });
      if constexpr (std::is_signed_v<T>) return static_cast<std::int64_t>(sum) / n;
      else return sum / n;
    });
  }
  reduced = authoring::sum<axis>(xt::square(array));
  check([&](const auto& line) { return total(line, 0, [](Wide a, Wide b) { return a + b * b; }); });
  reduced = authoring::sum<axis>(xt::abs(array));
  check([&](const auto& line) {
    return total(line, 0, [](Wide a, Wide b) {
      if constexpr (std::is_unsigned_v<T>) return a + b;
      else if constexpr (std::is_integral_v<T>) return a + (static_cast<std::int64_t>(b) < 0 ? 0 - b : b);
      else return a + std::abs(b);
    });
  });
  tw::kernel::assign_sum<bits>(X{x.data()}, Y{y.data()}, 1);
  check([&](const auto& line) { return total(line, 0, [](Wide a, Wide b) { return a + b; }); });

  std::vector<T> sums(x.size());
  const auto running = [](const auto& line) {
    std::vector<Wide> result;
    Wide sum = 0;
    for (const T each : line) result.push_back(sum += static_cast<Wide>(each));
    return result;
  };
  tw::kernel::assign_running_sums<axis, false>(X{x.data()}, X{sums.data()});
  check_lines(x, sums, columns, axis, n, tolerance, running);
  tw::kernel::assign_running_sums<axis, true>(X{x.data()}, X{sums.data()});
  check_lines(x, sums, columns, axis, n, tolerance, [&](auto line) {
    std::ranges::reverse(line);
    auto result = running(line);
    std::ranges::reverse(result);
    return result;
  });

  constexpr std::int64_t k = 4;
  constexpr tw::Shape best{axis == 0 ? k : rows, axis == 0 ? columns : k};
  std::vector<T> values(static_cast<std::size_t>(lines * k));
  std::vector<std::int32_t> indices(values.size());
  const auto check_top = [&](auto before) {
    const auto order = [&](const auto& line) {
      std::vector<std::size_t> result(line.size());
      std::iota(result.begin(), result.end(), std::size_t{0});
      std::ranges::sort(result, [&](auto a, auto b) { return before(line[a], line[b]) || (!before(line[b], line[a]) && a < b); });
      return result;
    };
    check_lines(x, indices, columns, axis, k, 0, order);
    check_lines(x, values, columns, axis, k, 0, [&](const auto& line) {
      std::vector<T> result;
      for (const auto i : order(line)) result.push_back(line[i]);
      return result;
    });
  };
  using Values = Dense<dtype, best>;
  using Indices = Dense<tw::int32, best>;
  tw::kernel::assign_top<true, axis>(X{x.data()}, Values{values.data()}, Indices{indices.data()});
  check_top([](T a, T b) { return a > b; });
  tw::kernel::assign_top<false, axis>(X{x.data()}, Values{values.data()}, Indices{indices.data()});
  check_top([](T a, T b) { return a < b; });
}
template <tw::DType... dtypes>
void check_dtypes() {
  (check_kernels<dtypes, 0>(), ...);
  (check_kernels<dtypes, 1>(), ...);
}

/// The k largest of a long line, which is not kept in registers or sorted in one go.
template <std::int64_t n, std::int64_t k>
void check_long_top() {
  std::vector<float> x(n), values(k);
  std::vector<std::int32_t> indices(k);
  std::mt19937 random(3);
  for (float& each : x) each = static_cast<float>(random() % 5000);
  tw::kernel::assign_top<true, 0>(Dense<tw::float32, tw::Shape{n}>{x.data()}, Dense<tw::float32, tw::Shape{k}>{values.data()},
                                  Dense<tw::int32, tw::Shape{k}>{indices.data()});
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](auto a, auto b) {
    const float x_a = x[static_cast<std::size_t>(a)], x_b = x[static_cast<std::size_t>(b)];
    return x_a > x_b || (x_a == x_b && a < b);
  });
  order.resize(k);
  CHECK(indices == order);
}

}  // namespace

TEST_CASE("kernels of reductions on signed integers") { check_dtypes<tw::int8, tw::int16, tw::int32, tw::int64>(); }
TEST_CASE("kernels of reductions on unsigned integers") { check_dtypes<tw::uint8, tw::uint16, tw::uint32, tw::uint64>(); }
TEST_CASE("kernels of reductions on floating point numbers") { check_dtypes<tw::float16, tw::float32, tw::float64>(); }
TEST_CASE("the largest of long lines") {
  check_long_top<9001, 1>();
  check_long_top<9001, 300>();
  check_long_top<5000, 2500>();
  check_long_top<5000, 5000>();
}
TEST_CASE("indices of extremes where columns are more than a block") {
  constexpr std::int64_t rows = 3, columns = 2 * tw::kernel::columns_at_once + 21;
  const std::vector<float> x = [] {
    std::vector<float> result = elements<float>(rows * columns);
    for (std::size_t i = 0; i < result.size(); i += 97) result[i] = NAN;
    return result;
  }();
  std::vector<std::int32_t> index(columns);
  std::vector<float> largest(columns);
  using X = Dense<tw::float32, tw::Shape{rows, columns}>;
  using Y = Dense<tw::float32, tw::Shape{columns}>;
  tw::kernel::assign_extreme_index<true, 0>(X{const_cast<float*>(x.data())}, Dense<tw::int32, tw::Shape{columns}>{index.data()});
  Y{largest.data()}.array() = authoring::max<0>(X{const_cast<float*>(x.data())}.array());
  std::int64_t wrong = 0;
  for (std::size_t j = 0; j < columns; ++j) {
    std::size_t first = 0;
    for (std::size_t i = 1; i < rows; ++i) {
      const float best = x[first * columns + j], next = x[i * columns + j];
      if (!std::isnan(best) && (next > best || std::isnan(next))) first = i;
    }
    const float expected = x[first * columns + j];
    wrong += index[j] != static_cast<std::int32_t>(first);
    wrong += largest[j] != expected && !(std::isnan(largest[j]) && std::isnan(expected));
  }
  CHECK(wrong == 0);
}
