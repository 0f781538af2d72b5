#pragma once
// Networks for signals, each on at most 1,024 numbers: two perceptrons, a GRU, a dilated convolution and a pooling.
#include <tilewright/layers/conv.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/layers/pool.hpp>
#include <tilewright/layers/recurrent.hpp>

namespace tw = tilewright;

struct Perceptron : tw::Module<Perceptron> {
  BOOST_HANA_DEFINE_STRUCT(Perceptron, (tw::layers::Linear<32>, fc1), (tw::layers::Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::gelu(fc1(x))); }
};
struct Controller : tw::Module<Controller> {
  BOOST_HANA_DEFINE_STRUCT(Controller, (tw::layers::Linear<16>, in), (tw::layers::Linear<16>, hidden),
                           (tw::layers::Linear<1>, out));
  constexpr tw::Tensor build(tw::Tensor x) { return out(tw::ops::tanh(hidden(tw::ops::tanh(in(x))))); }
};
struct Gru : tw::Module<Gru> {
  BOOST_HANA_DEFINE_STRUCT(Gru, (tw::layers::GRU<64>, gru));
  constexpr tw::Tensor build(tw::Tensor x) { return gru(x).first; }
};
struct Dilated : tw::Module<Dilated> {
  using Conv = tw::layers::Conv1d<16, 3, {.dilation = 4}>;
  BOOST_HANA_DEFINE_STRUCT(Dilated, (Conv, conv));
  constexpr tw::Tensor build(tw::Tensor x) { return tw::ops::tanh(conv(x)); }
};
/// Its work depends on values: a window with NaN takes more of it.
struct Pooled : tw::Module<Pooled> {
  BOOST_HANA_DEFINE_STRUCT(Pooled, (tw::layers::MaxPool2d<2>, pool));
  constexpr tw::Tensor build(tw::Tensor x) { return pool(x); }
};
template <class Net>
constexpr void answer(tw::Ir& ir, const tw::Shape& shape) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", shape));
  const auto [factories, net] = tw::create_graph(Net{}, x);
  const tw::Tensor y = net.bind(factories.init()).call(x);
  tw::ops::host_store(ir.d2h_stream("y", y.spec()), y);
}
constexpr void perceptron(tw::Ir& ir) { answer<Perceptron>(ir, {1, 784}); }
constexpr void controller(tw::Ir& ir) { answer<Controller>(ir, {1, 10}); }
constexpr void gru(tw::Ir& ir) { answer<Gru>(ir, {1, 8, 16}); }
constexpr void dilated(tw::Ir& ir) { answer<Dilated>(ir, {1, 16, 64}); }
constexpr void pooled(tw::Ir& ir) { answer<Pooled>(ir, {1, 1, 28, 28}); }
