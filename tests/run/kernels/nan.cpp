// labels: arm asan clang portable ubsan
// Kernels that choose between elements hand NaN on: in vectors, in their rests and in half precision.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/ops/nn/losses.hpp"
#include "tilewright/ops/ops.hpp"
#include "tilewright/ops/ops_code.hpp"

namespace tw = tilewright;

namespace {

template <tw::DType dtype, std::int64_t... extents>
using Dense = tw::View<tw::written_out({dtype, {extents...}, tw::dense_strides({extents...})})>;

/// Relu and its gradient with a NaN at each place of a line, in vectors and in the rest.
template <tw::DType dtype>
void check_relu() {
  using T = tw::element_t<dtype>;
  constexpr std::int64_t n = 37;
  using Line = Dense<dtype, n>;
  T x[n], y[n], dy[n], dx[n];
  for (std::int64_t place = 0; place < n; ++place) {
    for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(i % 7 - 3), dy[i] = static_cast<T>(i + 1);
    x[place] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    tw::Relu::compute<tw::PackedAttributes{}>(Line{x}, Line{y});
    tw::UnaryGrad<tw::Relu>::compute<tw::PackedAttributes{}>(Line{y}, Line{dy}, Line{dx});
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == place ? y[i] == y[i] : y[i] != static_cast<T>(i % 7 > 3 ? i % 7 - 3 : 0))
        FAIL("value " << i << ", NaN at " << place);
      if (dx[i] != (i == place || i % 7 > 3 ? dy[i] : T(0))) FAIL("gradient " << i << ", NaN at " << place);
    }
  }
}

/// What Huber and the binary cross entropy make of a NaN at each place of a line is NaN, and nothing else is.
template <tw::DType dtype>
void check_losses() {
  using T = tw::element_t<dtype>;
  constexpr std::int64_t n = 37;
  using Line = Dense<dtype, n>;
  constexpr auto half = tw::pack(tw::Huber::Attributes{.delta = 0.5}), relative = tw::pack(tw::Huber::Attributes{0.5, 1});
  T x[n], t[n], dy[n], y[5][n];
  for (std::int64_t place = 0; place < n; ++place) {
    for (std::int64_t i = 0; i < n; ++i)
      x[i] = static_cast<T>(i % 7 - 3), t[i] = static_cast<T>(i % 2), dy[i] = static_cast<T>(1);
    x[place] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    tw::Huber::compute<half>(Line{x}, Line{y[0]});
    tw::Huber::compute<relative>(Line{x}, Line{y[1]});
    tw::UnaryGrad<tw::Huber>::compute<half>(Line{x}, Line{dy}, Line{y[2]});
    tw::BinaryCrossEntropy::compute<tw::PackedAttributes{}>(Line{x}, Line{t}, Line{y[3]});
    tw::BinaryCrossEntropyGrad::compute<tw::PackedAttributes{}>(Line{x}, Line{t}, Line{dy}, Line{y[4]});
    for (const auto& results : y)
      for (std::int64_t i = 0; i < n; ++i)
        if (std::isnan(static_cast<double>(results[i])) != (i == place))
          FAIL("result " << i << " of " << &results - y << ", NaN at " << place);
  }
}

/// Pooling a square plane with a NaN at each place, and of some with another one before it.
template <class T, std::int64_t kernel, std::int64_t stride, std::int64_t begin, std::int64_t in = 9>
void check_max_pool() {
  constexpr std::int64_t out = (in + 2 * begin - kernel) / stride + 1;
  constexpr tw::kernel::Window side{.in = in, .out = out, .kernel = kernel, .stride = stride, .begin = begin};
  using Pool = tw::kernel::Pool<tw::kernel::Windows{{{}, side, side}}, T>;
  T x[in * in], y[out * out], dx[in * in], dy[out * out];
  for (std::int64_t place = 0; place < in * in; ++place) {
    for (std::int64_t i = 0; i < in * in; ++i) x[i] = static_cast<T>(i * 37 % 100 - 50);
    for (std::int64_t i = 0; i < out * out; ++i) dy[i] = static_cast<T>(1);
    x[place] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    if (place % 2 == 0) x[place / 2] = x[place];
    Pool::maximum(x, y);
    if constexpr (begin == 0 && stride >= kernel) {
      T rows[out * out];
      Pool::maximum_rows(x, rows, 0, 1);
      Pool::maximum_rows(x, rows, 1, out);
      if (std::memcmp(rows, y, sizeof y) != 0) FAIL("rows that are computed apart, NaN at " << place);
    }
    Pool::maximum_gradient(x, dy, dx);
    std::vector<double> expected(in * in);  // with NaN, PyTorch's: to the last one
    for (std::int64_t i = 0; i < out; ++i)
      for (std::int64_t j = 0; j < out; ++j) {
        bool has_nan = false;
        double largest = -1000;
        std::int64_t at = -1;
        for (std::int64_t k = 0; k < kernel; ++k)
          for (std::int64_t l = 0; l < kernel; ++l) {
            const std::int64_t row = i * stride - begin + k, column = j * stride - begin + l;
            if (row < 0 || row >= in || column < 0 || column >= in) continue;
            const auto value = static_cast<double>(x[row * in + column]);
            has_nan = has_nan || value != value;
            if (value != value || (!has_nan && value > largest)) at = row * in + column;
            largest = std::fmax(largest, value);
          }
        expected[static_cast<std::size_t>(at)] += 1;
        const auto result = static_cast<double>(y[i * out + j]);
        if (has_nan ? result == result : result != largest) FAIL(i << ", " << j << ", NaN at " << place);
      }
    for (std::int64_t i = 0; i < in * in; ++i)
      if (static_cast<double>(dx[i]) != expected[static_cast<std::size_t>(i)]) FAIL("gradient " << i << ", NaN at " << place);
  }
}

}  // namespace

TEST_CASE("losses of NaN are NaN") {
  check_losses<tw::float32>();
  check_losses<tw::float16>();
  check_losses<tw::float64>();
}
TEST_CASE("relu and its gradient keep NaN") {
  check_relu<tw::float32>();
  check_relu<tw::float16>();
  check_relu<tw::float64>();
  SUCCEED();
}

TEST_CASE("max_pool keeps NaN wherever it is in a window, and gives the last NaN the gradient") {
  check_max_pool<float, 2, 2, 0>();
  check_max_pool<float, 2, 2, 0, 4>();
  check_max_pool<float, 2, 2, 0, 37>();  // rows of several vectors
  check_max_pool<float, 3, 3, 0>();
  check_max_pool<float, 3, 1, 1>();
  check_max_pool<double, 2, 2, 0, 21>();
  check_max_pool<double, 3, 2, 1>();
  check_max_pool<tw::float16_t, 2, 2, 0>();
  check_max_pool<tw::float16_t, 2, 2, 0, 36>();
  check_max_pool<tw::float16_t, 3, 2, 1>();
  SUCCEED();
}
