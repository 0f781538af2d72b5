// labels: clang portable tsan
// Elements that kernels copy as they are: runs of lengths around vectors and around what memcpy copies, and results that are too
// large for caches.
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "../../support/elements.hpp"
#include "tilewright/kernel/copy/copy_run.hpp"
#include "tilewright/kernel/copy/streamed_copy.hpp"

namespace {

/// Copies `count` elements between odd addresses; whether they arrived, and nothing before or after them changed.
template <class T, std::size_t count>
bool arrives() {
  std::minstd_rand random(1);
  std::vector<T> from(count + 3), to(count + 5);
  for (auto* const elements : {&from, &to})
    for (T& element : *elements) element = static_cast<T>(random());
  std::vector<T> expected = to;
  for (std::size_t i = 0; i < count; ++i) expected[i + 3] = from[i + 1];
  tilewright::kernel::copy_run<count>(to.data() + 3, from.data() + 1);
  return to == expected;
}
template <class T, std::size_t first, std::size_t... i>
std::vector<std::size_t> lost(std::index_sequence<i...>) {
  std::vector<std::size_t> counts;
  ((arrives<T, first + i>() ? void() : counts.push_back(first + i)), ...);
  return counts;
}

TEST_CASE("copied runs: all elements arrive, and none beside them changes") {
  constexpr std::make_index_sequence<140> counts;
  CHECK(lost<std::uint8_t, 1>(counts).empty());
  CHECK(lost<std::uint32_t, 1>(counts).empty());
  CHECK(lost<std::uint8_t, 4090>(std::make_index_sequence<12>()).empty());
  CHECK(lost<std::uint64_t, 510>(std::make_index_sequence<5>()).empty());
}

namespace tw = tilewright;
using tw::Tensor;

constexpr std::int64_t rows = 5, columns = 64;
constexpr tw::ViewSpec matrix(std::int64_t row_stride, std::int64_t column_stride, tw::DType dtype) {
  return tw::written_out({dtype, {rows, columns}, {row_stride, column_stride}});
}
/// Streams a matrix into rows that start `row_stride` elements apart, from `shift` elements after the start of a cache line on;
/// whether its elements arrived, and nothing between or beside them changed.
template <class T, std::int64_t row_stride, std::int64_t from_row, std::int64_t from_column>
bool streams(std::size_t shift) {
  constexpr tw::DType dtype = tw::dtype_of<T>;
  constexpr auto all = static_cast<std::size_t>(row_stride * rows + 64);
  std::vector<T> from(rows * 256), expected(all, T(77));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i % 127);
  const std::unique_ptr<T[], decltype(&std::free)> to(static_cast<T*>(std::aligned_alloc(64, (all * sizeof(T) + 63) / 64 * 64)),
                                                      &std::free);
  std::fill_n(to.get(), all, T(77));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      expected[shift + static_cast<std::size_t>(r * row_stride + c)] =
          from[static_cast<std::size_t>(r * from_row + c * from_column)];
  tw::kernel::stream_elements(tw::View<matrix(row_stride, 1, dtype)>{to.get() + shift},
                              tw::View<matrix(from_row, from_column, dtype)>{from.data()});
  return std::equal(expected.begin(), expected.end(), to.get());
}

