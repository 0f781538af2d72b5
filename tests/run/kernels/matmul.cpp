// labels: arm more
// Matrix products of all orientations and edge extents agree with a loop in double precision, bring each element to the epilogue
// once, and have the same bits in pieces.
#include <cmath>
#include <cstdint>
#include <random>
#include <tilewright/kernel/matmul/matmul.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../catch.hpp"

namespace {

using tilewright::kernel::MatMulShape;

/// What lies between the elements that a kernel may touch.
constexpr float unused = -1e30f;

/// A matrix of random numbers with any strides; exactly the memory up to its last element.
template <class T>
std::vector<T> matrix(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  static std::minstd_rand random(1);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<T> result(static_cast<std::size_t>((rows - 1) * row_stride + (columns - 1) * column_stride + 1),
                        static_cast<T>(unused));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      result[static_cast<std::size_t>(i * row_stride + j * column_stride)] = static_cast<T>(value(random));
  return result;
}

template <MatMulShape s, class T = float>
void check_product() {
  CAPTURE(s.m, s.n, s.k, s.a_m, s.a_k, s.b_k, s.b_n);
  const auto a = matrix<T>(s.m, s.k, s.a_m, s.a_k), b = matrix<T>(s.k, s.n, s.b_k, s.b_n);
  auto c = matrix<T>(s.m, s.n, s.c_m, s.c_n);
  const auto before = c;
  struct Sum {
    double value = 0;
    int count = 0;
  };
  std::vector<Sum> sums(static_cast<std::size_t>(s.m * s.n));
  bool in_range = true;
  tilewright::kernel::matmul_kernel<s>(a.data(), b.data(), [&](std::int64_t i, std::int64_t j, const auto& x) {
    const auto add = [&](std::int64_t column, auto element) {
      if (i < 0 || i >= s.m || column < 0 || column >= s.n) return void(in_range = false);
      sums[static_cast<std::size_t>(i * s.n + column)].value += static_cast<double>(element);
      ++sums[static_cast<std::size_t>(i * s.n + column)].count;
    };
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(x)>>) {
      add(j, x);
    } else {
      float elements[std::decay_t<decltype(x)>::size];
      x.store_unaligned(elements);
      for (std::size_t e = 0; e < std::size(elements); ++e) add(j + static_cast<std::int64_t>(e), elements[e]);
    }
  });
  tilewright::kernel::matmul_kernel<s>(a.data(), b.data(), c.data());
  for (const std::int64_t count : {2, 3, 8}) {
    auto in_pieces = before;
    const std::int64_t some = count / 2;  // the last ones come first
    tilewright::kernel::matmul_kernel<s>(a.data(), b.data(), in_pieces.data(), {some, count, count});
    for (std::int64_t piece = 0; piece < some; ++piece)
      tilewright::kernel::matmul_kernel<s>(a.data(), b.data(), in_pieces.data(), {piece, piece + 1, count});
    CHECK((in_pieces == c));
  }

  CHECK(in_range);
  // Rounding errors of a sum of k terms below 1; half precision rounds its result.
  const double tolerance = (std::is_same_v<T, double> ? 1e-15 : 1e-6) * static_cast<double>(s.k);
  const double c_tolerance = sizeof(T) >= sizeof(float) ? tolerance : 0.03;
  std::int64_t wrong = 0, counted_wrong = 0, stored_wrong = 0;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      double expected = 0;
      for (std::int64_t k = 0; k < s.k; ++k)
        expected += static_cast<double>(a[static_cast<std::size_t>(i * s.a_m + k * s.a_k)]) *
                    static_cast<double>(b[static_cast<std::size_t>(k * s.b_k + j * s.b_n)]);
      const Sum& sum = sums[static_cast<std::size_t>(i * s.n + j)];
      const auto stored = static_cast<double>(c[static_cast<std::size_t>(i * s.c_m + j * s.c_n)]);
      wrong += !(std::abs(sum.value - expected) <= tolerance);
      counted_wrong += sum.count != 1;
      stored_wrong += !(std::abs(stored - expected) <= c_tolerance);
    }
  CHECK(wrong == 0);
  CHECK(counted_wrong == 0);
  CHECK(stored_wrong == 0);
  std::int64_t overwritten = 0;
  for (std::size_t e = 0; e < c.size(); ++e) overwritten += before[e] == static_cast<T>(unused) && c[e] != before[e];
  CHECK(overwritten == 0);
}

