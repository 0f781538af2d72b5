// The codelets of a small convolutional network on whole tensors: one thread, operands in the cache. Images of 28 x 28, batch 32:
// conv 32 3x3, max_pool 2, conv 64 3x3, max_pool 2; with padding 1, and without.
#include "codelet.hpp"

/// A 3 x 3 convolution of x with w.
template <std::int64_t channels, std::int64_t results, std::int64_t extent, std::int64_t padding>
struct Layer {
  static constexpr std::int32_t pad = padding;
  static constexpr tw::WindowAttributes forward{.padding = {pad, pad, pad, pad}, .padding_count = 4};
  static constexpr auto x = dense({32, channels, extent, extent}), w = dense({results, channels, 3, 3});
  static constexpr tw::kernel::Windows windows = tw::detail::windows_of(x.shape, {3, 3}, forward);
  static constexpr auto y = dense({32, results, windows[1].out, windows[2].out});
  static constexpr auto gradient = tw::pack(tw::WindowsAttributes::make(windows));
  static constexpr std::int64_t operations = 2 * y.shape.nelms() * 9 * channels;
};
template <class L>
void conv(benchmark::State& state) {
  run_codelet<tw::Conv, tw::pack(L::forward), L::x, L::w, L::y>(state);
  set_rate(state, "FLOP/s", L::operations);
}
template <class L>
void conv_data_grad(benchmark::State& state) {
  run_codelet<tw::ConvDataGrad, L::gradient, L::y, L::w, L::x>(state);
  set_rate(state, "FLOP/s", L::operations);
}
template <class L>
void conv_weights_grad(benchmark::State& state) {
  run_codelet<tw::ConvWeightsGrad, L::gradient, L::x, L::y, L::w>(state);
  set_rate(state, "FLOP/s", L::operations);
}
using First = Layer<1, 32, 28, 1>;
using Second = Layer<32, 64, 14, 1>;
using FirstUnpadded = Layer<1, 32, 28, 0>;
using SecondUnpadded = Layer<32, 64, 13, 0>;
BENCHMARK(conv<First>)->Name("Conv/1x28x28 to 32, padding 1");
BENCHMARK(conv<FirstUnpadded>)->Name("Conv/1x28x28 to 32, padding 0");
BENCHMARK(conv<Second>)->Name("Conv/32x14x14 to 64, padding 1");
BENCHMARK(conv<SecondUnpadded>)->Name("Conv/32x13x13 to 64, padding 0");
BENCHMARK(conv_data_grad<Second>)->Name("ConvDataGrad/32x14x14 to 64, padding 1");
BENCHMARK(conv_data_grad<SecondUnpadded>)->Name("ConvDataGrad/32x13x13 to 64, padding 0");
BENCHMARK(conv_weights_grad<First>)->Name("ConvWeightsGrad/1x28x28 to 32, padding 1");
BENCHMARK(conv_weights_grad<FirstUnpadded>)->Name("ConvWeightsGrad/1x28x28 to 32, padding 0");
BENCHMARK(conv_weights_grad<Second>)->Name("ConvWeightsGrad/32x14x14 to 64, padding 1");
BENCHMARK(conv_weights_grad<SecondUnpadded>)->Name("ConvWeightsGrad/32x13x13 to 64, padding 0");

/// Windows of 2 x 2 that do not overlap, with the bytes of all operands.
template <class O, tw::Shape shape>
void pool(benchmark::State& state) {
  static constexpr tw::WindowAttributes attributes{.kernel = {2, 2}, .stride = {2, 2}, .kernel_count = 2, .stride_count = 2};
  static constexpr tw::kernel::Windows windows = tw::detail::windows_of(shape, {2, 2}, attributes);
  static constexpr auto x = dense(shape), y = dense({shape[0], shape[1], windows[1].out, windows[2].out});
  static constexpr auto gradient = tw::pack(tw::WindowsAttributes::make(windows));
  if constexpr (std::is_same_v<O, tw::MaxPoolGrad>) run_codelet<O, gradient, x, y, x>(state);
  else if constexpr (std::is_same_v<O, tw::AveragePoolGrad>) run_codelet<O, gradient, y, x>(state);
  else run_codelet<O, tw::pack(attributes), x, y>(state);
  set_rate(state, "B/s", 4 * (x.shape.nelms() * (std::is_same_v<O, tw::MaxPoolGrad> ? 2 : 1) + y.shape.nelms()));
}
BENCHMARK(pool<tw::MaxPool, tw::Shape{32, 32, 28, 28}>)->Name("MaxPool/32x28x28");
BENCHMARK(pool<tw::MaxPool, tw::Shape{32, 64, 11, 11}>)->Name("MaxPool/64x11x11");
BENCHMARK(pool<tw::MaxPoolGrad, tw::Shape{32, 32, 28, 28}>)->Name("MaxPoolGrad/32x28x28");
BENCHMARK(pool<tw::MaxPoolGrad, tw::Shape{32, 64, 11, 11}>)->Name("MaxPoolGrad/64x11x11");
BENCHMARK(pool<tw::AveragePool, tw::Shape{32, 32, 28, 28}>)->Name("AveragePool/32x28x28");
BENCHMARK(pool<tw::AveragePoolGrad, tw::Shape{32, 32, 28, 28}>)->Name("AveragePoolGrad/32x28x28");
