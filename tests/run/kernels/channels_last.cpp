// labels: arm rest
// Kernels of images whose channels are the last axis of memory give what they give for planes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "../../support/elements.hpp"

namespace {

using tw::Shape;

constexpr tw::ViewSpec planes(const Shape& shape) { return tw::written_out({tw::float32, shape, tw::dense_strides(shape)}); }
constexpr tw::ViewSpec pixels(const Shape& shape) {
  return tw::written_out({tw::float32, shape, tw::channels_last_strides(shape)});
}
template <Shape shape>
using Planes = tw::View<planes(shape)>;
template <Shape shape>
using Pixels = tw::View<pixels(shape)>;

Floats numbers(std::int64_t count) {
  static std::minstd_rand random(1);
  std::normal_distribution<float> normal;
  Floats result(static_cast<std::size_t>(count));
  for (float& x : result) x = normal(random);
  return result;
}
/// Returns the elements in the other order: those of planes with channels last, or back.
template <Shape shape>
Floats reordered(const Floats& from, bool back = false) {
  Floats to(from.size());
  std::size_t at = 0;
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t h = 0; h < shape[2]; ++h)
      for (std::int64_t w = 0; w < shape[3]; ++w)
        for (std::int64_t c = 0; c < shape[1]; ++c, ++at) {
          const auto plane = static_cast<std::size_t>(((n * shape[1] + c) * shape[2] + h) * shape[3] + w);
          (back ? to[plane] : to[at]) = from[back ? at : plane];
        }
  return to;
}
template <Shape shape>
Floats in_planes(const Floats& from) {
  return reordered<shape>(from, true);
}
bool same_bits(const Floats& a, const Floats& b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (x != x && y != y);
  });
}

/// An epilogue that stores what it gets: element (i, j) of a matrix is a channel of a pixel.
struct Recorder {
  std::int64_t columns, channels;
  float* results;

  Recorder matrix(std::int64_t number) const { return {columns, channels, results + number * columns * channels}; }
  template <class X>
  void operator()(std::int64_t i, std::int64_t j, const X& x) const {
    REQUIRE((i < columns && j < channels));
    if constexpr (tw::kernel::is_part_of_batch<X>)
      tw::kernel::Line<float, 1>{results + i * channels}.template store<X::count>(j, x.batch);
    else if constexpr (std::is_same_v<X, float>) results[i * channels + j] = x;
    else x.store_unaligned(results + i * channels + j);
  }
};

/// Compares a convolution in Winograd's form, and its gradients, in both orders, with `mixed` also with one image in each order.
template <Shape x_shape, Shape w_shape, std::int32_t padding = 0, bool mixed = false>
void check_winograd() {
  constexpr tw::WindowAttributes options{.padding = {padding, padding, padding, padding}, .padding_count = 4};
  constexpr tw::kernel::Windows windows = tw::detail::windows_of(x_shape, tw::detail::kernel_of(w_shape), options);
  constexpr Shape y_shape = tw::detail::windows_shape(x_shape[0], w_shape[0], windows, 2);
  constexpr auto with_form = [](auto attributes) {
    attributes.planner.images_together = 1;
    if constexpr (requires { attributes.kernel; }) attributes.planner.takes_epilogue = 1;
    return tw::pack(attributes);
  };
  constexpr tw::PackedAttributes forward = with_form(options), gradient = with_form(tw::WindowsAttributes::make(windows));
  using W = Planes<w_shape>;
  Floats x = numbers(x_shape.nelms()), w = numbers(w_shape.nelms()), dy = numbers(y_shape.nelms());
  Floats y(dy.size()), dx(x.size()), dw(w.size());
  tw::Conv::compute<forward>(Planes<x_shape>{x.data()}, W{w.data()}, Planes<y_shape>{y.data()});
  tw::ConvDataGrad::compute<gradient>(Planes<y_shape>{dy.data()}, W{w.data()}, Planes<x_shape>{dx.data()});
  tw::ConvWeightsGrad::compute<gradient>(Planes<x_shape>{x.data()}, Planes<y_shape>{dy.data()}, W{dw.data()});

  Floats x_last = reordered<x_shape>(x), dy_last = reordered<y_shape>(dy), result(y.size()), dx_result(x.size()),
         dw_result(w.size());
  tw::Conv::compute<forward>(Pixels<x_shape>{x_last.data()}, W{w.data()}, Pixels<y_shape>{result.data()});
  CHECK(in_planes<y_shape>(result) == y);
  if constexpr (mixed) {
    tw::Conv::compute<forward>(Pixels<x_shape>{x_last.data()}, W{w.data()}, Planes<y_shape>{result.data()});
    CHECK(result == y);
  }
  std::ranges::fill(result, 0.f);
  tw::Conv::compute_with<forward, Pixels<y_shape>>(Recorder{y_shape[3], y_shape[1], result.data()},
                                                   Pixels<x_shape>{x_last.data()}, W{w.data()});
  CHECK(in_planes<y_shape>(result) == y);

  tw::ConvDataGrad::compute<gradient>(Pixels<y_shape>{dy_last.data()}, W{w.data()}, Pixels<x_shape>{dx_result.data()});
  CHECK(in_planes<x_shape>(dx_result) == dx);
  if constexpr (mixed) {
    tw::ConvDataGrad::compute<gradient>(Planes<y_shape>{dy.data()}, W{w.data()}, Pixels<x_shape>{dx_result.data()});
    CHECK(in_planes<x_shape>(dx_result) == dx);
  }

  tw::ConvWeightsGrad::compute<gradient>(Pixels<x_shape>{x_last.data()}, Pixels<y_shape>{dy_last.data()}, W{dw_result.data()});
  CHECK(dw_result == dw);
  if constexpr (mixed) {
    tw::ConvWeightsGrad::compute<gradient>(Planes<x_shape>{x.data()}, Pixels<y_shape>{dy_last.data()}, W{dw_result.data()});
    CHECK(dw_result == dw);
  }
}

