#pragma once
// A small convolutional network with the programs of digits.hpp.
#include <tilewright/layers/conv.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/optim/sgd.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct ConvNet : tw::Module<ConvNet> {
  BOOST_HANA_DEFINE_STRUCT(ConvNet, (tw::layers::Conv2d<8, 3>, conv1), (tw::layers::Conv2d<16, 3>, conv2),
                           (tw::layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) {
    x = tw::ops::max_pool(tw::ops::relu(conv1(x.reshape({-1, 1, 28, 28}))), {2, 2}, {.stride = {2, 2}});
    x = tw::ops::max_pool(tw::ops::relu(conv2(x)), {2, 2}, {.stride = {2, 2}});
    return head(x.reshape({-1, 16 * 5 * 5}));
  }
};
constexpr void train_step(tw::Ir& ir) {
  tw::train::train_step(ir, ConvNet{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}});
}
constexpr void test_step(tw::Ir& ir) { tw::train::test_step(ir, ConvNet{}, {{1, 28, 28}}); }
