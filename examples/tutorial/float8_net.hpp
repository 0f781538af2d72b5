#pragma once
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

/// A convolution with a stride of 2, and relu. x: (batch, channels, height, width).
template <int out_channels>
struct Conv : tw::Module<Conv<out_channels>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto weight = this->add_variable_input("weight", tw::normal(0, 0.1), {out_channels, x.shape(1), 3, 3}, x.dtype());
    const auto bias = this->add_variable_input("bias", tw::zeros(), {out_channels, 1, 1}, x.dtype());
    return tw::ops::relu(tw::ops::conv(x, weight, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}) + bias);
  }
};

/// What is trained, in float32: two convolutions and a linear layer.
struct ConvNet : tw::Module<ConvNet> {
  using Linear = tw::layers::Linear<10, {.std = 0.02}>;
  BOOST_HANA_DEFINE_STRUCT(ConvNet, (Conv<8>, conv1), (Conv<16>, conv2), (Linear, linear));

  constexpr tw::Tensor build(tw::Tensor x) {
    x = conv2(conv1(x.reshape({-1, 1, 28, 28})));
    return linear(x.reshape({x.shape(0), -1}));
  }
};

/// The same network with weights and activations in float8, and biases in float16. A weight times 2^s fills the range of its
/// format; `log2_scale` is -s, which the products take away again. The host sets these variables before the first run.
template <tw::DType format, int batch_size>
constexpr void float8_test_step(tw::Ir& ir) {
  struct Layer {
    tw::Tensor weight, bias, log2_scale;
  };
  const auto layer = [&](std::string_view name, const tw::Shape& weight, const tw::Shape& bias) -> Layer {
    return {ir.variable(tw::zeros(), weight, format, tw::text(name, ".weight").view()),
            ir.variable(tw::zeros(), bias, tw::float16, tw::text(name, ".bias").view()),
            ir.variable(tw::zeros(), {}, tw::int32, tw::text(name, ".log2_scale").view())};
  };
  const Layer conv1 = layer("conv1", {8, 1, 3, 3}, {8, 1, 1}), conv2 = layer("conv2", {16, 8, 3, 3}, {16, 1, 1});
  const Layer linear = layer("linear", {16 * 7 * 7, 10}, {10});

  const auto small = [](tw::Tensor x) { return tw::ops::pow2scale_then_cast(x, 0, format); };
  const auto convolve = [&](tw::Tensor x, const Layer& with) {
    return tw::ops::relu(
        tw::ops::conv_pow2scaled(small(x), with.weight, with.log2_scale, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}) +
        with.bias);
  };
  auto x = tw::ops::host_load(ir.h2d_stream("image", {batch_size, 28, 28}));
  x = convolve(convolve(x.reshape({batch_size, 1, 28, 28}), conv1), conv2).reshape({batch_size, -1});
  x = tw::ops::matmul_pow2scaled(small(x), linear.weight, linear.log2_scale) + linear.bias;
  tw::ops::host_store(ir.d2h_stream("outputs", x.spec()), x);
}
