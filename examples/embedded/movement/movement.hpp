#pragma once
// A perceptron that tells six movements apart by 24 features. It is trained for many users; a device continues for a new one.
#include <tilewright/layers/linear.hpp>
#include <tilewright/optim/adam.hpp>
#include <tilewright/optim/sgd.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<48>, hidden), (tw::layers::Linear<48>, features),
                           (tw::layers::Linear<6>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(tw::ops::relu(features(tw::ops::relu(hidden(x))))); }
};
/// On the PC: all layers.
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::AdamParameters{.lr = 0.002}, {{32, 24}}); }
/// On the device: the last layer, on all 20 samples of a new user.
constexpr void adapt_step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.02}, {{20, 24}}, {.groups = {tw::train::only("head.*")}});
}
constexpr void test_step(tw::Ir& ir) { tw::train::test_step(ir, Net{}, {{1, 24}}); }
