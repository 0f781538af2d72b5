#pragma once
// A small convolutional network, 1x28x28.
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

/// A convolution with bias. x: (batch, channels, height, width).
template <int out_channels, int kernel_size>
struct Conv : tw::Module<Conv<out_channels, kernel_size>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto weight = this->add_variable_input("weight", tw::normal(0, 0.1),
                                                 {out_channels, x.shape(1), kernel_size, kernel_size}, x.dtype());
    const auto bias = this->add_variable_input("bias", tw::zeros(), {out_channels, 1, 1}, x.dtype());
    return tw::ops::conv(x, weight) + bias;
  }
};

struct ConvolutionalNet : tw::Module<ConvolutionalNet> {
  using Conv1 = Conv<32, 3>;
  using Conv2 = Conv<64, 3>;
  using Linear = tw::layers::Linear<10, {.std = 0.02}>;
  BOOST_HANA_DEFINE_STRUCT(ConvolutionalNet, (Conv1, conv1), (Conv2, conv2), (Linear, linear));

  constexpr tw::Tensor build(tw::Tensor x) {
    x = halved(tw::ops::relu(conv1(x)));
    x = halved(tw::ops::relu(conv2(x)));
    return linear(x.reshape({x.shape(0), -1}));
  }

 private:
  static constexpr tw::Tensor halved(tw::Tensor x) { return tw::ops::max_pool(x, {2, 2}, {.stride = {2, 2}}); }
};