/// Copies three transposed matrices, of elements with all bits, into rows that are 3 elements longer; whether each element
/// arrived bit by bit, and none beside them changed.
template <class T, std::int64_t m, std::int64_t n>
bool arrives_transposed() {
  constexpr tw::DType dtype = tw::dtype_of<T>;
  constexpr tw::Shape shape{3, m, n};
  std::minstd_rand random(1);
  std::vector<T> from(3 * m * n), to(3 * m * (n + 3));
  for (auto* const elements : {&from, &to})
    for (T& element : *elements) {
      const std::uint64_t bits = random() * 0x9e3779b97f4a7c15;
      std::memcpy(&element, &bits, sizeof(T));
    }
  std::vector<T> expected = to;
  for (std::int64_t b = 0; b < 3; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        expected[static_cast<std::size_t>((b * m + i) * (n + 3) + j)] = from[static_cast<std::size_t>((b * n + j) * m + i)];
  constexpr tw::ViewSpec rows_of_to = tw::written_out({dtype, shape, {m * (n + 3), n + 3, 1}});
  constexpr tw::ViewSpec columns_of_from = tw::written_out({dtype, shape, {m * n, 1, m}});
  tw::kernel::copy_elements(tw::View<rows_of_to>{to.data()}, tw::View<columns_of_from>{from.data()});
  return std::memcmp(to.data(), expected.data(), to.size() * sizeof(T)) == 0;
}

TEST_CASE("transposed copies: all elements arrive bit by bit, and none beside them changes") {
  CHECK(arrives_transposed<float, 16, 16>());
  CHECK(arrives_transposed<float, 33, 47>());
  CHECK(arrives_transposed<float, 5, 40>());
  CHECK(arrives_transposed<float, 4, 4>());
  CHECK(arrives_transposed<std::int32_t, 32, 19>());
  CHECK(arrives_transposed<tw::float16_t, 31, 48>());
  CHECK(arrives_transposed<std::uint16_t, 16, 33>());
  CHECK(arrives_transposed<std::uint8_t, 32, 32>());
  CHECK(arrives_transposed<double, 20, 17>());
}

TEST_CASE("streamed copies: all elements arrive, and none beside them changes") {
  for (std::size_t shift : {std::size_t{0}, std::size_t{3}, std::size_t{16}}) {
    CAPTURE(shift);
    CHECK(streams<float, 64, 64, 1>(shift));  // one run
    CHECK(streams<float, 80, 64, 1>(shift));
    CHECK(streams<float, 81, 64, 1>(shift));  // only the first row starts a line
    CHECK(streams<float, 80, 200, 3>(shift));
    CHECK(streams<float, 80, 0, 1>(shift));  // one row, many times
    CHECK(streams<float, 80, 1, 0>(shift));
    CHECK(streams<double, 96, 64, 1>(shift));
    CHECK(streams<std::uint8_t, 128, 256, 4>(shift));
    CHECK(streams<std::uint8_t, 100, 64, 1>(shift));
  }
}

/// A matrix twice side by side, every second column of it, and what all threads read of the first.
constexpr void large_copies(tw::Ir& ir) {
  const Tensor x = support::load(ir, "x", {2048, 1024});
  const Tensor twice = tw::ops::concat({x, x}, 1);
  support::store("twice", twice);
  support::store("half", tw::ops::identity(tw::ops::subsample(x, {1, 2})));
  support::store("sums", tw::ops::sum(twice, 0));
}

TEST_CASE("streamed copies: steps that follow read what was written, in all threads") {
  std::vector<float> x(2048 * 1024), twice, half, sums(2048);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1021);
  for (std::size_t row = 0; row < 2048; ++row) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row * 1024);
    for (int copy = 0; copy < 2; ++copy) twice.insert(twice.end(), begin, begin + 1024);
    for (std::ptrdiff_t column = 0; column < 1024; column += 2) half.push_back(begin[column]);
    for (std::size_t column = 0; column < 2048; ++column) sums[column] += x[row * 1024 + column % 1024];  // exact
  }
  for (int threads : {1, 2}) {
    CAPTURE(threads);
    tw::Session<large_copies> session({.threads = threads});
    for (int run = 0; run < 3; ++run) {
      const auto results = session.run("x"_s = xt::adapt(x, std::vector<std::size_t>{2048, 1024}));
      CHECK(elements(results["twice"_s]) == twice);
      CHECK(elements(results["half"_s]) == half);
      CHECK(elements(results["sums"_s]) == sums);
    }
  }
}

}  // namespace
