#pragma once
// A small convolutional network: two convolutions with pooling, and a linear layer, for images of 28 x 28.
#include <tilewright/layers/conv.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/layers/pool.hpp>
#include <tilewright/optim/sgd.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct Images : tw::Module<Images> {
  using First = tw::layers::Conv2d<8, 3, {.padding = 1}>;
  using Second = tw::layers::Conv2d<16, 3, {.padding = 1}>;
  using Pool = tw::layers::MaxPool2d<2>;
  BOOST_HANA_DEFINE_STRUCT(Images, (First, conv1), (Second, conv2), (Pool, pool), (tw::layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) {
    x = pool(tw::ops::relu(conv1(x.reshape({-1, 1, 28, 28}))));
    x = pool(tw::ops::relu(conv2(x)));
    return head(x.reshape({-1, 16 * 7 * 7}));
  }
};
constexpr void train_step(tw::Ir& ir) {
  tw::train::train_step(ir, Images{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}});
}