/// Compares a convolution of few channels, and the gradient of its weights, for results in both orders. Sums are in another
/// order.
template <Shape x_shape, Shape w_shape, std::int32_t stride = 1>
void check_direct() {
  constexpr auto options = [] {
    tw::WindowAttributes result{.stride = {stride, stride}, .stride_count = 2};
    result.planner.takes_epilogue = 1;
    return result;
  }();
  constexpr tw::kernel::Windows windows = tw::detail::windows_of(x_shape, tw::detail::kernel_of(w_shape), options);
  constexpr Shape y_shape = tw::detail::windows_shape(x_shape[0], w_shape[0], windows, 2);
  constexpr tw::PackedAttributes gradient = tw::pack(tw::WindowsAttributes::make(windows));
  using X = Planes<x_shape>;
  using W = Planes<w_shape>;
  Floats x = numbers(x_shape.nelms()), w = numbers(w_shape.nelms()), dy = numbers(y_shape.nelms());
  Floats y(dy.size()), result(dy.size()), dw(w.size()), dw_result(w.size()), dy_last = reordered<y_shape>(dy);
  const auto are_near = [](const Floats& a, const Floats& b, float largest) {
    return std::ranges::equal(a, b, [=](float p, float q) { return std::abs(p - q) <= largest; });
  };
  tw::Conv::compute<tw::pack(options)>(X{x.data()}, W{w.data()}, Planes<y_shape>{y.data()});
  tw::Conv::compute<tw::pack(options)>(X{x.data()}, W{w.data()}, Pixels<y_shape>{result.data()});
  CHECK(are_near(in_planes<y_shape>(result), y, 2e-6f));
  Floats given(result.size());
  tw::Conv::compute_with<tw::pack(options), Pixels<y_shape>>(Recorder{y_shape[3], y_shape[1], given.data()}, X{x.data()},
                                                             W{w.data()});
  CHECK(given == result);
  tw::ConvWeightsGrad::compute<gradient>(X{x.data()}, Planes<y_shape>{dy.data()}, W{dw.data()});
  tw::ConvWeightsGrad::compute<gradient>(X{x.data()}, Pixels<y_shape>{dy_last.data()}, W{dw_result.data()});
  CHECK(are_near(dw_result, dw, 2e-4f));
}

