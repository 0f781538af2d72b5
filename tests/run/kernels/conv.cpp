// labels: arm
// The vector kernels of convolutions against the plain loops, in shapes that they cut into chunks, and shapes with odd ends.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "../../support/elements.hpp"

constexpr tw::ViewSpec dense(const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return tw::written_out({dtype, shape, tw::dense_strides(shape)});
}

/// Small integers, of which products and sums are exact in float32.
Floats small_integers(std::int64_t count) {
  static std::minstd_rand random(1);
  std::uniform_int_distribution<int> value(-3, 3);
  Floats result(static_cast<std::size_t>(count));
  for (float& x : result) x = static_cast<float>(value(random));
  return result;
}

template <tw::Shape x_shape, tw::Shape w_shape, tw::WindowAttributes attributes>
void check() {
  constexpr tw::kernel::Windows windows = tw::detail::windows_of(x_shape, tw::detail::kernel_of(w_shape), attributes);
  constexpr tw::Shape y_shape = tw::detail::windows_shape(x_shape[0], w_shape[0], windows, x_shape.rank - 2);
  constexpr tw::PackedAttributes gradient = tw::pack(tw::WindowsAttributes::make(windows));
  using X = tw::View<dense(x_shape)>;
  using W = tw::View<dense(w_shape)>;
  using Y = tw::View<dense(y_shape)>;
  using Loops = tw::kernel::ConvLoops<windows, X, W, Y>;
  constexpr tw::kernel::ConvShape shape = tw::kernel::conv_shape<windows, X, W, Y>;
  STATIC_REQUIRE(tw::kernel::has_conv_kernel<shape>);
  STATIC_REQUIRE(tw::kernel::has_conv_weights_kernel<shape>);
  STATIC_REQUIRE(tw::kernel::has_conv_kernel<tw::kernel::data_gradient_shape(shape)>);

  Floats x = small_integers(x_shape.nelms()), w = small_integers(w_shape.nelms()), y(static_cast<std::size_t>(y_shape.nelms()));
  Floats expected = y;
  tw::Conv::compute<tw::pack(attributes)>(X{x.data()}, W{w.data()}, Y{y.data()});
  Loops::forward({x.data()}, {w.data()}, {expected.data()});
  CHECK(y == expected);

  y = small_integers(y_shape.nelms());
  Floats dx(x.size()), dw(w.size());
  tw::ConvDataGrad::compute<gradient>(Y{y.data()}, W{w.data()}, X{dx.data()});
  expected.resize(x.size());
  Loops::data_gradient({y.data()}, {w.data()}, {expected.data()});
  CHECK(dx == expected);

  tw::ConvWeightsGrad::compute<gradient>(X{x.data()}, Y{y.data()}, W{dw.data()});
  expected.resize(w.size());
  Loops::weights_gradient({x.data()}, {y.data()}, {expected.data()});
  CHECK(dw == expected);
}

/// Elements of a dtype from -1 to 1, and the same numbers in double precision, with or without their signs.
template <tw::DType dtype>
struct Numbers {
  std::vector<tw::element_t<dtype>> elements;
  std::vector<double> exact, sizes;

  explicit Numbers(std::int64_t count) {
    static std::minstd_rand random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::int64_t i = 0; i < count; ++i) {
      elements.push_back(static_cast<tw::element_t<dtype>>(uniform(random)));
      exact.push_back(static_cast<double>(static_cast<float>(elements.back())));
      sizes.push_back(std::abs(exact.back()));
    }
  }
};
/// Whether results of 16 bits are sums in float32 that were rounded once. With u = 2^-24 and n terms, the sum in any order is off
/// by at most n u / (1 - n u) times the sum of the terms' sizes (N. Higham, Accuracy and Stability of Numerical Algorithms, 2002,
/// section 4.2), and rounding by half a unit of the dtype's last place: of each number, or of the smallest normal one.
template <tw::DType dtype>
bool within_bound(const std::vector<tw::element_t<dtype>>& results, const std::vector<double>& exact,
                  const std::vector<double>& sizes, std::int64_t terms) {
  constexpr double unit = dtype == tw::float16 ? 0x1p-11 : 0x1p-8, smallest = dtype == tw::float16 ? 0x1p-14 : 0x1p-126;
  const double u = 0x1p-24, n = static_cast<double>(terms), of_sum = n * u / (1 - n * u);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double sum_bound = of_sum * sizes[i], bound = sum_bound + unit * std::max(std::abs(exact[i]) + sum_bound, smallest);
    if (!(std::abs(static_cast<double>(static_cast<float>(results[i])) - exact[i]) <= bound)) return false;
  }
  return true;
}

