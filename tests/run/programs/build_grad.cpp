// labels: none
// Gradients that modules write by hand: the values are those of autodiff, where the two should agree.
#include <cmath>

#include "../../support/elements.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor;
namespace ops = tw::ops;

/// factor x sigmoid(x W), with a gradient by hand or without.
template <bool by_hand>
struct Gate : tw::Module<Gate<by_hand>> {
  double factor = 0;  // a value that build saves for build_grad

  constexpr Tensor build(Tensor x) {
    factor = 3;
    const Tensor weight = this->add_variable_input("weight", tw::normal(0, 1), {4, 4});
    const Tensor gate = ops::sigmoid(x.matmul(weight));
    this->aux("x", x), this->aux("gate", gate);
    return x * gate * factor;
  }
  constexpr Tensor build_grad(Tensor dy)
    requires by_hand
  {
    const Tensor x = this->aux("x"), gate = this->aux("gate");
    const Tensor d_product = dy * x * factor * gate * (1 - gate);
    this->var_grad("weight", x.T().matmul(d_product));
    return dy * gate * factor + d_product.matmul(this->aux("weight").T());
  }
};

/// x W + b
struct Linear : tw::Module<Linear> {
  constexpr Tensor build(Tensor x) {
    return x.matmul(add_variable_input("weight", tw::normal(0, 1), {4, 4})) + add_variable_input("bias", tw::ones(), {4});
  }
};
/// (tanh(linear(x)) scale, linear(x)). The gradient by hand computes the inner layer again.
template <bool by_hand>
struct Block : tw::Module<Block<by_hand>> {
  BOOST_HANA_DEFINE_STRUCT(Block, (Linear, linear));

  constexpr std::pair<Tensor, Tensor> build(Tensor x, Tensor scale) {
    this->aux("x", x), this->aux("scale", scale);
    const Tensor h = linear(x);
    return {ops::tanh(h) * scale, h};
  }
  constexpr std::pair<Tensor, Tensor> build_grad(Tensor dy, Tensor dh)
    requires by_hand
  {
    const Tensor x = this->aux("x"), scale = this->aux("scale"), y = ops::tanh(linear(x));
    dh = dh + dy * scale * (1 - y * y);
    this->var_grad("linear.weight", x.T().matmul(dh));
    this->var_grad("linear.bias", ops::sum(dh, {0}));
    return {dh.matmul(this->aux("linear.weight").T()), ops::sum(dy * y, {0})};
  }
};

/// Gates and blocks: one gate is called twice and in a loop.
template <bool by_hand>
struct Net : tw::Module<Net<by_hand>> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Gate<by_hand>, gate), (Block<by_hand>, block));

  constexpr Tensor build(Tensor x, Tensor scale) {
    const auto [factories, graph] = tw::create_graph(gate, x);
    x = graph.bind(this->add_variable_inputs("first", factories)).call(x);
    const auto outputs = this->call_module(block, x, scale);
    x = outputs[0] + outputs[1];
    x = graph.bind(this->add_variable_inputs("second", factories)).call(x);
    return tw::repeat(graph.bind(this->add_variable_inputs("looped", factories)), 3, {x * 0.1});
  }
};

/// The sign, with the gradient of the identity: a straight-through estimator.
struct Sign : tw::Module<Sign> {
  constexpr Tensor build(Tensor x) { return ops::sign(x); }
  constexpr Tensor build_grad(Tensor dy) { return dy; }
};
/// x sign(2 x)
struct Binary : tw::Module<Binary> {
  BOOST_HANA_DEFINE_STRUCT(Binary, (Sign, sign));
  constexpr Tensor build(Tensor x) { return x * call_module(sign, x * 2); }
};

/// Returns y and the gradients of a network's inputs and variables, one after the other.
template <bool by_hand>
constexpr Tensor results_of_net(const tw::NamedTensors& variables, Tensor x, Tensor scale, Tensor dy) {
  const auto forward = tw::create_graph(Net<by_hand>(), x, scale).graph;
  const auto backward = tw::autodiff(forward);
  const auto info = backward.grad_graph_info();
  const auto call = forward.bind(variables).call_with_info(x, scale);
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info(dy, info.inputs_dict(call)));
  tw::List<Tensor> results{call.output(0).reshape({-1}), gradients[x].reshape({-1}), gradients[scale]};
  for (const auto& [name, variable] : variables.to_dict()) results.push_back(gradients[variable].reshape({-1}));
  return ops::concat(results);
}
constexpr void program(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2, 4})), dy = ops::host_load(ir.h2d_stream("dy", {2, 4})),
               scale = ops::host_load(ir.h2d_stream("scale", {4}));
  const auto variables = tw::create_graph(Net<false>(), x, scale).factories.init();
  store("by hand", results_of_net<true>(variables, x, scale, dy));
  store("by autodiff", results_of_net<false>(variables, x, scale, dy));

  const auto binary = tw::create_graph(Binary(), x).graph;
  const auto backward = tw::autodiff(binary);
  const auto call = binary.call_with_info(x);
  store("binary", call.output(0));
  store("dbinary", backward.call_with_info(dy, backward.grad_graph_info().inputs_dict(call)).output(0));
}

}  // namespace

TEST_CASE("build_grad: gradients by hand are those of autodiff, or what they say") {
  tw::Session<program> session({.threads = 2});
  const Floats x{0.5f, -1.25f, 0.75f, 2, -0.5f, 1, 0.25f, -1.5f}, dy{1, -2, 0.5f, 3, -1, 0.25f, 2, -0.5f};
  const auto outputs = session.run("x"_s = xt::adapt(x, {2, 4}), "scale"_s = Floats{1, 2, -1, 0.5f},
                                   "dy"_s = xt::adapt(dy, {2, 4}));
  const auto by_hand = elements(outputs["by hand"_s]), by_autodiff = elements(outputs["by autodiff"_s]);
  CHECK(by_hand.size() == 8 + 8 + 4 + 4 * 16 + 4);
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < by_hand.size(); ++i) {
    INFO(i);
    CHECK(by_hand[i] != 0);
    difference += std::pow(by_hand[i] - by_autodiff[i], 2), norm += std::pow(by_autodiff[i], 2);
  }
  CHECK(difference <= 1e-12 * norm);  // float32 rounds to 6e-8 of a number
  Floats y, dx;
  for (std::size_t i = 0; i < x.size(); ++i) {
    y.push_back(std::abs(x[i]));
    dx.push_back(dy[i] * (x[i] > 0 ? 1.f : -1.f) + 2 * dy[i] * x[i]);  // of x, and straight through the sign
  }
  CHECK(elements(outputs["binary"_s]) == y);
  CHECK(elements(outputs["dbinary"_s]) == dx);
}