/// Compares the largest elements of windows of 2 x 2, and their gradient.
template <Shape x_shape>
void check_pool(Floats x) {
  constexpr Shape y_shape{x_shape[0], x_shape[1], x_shape[2] / 2, x_shape[3] / 2};
  constexpr tw::PoolAttributes options = tw::detail::pool_attributes({2, 2}, {.stride = {2, 2}});
  constexpr tw::kernel::Windows windows = tw::detail::windows_of(x_shape, Shape{2, 2}, options.windows);
  constexpr tw::PackedAttributes gradient = tw::pack(tw::PoolGradAttributes::make(windows, {}));
  Floats dy = numbers(y_shape.nelms()), y(dy.size()), dx(x.size()), result(dy.size()), dx_result(x.size());
  tw::MaxPool::compute<tw::pack(options)>(Planes<x_shape>{x.data()}, Planes<y_shape>{y.data()});
  tw::MaxPoolGrad::compute<gradient>(Planes<x_shape>{x.data()}, Planes<y_shape>{dy.data()}, Planes<x_shape>{dx.data()});
  Floats x_last = reordered<x_shape>(x), dy_last = reordered<y_shape>(dy);
  const Pixels<x_shape> image{x_last.data()};
  tw::MaxPool::compute<tw::pack(options)>(image, Pixels<y_shape>{result.data()});
  CHECK(same_bits(in_planes<y_shape>(result), y));
  tw::MaxPool::compute<tw::pack(options)>(image, Planes<y_shape>{result.data()});
  CHECK(same_bits(result, y));
  tw::MaxPoolGrad::compute<gradient>(image, Pixels<y_shape>{dy_last.data()}, Pixels<x_shape>{dx_result.data()});
  CHECK(same_bits(in_planes<x_shape>(dx_result), dx));
  std::ranges::fill(dx_result, 1.f);
  tw::MaxPoolGrad::compute<gradient>(image, Planes<y_shape>{dy.data()}, Pixels<x_shape>{dx_result.data()});
  CHECK(same_bits(in_planes<x_shape>(dx_result), dx));
  std::ranges::fill(dx_result, 1.f);
  tw::MaxPoolGrad::compute_with<gradient, Pixels<x_shape>>(Recorder{x_shape[3], x_shape[1], dx_result.data()}, image,
                                                           Pixels<y_shape>{dy_last.data()});
  CHECK(same_bits(in_planes<x_shape>(dx_result), dx));
}
/// Numbers of which many are equal, some are NaN, infinite, or zeros of both signs.
Floats special(std::int64_t count) {
  Floats result = numbers(count);
  constexpr float infinity = std::numeric_limits<float>::infinity(), values[] = {0.f, -0.f, 1.f, infinity, -infinity, 1.f};
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (i % 7 < 5) result[i] = values[i / 3 % 6];
    if (i % 61 == 0) result[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return result;
}

}  // namespace

TEST_CASE("channels last: convolutions in Winograd's form and their gradients") {
  check_winograd<Shape{1, 16, 34, 34}, Shape{16, 16, 3, 3}>();
  check_winograd<Shape{1, 16, 9, 12}, Shape{48, 16, 3, 3}, 1, true>();
}
TEST_CASE("channels last: results of convolutions of few channels") {
  check_direct<Shape{2, 2, 11, 15}, Shape{48, 2, 3, 3}, 2>();
}
TEST_CASE("channels last: poolings of pairs") {
  check_pool<Shape{1, 20, 7, 11}>(special(20 * 7 * 11));
  check_pool<Shape{2, 16, 2, 600}>(special(2 * 16 * 2 * 600));
}
TEST_CASE("channels last: loops and sums over pixels") {
  constexpr Shape x_shape{2, 20, 5, 7}, w_shape{6, 20, 3, 3}, y_shape{2, 6, 3, 5};
  constexpr tw::kernel::Windows windows = tw::detail::windows_of(x_shape, Shape{3, 3}, tw::WindowAttributes{});
  using Loops = tw::kernel::ConvLoops<windows, Planes<x_shape>, Planes<w_shape>, Planes<y_shape>>;
  using LastLoops = tw::kernel::ConvLoops<windows, Pixels<x_shape>, Planes<w_shape>, Pixels<y_shape>>;
  Floats x = numbers(x_shape.nelms()), w = numbers(w_shape.nelms()), y(static_cast<std::size_t>(y_shape.nelms())), result(y);
  Floats x_last = reordered<x_shape>(x), dx(x.size()), dx_result(x.size()), dw(w.size()), dw_result(w.size());
  Loops::forward({x.data()}, {w.data()}, {y.data()});
  LastLoops::forward({x_last.data()}, {w.data()}, {result.data()});
  CHECK(in_planes<y_shape>(result) == y);
  Loops::data_gradient({y.data()}, {w.data()}, {dx.data()});
  LastLoops::data_gradient({result.data()}, {w.data()}, {dx_result.data()});
  CHECK(in_planes<x_shape>(dx_result) == dx);
  Loops::weights_gradient({x.data()}, {y.data()}, {dw.data()});
  LastLoops::weights_gradient({x_last.data()}, {result.data()}, {dw_result.data()});
  CHECK(dw_result == dw);
}
