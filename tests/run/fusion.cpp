// Programs give the same whether the planner joins ops or makes each a step of its own.
#include <random>

#include "../../examples/tutorial/net.hpp"
#include "../../examples/tutorial/steps.hpp"
#include "elements.hpp"
#include "reference.hpp"

namespace {

namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

/// Runs a program some times from random variables, and gives its outputs. The variables are multiples of `step`.
template <auto build, tw::Target target>
Values results(int threads, double scale, double step = 0x1p-30) {
  tw::Session<build, target> session({.threads = threads});
  Values inputs;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  for (std::size_t i = 0; i < session.plan.variables.size(); ++i)
    for (std::int64_t k = 0; k < session.plan.variables[i].spec.nelms(); ++k)
      inputs[std::string(session.plan.variable_name(i))].push_back(std::round(uniform(random) / step) * step);
  write_variables(session, inputs);
  Values outputs;
  for (int i = 0; i < 3; ++i) outputs = run(session);
  return outputs;
}
template <auto build, tw::Target target>
void check_fusion(double tolerance, double scale = 1) {
  const Values expected = results<build, target.without_fusion()>(1, scale);
  for (int threads : {1, 3}) {
    const Values fused = results<build, target>(threads, scale);
    REQUIRE(fused.size() == expected.size());
    for (const auto& [name, value] : expected) {
      INFO(name << ", " << threads << " threads");
      CHECK(difference(fused.at(name), value) < tolerance);
    }
  }
}

/// The same bit for bit. The variables are multiples of 1/16, so that sums of products are exact in any order.
template <auto build, tw::Target target>
void check_bits() {
  const Values expected = results<build, target.without_fusion()>(1, 1, 1.0 / 16);
  for (int threads : {1, 3}) {
    const Values fused = results<build, target>(threads, 1, 1.0 / 16);
    for (const auto& [name, value] : expected) {
      INFO(name << ", " << threads << " threads");
      CHECK(difference(fused.at(name), value) == 0);
    }
  }
}

constexpr Tensor variable(Ir& ir, std::string_view name, const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return ir.variable(tw::zeros(), shape, dtype, name);
}
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

/// Updates with moments in half precision: of rows of full vectors and of shorter ones, after products and sums.
constexpr void half_moments(Ir& ir) {
  const Tensor x = variable(ir, "x", {12, 40}), wide = variable(ir, "wide", {12, 64}), narrow = variable(ir, "narrow", {12, 27});
  const auto update = [&](std::string_view name, Tensor gradient, tw::DType weight_dtype) {
    const auto state = [&](std::string_view of, tw::DType dtype) {
      return variable(ir, tw::text(name, " ", of).view(), gradient.shape(), dtype);
    };
    const Tensor weight = state("weight", weight_dtype), first = state("first", tw::float16),
                 second = state("second", tw::float32);
    const Tensor root = state("root", tw::float32);
    ops::copy_var_update_(second, root * root);
    const Tensor m = ops::accumulate_moving_average_(first, gradient, 0.9);
    const Tensor v = ops::accumulate_moving_average_square_(second, gradient, 0.999);
    ops::scaled_add_(weight, ops::adam_updater(m, v, {.weight = weight, .weight_decay = 0.01, .epsilon = 1e-5}), {.b = -0.001});
    store(tw::text(name, " after").view(), weight);
    store(tw::text(name, " first after").view(), m);
    const Tensor step = ops::adam_updater(m, v, {.epsilon = 1e-5});  // in half precision, in a register when it is fused
    store(tw::text(name, " step").view(), ops::scaled_add(weight, step, {.a = 0.3, .b = -0.7}));
  };
  update("wide", x.T().matmul(wide), tw::float32);
  update("narrow", x.T().matmul(narrow), tw::float32);
  update("transposed", narrow.T().matmul(x), tw::float16);
  update("row", ops::sum(narrow, 0), tw::float32);
  update("column", ops::sum(narrow, 1), tw::float16);
}
/// Chains of ops in half precision, contiguous, broadcast and strided.
constexpr void half_expressions(Ir& ir) {
  const Tensor x = variable(ir, "x", {40, 27}, tw::float16), y = variable(ir, "y", {40, 27}),
               row = variable(ir, "row", {27}, tw::float16);
  const Tensor column = variable(ir, "column", {40, 1}, tw::float16), third = variable(ir, "third", {}, tw::float16);
  const Tensor z = (y * 0.3).cast(tw::float16);
  store("1", (x * z + row) * column - third * z);
  store("2", ops::scaled_add(y, ops::exp(x) * third, {.a = 0.1, .b = 0.7}));
  store("3", (ops::tanh(x.T()) + z.T() * x.T()).cast(tw::float32) * y.T());
  store("4", ops::gelu(x * third).cast(tw::float32) + y);
  store("5", ops::softmax(x) * z);
}

/// Values that are read twice, broadcast, transposed and overwritten, and branches.
constexpr void expressions(Ir& ir) {
  const Tensor x = variable(ir, "x", {40, 24}), y = variable(ir, "y", {40, 24}), row = variable(ir, "row", {24});
  const Tensor column = variable(ir, "column", {40, 1}), square = variable(ir, "square", {24, 24});
  const Tensor sum = x + y, product = x * row;
  store("1", ops::exp(sum) * sum - product / (column * column + 2));
  store("2", ops::tanh(x.matmul(square) + row) * column + sum);
  store("3", ops::sum(x * y, 1) - ops::sum(ops::exp(x), 1));
  store("4", ops::softmax(x.T().matmul(y) * 0.25 + square) + square.T());
  const Tensor before = square.T() * 2;
  ops::scaled_add_(square, y.T().matmul(x), {.b = 0.5});
  store("5", before + square);
  ops::scaled_add_(square, square.T(), {.b = 0.5});
  store("6", ops::sum(square, 0) * row);
  ops::scaled_add_(y, x.matmul(square), {.a = 0.5, .b = 0.25});
  store("7", y + x.matmul(square));
}

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
TEST_CASE("joined expressions give what single ones give") {
  check_fusion<expressions, tw::cpu>(1e-5);
  check_fusion<expressions, tw::ipu_model.with_tiles(30)>(1e-5);
}
TEST_CASE("half precision gives the same bits in vectors and alone, joined or not") {
  check_bits<half_moments, tw::cpu>();
  check_bits<half_moments, tw::ipu_model.with_tiles(30)>();
  check_bits<half_expressions, tw::cpu>();
}