/// c[m, n] = a b with a or b transposed, and `gap` unused elements after each row in memory.
constexpr MatMulShape product(std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed, bool b_transposed,
                              std::int64_t gap = 0) {
  MatMulShape s{m, n, k};
  s.a_m = a_transposed ? 1 : k + gap, s.a_k = a_transposed ? m + gap : 1;
  s.b_k = b_transposed ? 1 : n + gap, s.b_n = b_transposed ? k + gap : 1;
  s.c_m = n + gap, s.c_n = 1;
  return s;
}
template <std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t gap = 0, class T = float>
void check_orientations() {
  check_product<product(m, n, k, false, false, gap), T>();
  check_product<product(m, n, k, false, true, gap), T>();
  check_product<product(m, n, k, true, false, gap), T>();
  check_product<product(m, n, k, true, true, gap), T>();
}

/// An epilogue that notes what it is asked to fetch.
template <MatMulShape s>
struct Fetching {
  std::int64_t& fetched;
  bool& in_range;
  void operator()(std::int64_t, std::int64_t, const auto&) const {}
  void prefetch(std::int64_t i, std::int64_t j) const {
    ++fetched;
    in_range = in_range && i >= 0 && i < s.m && j >= 0 && j < s.n;
  }
};

template <MatMulShape s>
void check_fetched() {
  const auto a = matrix<float>(s.m, s.k, s.a_m, s.a_k), b = matrix<float>(s.k, s.n, s.b_k, s.b_n);
  std::int64_t fetched = 0;
  bool in_range = true;
  tilewright::kernel::matmul_kernel<s>(a.data(), b.data(), Fetching<s>{fetched, in_range});
  CHECK(fetched > 0);
  CHECK(in_range);
}

constexpr std::int64_t edges[] = {1, 3, 10, 17, 33, 49};

/// All pairs of edge extents for m and n, with a k that changes along.
template <std::size_t k_step, std::size_t... pair>
void check_edges(std::index_sequence<pair...>) {
  (check_product<product(edges[pair / 6], edges[pair % 6], edges[(pair / 6 + pair % 6 + k_step) % 6], pair % 2 == k_step % 2,
                         pair / 2 % 2 == 0, static_cast<std::int64_t>(pair % 3))>(),
   ...);
}

}  // namespace

TEST_CASE("matmul_kernel: edge extents") {
  check_edges<0>(std::make_index_sequence<36>());
  check_edges<3>(std::make_index_sequence<36>());
}

TEST_CASE("matmul_kernel: float64") {
  check_orientations<3, 40, 5, 0, double>();  // few rows or columns
  check_orientations<40, 3, 5, 2, double>();
  check_orientations<1, 24, 300, 0, double>();
  check_orientations<67, 31, 17, 1, double>();  // several parts of rows, and strips
  check_orientations<12, 50, 600, 0, double>();  // several panels
  check_orientations<130, 24, 260, 0, double>();
  check_orientations<2, 3, 4, 0, double>();
}
TEST_CASE("matmul_kernel: all orientations") {
  check_orientations<1, 1, 49>();
  check_orientations<3, 1, 33>();
  check_orientations<49, 3, 17>();
  check_orientations<10, 49, 1, 3>();
  check_orientations<49, 33, 70, 5>();
}

TEST_CASE("matmul_kernel: shapes of networks") {
  check_orientations<8, 64, 98, 448>();  // a layer with few rows, its columns on several tiles
  check_orientations<8, 10, 96>();       // its last layer
  check_orientations<9, 17, 200, 3>();   // dot products with rests
  check_product<product(8, 96, 10, false, true)>();
  check_product<product(49, 96, 8, true, false)>();
  check_product<product(80, 10, 8, true, false)>();
  check_product<MatMulShape{40, 48, 64, 256, 1, 1, 256, 48, 1}>();  // attention: heads lie beside each other
  check_product<MatMulShape{40, 64, 48, 48, 1, 256, 1, 256, 1}>();
}

