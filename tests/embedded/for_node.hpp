#pragma once
// Two networks that programs in C and in JavaScript train: the perceptron of net.hpp, and convolutions with Adam.
#include <tilewright/layers/conv.hpp>
#include <tilewright/layers/pool.hpp>
#include <tilewright/optim/adam.hpp>

#include "net.hpp"

struct Images : tw::Module<Images> {
  using Convolution = tw::layers::Conv2d<8, 3, {.padding = 1}>;
  BOOST_HANA_DEFINE_STRUCT(Images, (Convolution, conv), (tw::layers::MaxPool2d<2>, pool), (tw::layers::Linear<4>, head));
  constexpr tw::Tensor build(tw::Tensor x) {
    x = pool(tw::ops::tanh(conv(x.reshape({-1, 1, 12, 12}))));
    return head(x.reshape({-1, 8 * 6 * 6}));
  }
};
constexpr void images_step(tw::Ir& ir) {
  tw::train::train_step(ir, Images{}, tw::optim::AdamParameters{.lr = 0.01}, {{4, 12, 12}});
}
