#pragma once
// A model and its programs, without a session: what tilewright_check traces.
#include <tilewright/layers/linear.hpp>
#include <tilewright/model.hpp>
#include <tilewright/train/minimise.hpp>

struct Net : tilewright::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tilewright::layers::Linear<8>, fc1), (tilewright::layers::Linear<1>, fc2));
  constexpr tilewright::Tensor build(tilewright::Tensor x) { return fc2(tilewright::ops::tanh(fc1(x))); }
};
constexpr void train_step(tilewright::Ir& ir) {
  const auto loss = [](Net& net, tilewright::Tensor x) { return tilewright::ops::mean(net(x)); };
  tilewright::train::minimise(ir, Net{}, loss, tilewright::optim::SgdParameters{}, {{"x", {4, 3}}});
}
template <int batch>
constexpr void predict(tilewright::Ir& ir) {
  const auto x = tilewright::ops::host_load(ir.h2d_stream("x", {batch, 3}));
  const auto [factories, net] = tilewright::create_graph(ir, Net{}, x);
  tilewright::ops::host_store(ir.d2h_stream("y", {batch, 1}), net.bind(factories.init()).call(x));
}
constexpr void wrong_step(tilewright::Ir& ir) {
  const auto x = tilewright::ops::host_load(ir.h2d_stream("x", {4, 3}));
  static_cast<void>(x.matmul(x));
}