template <tw::DType dtype, tw::Shape x_shape, tw::Shape w_shape, tw::WindowAttributes attributes>
void check_of_16_bits() {
  constexpr tw::kernel::Windows windows = tw::detail::windows_of(x_shape, tw::detail::kernel_of(w_shape), attributes);
  constexpr tw::Shape y_shape = tw::detail::windows_shape(x_shape[0], w_shape[0], windows, x_shape.rank - 2);
  constexpr tw::PackedAttributes gradient = tw::pack(tw::WindowsAttributes::make(windows));
  using X = tw::View<dense(x_shape, dtype)>;
  using W = tw::View<dense(w_shape, dtype)>;
  using Y = tw::View<dense(y_shape, dtype)>;
  using ExactX = tw::View<dense(x_shape, tw::float64)>;
  using ExactW = tw::View<dense(w_shape, tw::float64)>;
  using ExactY = tw::View<dense(y_shape, tw::float64)>;
  using Exact = tw::kernel::ConvLoops<windows, ExactX, ExactW, ExactY>;
  using T = tw::element_t<dtype>;
  constexpr std::int64_t taps = w_shape.nelms() / w_shape[0] / w_shape[1];

  Numbers<dtype> x(x_shape.nelms()), w(w_shape.nelms()), dy(y_shape.nelms());
  const auto compare = [](const std::vector<T>& results, std::int64_t terms, auto&& compute) {
    std::vector<double> exact(results.size()), sizes(results.size());
    compute(&Numbers<dtype>::exact, exact.data());
    compute(&Numbers<dtype>::sizes, sizes.data());
    return within_bound<dtype>(results, exact, sizes, terms);
  };
  std::vector<T> y(dy.elements.size()), dx(x.elements.size()), dw(w.elements.size());
  tw::Conv::compute<tw::pack(attributes)>(X{x.elements.data()}, W{w.elements.data()}, Y{y.data()});
  CHECK(compare(y, w_shape[1] * taps,
                [&](auto which, double* to) { Exact::forward({(x.*which).data()}, {(w.*which).data()}, {to}); }));
  tw::ConvDataGrad::compute<gradient>(Y{dy.elements.data()}, W{w.elements.data()}, X{dx.data()});
  CHECK(compare(dx, w_shape[0] * taps,
                [&](auto which, double* to) { Exact::data_gradient({(dy.*which).data()}, {(w.*which).data()}, {to}); }));
  tw::ConvWeightsGrad::compute<gradient>(X{x.elements.data()}, Y{dy.elements.data()}, W{dw.data()});
  CHECK(compare(dw, y_shape.nelms() / w_shape[0],
                [&](auto which, double* to) { Exact::weights_gradient({(x.*which).data()}, {(dy.*which).data()}, {to}); }));
}
template <tw::DType dtype>
void check_all_of_16_bits() {
  using tw::Shape, tw::WindowAttributes;
  check_of_16_bits<dtype, Shape{2, 20, 19, 37}, Shape{34, 20, 3, 3},
                   WindowAttributes{.padding = {1, 2, 1, 0}, .padding_count = 4}>();
  check_of_16_bits<dtype, Shape{3, 2, 28, 27}, Shape{9, 2, 5, 3}, WindowAttributes{}>();
  check_of_16_bits<dtype, Shape{1, 9, 1100}, Shape{17, 9, 8}, WindowAttributes{.padding = {3, 4}, .padding_count = 2}>();
  check_of_16_bits<dtype, Shape{2, 18, 15, 13}, Shape{24, 18, 3, 3},
                   WindowAttributes{.stride = {2, 2}, .padding = {1, 1, 1, 1}, .stride_count = 2, .padding_count = 4}>();
}

TEST_CASE("convolutions of half precision are sums in float32, rounded once") {
  check_all_of_16_bits<tw::float16>();
  check_of_16_bits<tw::bfloat16, tw::Shape{2, 18, 15, 13}, tw::Shape{24, 18, 3, 3},
                   tw::WindowAttributes{.stride = {2, 2}, .padding = {1, 1, 1, 1}, .stride_count = 2, .padding_count = 4}>();
}

TEST_CASE("convolutions of large images are cut into rows") {
  check<tw::Shape{2, 20, 40, 37}, tw::Shape{34, 20, 3, 3}, tw::WindowAttributes{.padding = {1, 2, 1, 0}, .padding_count = 4}>();
  check<tw::Shape{1, 2, 130, 90}, tw::Shape{9, 2, 5, 3}, tw::WindowAttributes{}>();
}
TEST_CASE("convolutions of long lines are cut into columns") {
  check<tw::Shape{1, 9, 2100}, tw::Shape{17, 9, 8}, tw::WindowAttributes{.padding = {3, 4}, .padding_count = 2}>();
  check<tw::Shape{1, 8, 1500}, tw::Shape{16, 8, 7},
        tw::WindowAttributes{.stride = {3}, .dilation = {2}, .stride_count = 1, .dilation_count = 1}>();
}
TEST_CASE("convolutions of many channels are cut into channels") {
  check<tw::Shape{1, 150, 7, 6}, tw::Shape{140, 150, 3, 3}, tw::WindowAttributes{.padding = {1, 1, 1, 1}, .padding_count = 4}>();
  check<tw::Shape{1, 1100, 3, 3}, tw::Shape{65, 1100, 1, 1}, tw::WindowAttributes{}>();
}
TEST_CASE("convolutions with strides in large images") {
  check<tw::Shape{1, 3, 65, 61}, tw::Shape{50, 3, 7, 7},
        tw::WindowAttributes{.stride = {2, 2}, .padding = {3, 3, 3, 3}, .stride_count = 2, .padding_count = 4}>();
}
TEST_CASE("convolutions of rows that a tile holds read the input where it is") {
  check<tw::Shape{2, 20, 12, 13}, tw::Shape{34, 20, 3, 3}, tw::WindowAttributes{}>();
  check<tw::Shape{1, 120, 21, 19}, tw::Shape{40, 120, 3, 5},
        tw::WindowAttributes{.stride = {2, 2},
                             .dilation = {2, 1},
                             .padding = {3, 2, 1, 0},
                             .stride_count = 2,
                             .dilation_count = 2,
                             .padding_count = 4}>();
  check<tw::Shape{1, 20, 5, 12}, tw::Shape{34, 20, 3, 3},  // with rows of results that see padding only
        tw::WindowAttributes{.padding = {4, 1, 4, 1}, .padding_count = 4}>();
}
