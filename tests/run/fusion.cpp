// Networks give the same whether the planner joins ops or makes each a step of its own.
#include "../../examples/tutorial/net.hpp"
#include "fusion_checks.hpp"

namespace {

namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

/// Forward, backward and an update of all weights of a model, and what they are afterwards.
template <class Model>
constexpr void train(Tensor x, auto update) {
  const auto [factories, forward] = tw::create_graph(Model{}, x);
  const auto backward = tw::autodiff(forward);
  const auto weights = factories.init();
  const auto call = forward.bind(weights).call_with_info(x);
  store("y", call.output(0));
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(call.output(0) * 0.125, info.inputs_dict(call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward_call);
  for (const auto& [name, weight] : weights.named_tensors()) {
    update(weight, gradients[weight] * 0.0625);
    store(tw::text("after ", name).view(), weight);
  }
}
constexpr void descend(Tensor weight, Tensor gradient) { ops::scaled_add_(weight, gradient, {.b = -0.125}); }
constexpr void adam(Tensor weight, Tensor gradient) {
  const auto state = [&](std::string_view name, const tw::Shape& shape) {
    return ops::exp(variable(weight.ir(), tw::text(name, " of ", weight.name()).view(), shape));
  };
  const Tensor m = ops::accumulate_moving_average_(state("m", weight.shape()), gradient, 0.75);
  const Tensor v = ops::accumulate_moving_average_square_(state("v", weight.shape()), gradient, 0.875);
  const Tensor step = state("step", {});
  ops::scaled_add_(weight, ops::adam_updater(m, v, {.time_step = step, .beta1 = 0.75, .beta2 = 0.875}), {.b = -0.125});
}

template <auto update, int batch>
constexpr void dense(Ir& ir) {
  train<Net>(variable(ir, "x", {batch, 28, 7, 4}) * 0.125, update);
}

/// Layer normalisation, attention with a mask, two layers, and additions around them.
struct Encoder : tw::Module<Encoder> {
  constexpr Tensor build(Tensor x) {
    const auto matrix = [&](std::string_view name, std::int64_t rows, std::int64_t columns) {
      return add_variable_input(name, tw::zeros(), {rows, columns}) * 0.25;
    };
    const auto vector = [&](std::string_view name) { return add_variable_input(name, tw::zeros(), {24}); };
    const auto heads = [&](Tensor t, const tw::Shape& order) { return t.reshape({2, 20, 3, 8}).transpose(order); };
    const Tensor normal = ops::layer_norm(x, vector("scale"), vector("shift"));
    const Tensor q = heads(normal.matmul(matrix("q", 24, 24)), {0, 2, 1, 3});
    const Tensor k = heads(normal.matmul(matrix("k", 24, 24)), {0, 2, 3, 1});
    const Tensor v = heads(normal.matmul(matrix("v", 24, 24)), {0, 2, 1, 3});
    const Tensor p = ops::softmax(q.matmul(k) * 0.5 + add_variable_input("mask", tw::zeros(), {20, 20}));
    x = x + p.matmul(v).transpose({0, 2, 1, 3}).reshape({2, 20, 24}).matmul(matrix("out", 24, 24)) + vector("bias");
    return x + ops::gelu(x.matmul(matrix("widen", 24, 96))).matmul(matrix("narrow", 96, 24));
  }
};
constexpr void encoder(Ir& ir) { train<Encoder>(variable(ir, "x", {2, 20, 24}), descend); }

struct Cnn : tw::Module<Cnn> {
  constexpr Tensor build(Tensor x) {
    const auto layer = [&](Tensor t, std::string_view name, std::int64_t channels) {
      const Tensor w = add_variable_input(tw::text("weight", name).view(), tw::zeros(), {channels, t.shape(1), 3, 3});
      const Tensor b = add_variable_input(tw::text("bias", name).view(), tw::zeros(), {channels, 1, 1});
      return ops::max_pool(ops::relu(ops::conv(t, w * 0.25) + b), {2, 2}, {.stride = {2, 2}});
    };
    x = layer(layer(x, "1", 6), "2", 18);
    return x.reshape({4, -1}).matmul(add_variable_input("weight3", tw::zeros(), {18 * 9, 10}) * 0.25);
  }
};
constexpr void cnn(Ir& ir) { train<Cnn>(variable(ir, "x", {4, 2, 18, 18}), descend); }

}  // namespace

TEST_CASE("joined ops of a dense network give what single ones give") {
  check_fusion<dense<descend, 8>, tw::cpu>(1e-5, 0.0625);
  check_fusion<dense<adam, 40>, tw::cpu>(1e-4, 0.0625);
}
TEST_CASE("joined ops of an encoder block give what single ones give") {
  check_fusion<encoder, tw::cpu>(1e-5);
  check_fusion<encoder, tw::ipu_model>(1e-5);
}
TEST_CASE("joined ops of a convolutional network give what single ones give") { check_fusion<cnn, tw::cpu>(1e-5); }
