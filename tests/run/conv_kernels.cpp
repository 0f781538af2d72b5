// The vector kernels of convolutions against the plain loops, in shapes that they cut into chunks, and shapes with odd ends.
#include <random>

#include "elements.hpp"

constexpr tw::ViewSpec dense(const tw::Shape& shape) { return tw::written_out({tw::float32, shape, tw::dense_strides(shape)}); }

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
  constexpr tw::Windows windows = tw::detail::windows_of(x_shape, tw::detail::kernel_of(w_shape), attributes);
  constexpr tw::Shape y_shape = tw::detail::windows_shape(x_shape[0], w_shape[0], windows, x_shape.rank - 2);
  constexpr tw::PackedAttributes gradient = tw::pack(tw::WindowsAttributes::make(windows));
  using X = tw::View<dense(x_shape)>;
  using W = tw::View<dense(w_shape)>;
  using Y = tw::View<dense(y_shape)>;
  using Loops = tw::ConvLoops<windows, X, W, Y>;
  constexpr tw::ConvShape shape = tw::detail::conv_shape<windows, X, W, Y>;
  STATIC_REQUIRE(tw::has_conv_kernel<shape>);
  STATIC_REQUIRE(tw::has_conv_weights_kernel<shape>);
  STATIC_REQUIRE(tw::has_conv_kernel<tw::detail::data_gradient_shape(shape)>);

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
