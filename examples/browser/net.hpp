#pragma once
// A network that tells two spirals apart: a step that trains it, and one that gives the logits of 256 points. `./dev export`
// makes a module for browsers and node of them, which spirals.mjs uses.
#include <tilewright/layers/linear.hpp>
#include <tilewright/optim/adam.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  using Hidden = tw::layers::Linear<32>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Hidden, fc1), (Hidden, fc2), (tw::layers::Linear<2>, fc3));
  constexpr tw::Tensor build(tw::Tensor x) { return fc3(tw::ops::tanh(fc2(tw::ops::tanh(fc1(x))))); }
};
constexpr tw::train::StepOptions of_points{.input = "points"};
constexpr void train_step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::AdamParameters{.lr = 0.01}, {{64, 2}}, of_points);
}
constexpr void test_step(tw::Ir& ir) { tw::train::test_step(ir, Net{}, {{256, 2}}, of_points); }