TEST_CASE("matmul_kernel: k in parts") {
  check_product<product(17, 40, 2500, true, false)>();
  check_product<product(300, 33, 2049, false, true, 1)>();
  check_product<product(33, 130, 1030, false, false, 7)>();
  check_product<product(40, 90, 2048, false, false)>();  // rows of a whose elements fall on the same lines of a cache
  check_product<product(130, 140, 1024, false, true)>();
}

TEST_CASE("matmul_kernel: a is packed") {
  check_product<product(140, 70, 300, true, false, 2)>();
  check_product<product(140, 128, 400, true, false, 372)>();  // in parts of m: columns fall on the same lines of a cache
  check_product<MatMulShape{65, 128, 100, 2, 130, 128, 1, 128, 1}>();  // no axis of it is contiguous
  check_product<product(45, 200, 768, true, true)>();
  check_product<product(70, 260, 520, false, false, 252)>();  // b, too: its rows fall on the same lines of a cache
  check_product<product(115, 5, 1200, false, true)>();  // more than a cache holds: no dot products
}

TEST_CASE("matmul_kernel: other strides") {
  check_product<MatMulShape{5, 18, 20, 41, 2, 3, 61, 19, 1}>();   // no axis is contiguous
  check_product<MatMulShape{17, 10, 20, 20, 1, 10, 1, 1, 18}>();  // c is transposed
  check_product<MatMulShape{17, 10, 20, 1, 17, 1, 20, 1, 17}>();
  check_product<MatMulShape{17, 20, 9, 9, 1, 20, 1, 43, 2}>();    // c has gaps
}

TEST_CASE("matmul_kernel: an epilogue is asked to fetch elements of c only") {
  check_fetched<product(50, 70, 8, true, false)>();
  check_fetched<product(50, 70, 70, false, false)>();
  check_fetched<product(50, 70, 900, true, false)>();  // k in parts
}

TEST_CASE("matmul_kernel: half precision") {
  using Half = tilewright::float16_t;
  check_product<product(3, 2, 40, false, true), Half>();
  check_product<product(3, 17, 20, false, false), Half>();
  check_orientations<10, 5, 33, 2, Half>();
  check_orientations<1, 49, 70, 0, Half>();
  check_orientations<49, 1, 33, 0, Half>();
  check_orientations<49, 33, 70, 5, Half>();
  check_orientations<140, 64, 8, 0, Half>();
  check_product<product(17, 40, 2500, true, false), Half>();         // k in parts
  check_product<product(300, 33, 2049, false, true, 1), Half>();     // and m
  check_product<product(33, 130, 1030, true, true, 7), Half>();
  check_product<product(61, 100, 1700, true, false, 3), Half>();     // all rows and columns for a part of k after the other
  check_product<product(400, 90, 260, true, false), Half>();         // a in parts of m
  check_product<MatMulShape{5, 18, 20, 41, 2, 3, 61, 19, 1}, Half>();  // no axis is contiguous
  check_product<MatMulShape{17, 10, 20, 20, 1, 10, 1, 1, 18}, Half>();  // c is transposed
}

TEST_CASE("matmul_kernel: one row and a large matrix") {
  using Half = tilewright::float16_t;
  check_product<product(1, 2304, 96, false, false)>();
  check_product<product(1, 133, 500, false, false, 3)>();
  check_product<product(1, 4096 + 37, 18, true, false)>();  // columns in strips
  check_product<product(1, 530, 200, false, true)>();
  check_product<product(1, 37, 2000, false, true, 5)>();
  check_product<product(1, 779, 96, false, false, 1), Half>();
  check_product<product(1, 530, 200, false, true, 1), Half>();
  check_product<product(1, 16, 64, false, true), Half>();
}
