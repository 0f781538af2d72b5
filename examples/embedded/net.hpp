#pragma once
// The README's network, for C: a step that trains it, and one that gives the logits of one image. `./dev export` makes a library
// of them, which main.c and train.py use.
#include <tilewright/layers/linear.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  using Hidden = tw::layers::Linear<512>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Hidden, fc1), (Hidden, fc2), (tw::layers::Linear<10>, fc3));
  constexpr tw::Tensor build(tw::Tensor x) {
    x = tw::ops::gelu(fc1(x.reshape({-1, 28 * 28})));
    return fc3(tw::ops::gelu(fc2(x)));
  }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}}); }
constexpr void infer(tw::Ir& ir) {
  const auto image = tw::ops::host_load(ir.h2d_stream("image", {28, 28}));
  const auto [factories, net] = tw::create_graph(Net{}, image);
  tw::ops::host_store(ir.d2h_stream("logits", {1, 10}), net.bind(factories.init()).call(image));
}
