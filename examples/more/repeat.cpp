// Loops: a graph called several times, one that loads and stores in each iteration, and gradients accumulated in a loop.
//
// labels: more
// test:
// expect: x + 1 twice: 3 3 3 3
// expect: 8 times load, multiply, add, store: 5 6 7 8 9 10 11 12
// expect: mean gradient of 4 micro-batches, and of one batch: equal
#include <cmath>
#include <iostream>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;

/// What a graph returns is its first input in the next iteration; its other inputs stay.
constexpr void increment(tw::Ir& ir) {
  const auto x = ir.variable(tw::ones(), {2, 2}, tw::float32, "x");
  const auto value = ir.constant({1}, {2, 2});
  const auto graph = ir.create_graph([](tw::Tensor t, tw::Tensor v) { return t + v; }, x, value);
  const auto info = tw::repeat_with_info(graph, 2, {x, value});
  tw::ops::host_store(ir.d2h_stream("y", {2, 2}), info.output(0));
}

/// Each iteration takes the next element of the stream from the host, and gives one to the stream to the host.
constexpr void stream(tw::Ir& ir) {
  const auto x_stream = ir.h2d_stream("x", {1, 2});
  const auto y_stream = ir.d2h_stream("y", {1, 1});
  const auto w = ir.constant({1}, {2, 1}), b = ir.constant({1}, {1});
  const auto linear = ir.create_graph(
      [&](tw::Tensor weight, tw::Tensor bias) {
        tw::ops::host_store(y_stream, tw::ops::host_load(x_stream).matmul(weight) + bias);
      },
      w, b);
  tw::repeat(linear, 8, {w, b});
}

struct Linear : tw::Module<Linear> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto w = add_variable_input("weight", tw::normal(0, 0.5), {x.shape(-1), 3});
    return tw::ops::tanh(x.matmul(w) + add_variable_input("bias", tw::zeros(), {3}));
  }
};

/// The loss is |y|^2 / 2, the gradient of y thus y. With several micro-batches, a loop adds up the mean of their gradients, and
/// the gradient graph computes the layer again instead of keeping what is inside.
template <int micro_batches>
struct Gradients : tw::Module<Gradients<micro_batches>> {
  tw::HostToDeviceStream images;
  constexpr explicit Gradients(tw::HostToDeviceStream stream) : images(stream) {}

  constexpr void build() {
    const auto x = tw::ops::host_load(images);
    const auto [factories, forward] = tw::create_graph(Linear{}, x);
    const auto [accumulators, backward] = tw::autodiff_with_accumulation(forward, forward.args());
    const auto recomputing = tw::recompute_graph(backward);
    const auto call = forward.bind(this->add_variable_inputs("layer", factories)).call_with_info(x);
    recomputing.bind(this->add_variable_inputs("gradients", accumulators))
        .call(call.output(0), recomputing.grad_graph_info().inputs_dict(call));
  }
};
template <int micro_batches>
constexpr void accumulate(tw::Ir& ir) {
  const Gradients<micro_batches> gradients(ir.h2d_stream("x", {8 / micro_batches, 2}));
  const auto [factories, graph] = tw::create_graph(ir, gradients);
  const auto variables = factories.init();
  tw::repeat(graph.bind(variables), micro_batches);
}

int main() {
  tw::Session<increment> first;
  std::cout << "x + 1 twice:";
  const auto incremented = first.run();
  for (float y : incremented["y"_s]) std::cout << ' ' << y;

  tw::Session<stream> second;
  xt::xtensor<float, 3> x({8, 1, 2});
  for (std::size_t i = 0; i < 8; ++i) x(i, 0, 0) = static_cast<float>(i) + 4, x(i, 0, 1) = 0;
  std::cout << "\n8 times load, multiply, add, store:";
  const auto streamed = second.run("x"_s = x);
  for (float y : streamed["y"_s]) std::cout << ' ' << y;

  tw::Session<accumulate<4>> in_parts;
  tw::Session<accumulate<1>> at_once;
  in_parts.run("x"_s = xt::xtensor<float, 3>(xt::reshape_view(x, {4, 2, 2})));
  at_once.run("x"_s = xt::xtensor<float, 2>(xt::reshape_view(x, {8, 2})));
  const auto parts = in_parts.get_tensor_data("gradients.accum.weight"_s),
             whole = at_once.get_tensor_data("gradients.accum.weight"_s);
  bool equal = true;  // one is the mean over 4 sums of 2 images, the other the sum over 8
  for (std::size_t i = 0; i < parts.size(); ++i) equal = equal && std::abs(4 * parts.data()[i] - whole.data()[i]) < 1e-4f;
  std::cout << "\nmean gradient of 4 micro-batches, and of one batch: " << (equal ? "equal" : "different") << '\n';
}
