#pragma once
// A small network, trained and asked by programs in C.
#include <tilewright/layers/linear.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<32>, fc1), (tw::layers::Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::gelu(fc1(x.reshape({-1, 28 * 28})))); }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}}); }
constexpr void infer(tw::Ir& ir) {
  const auto image = tw::ops::host_load(ir.h2d_stream("image", {28, 28}));
  const auto [factories, net] = tw::create_graph(Net{}, image);
  tw::ops::host_store(ir.d2h_stream("logits", {1, 10}), net.bind(factories.init()).call(image));
}
