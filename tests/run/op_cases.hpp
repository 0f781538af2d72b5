#pragma once
// Every op as a small program, for comparison with tests/reference/ops.txt: inputs and gradients of results are variables,
// results and gradients of inputs are streams, all with the names that make_fixtures.py gives them.
#include <array>
#include <vector>

#include "tilewright/tilewright.hpp"

namespace op_cases {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Axes, tw::Ir, tw::NllOptions, tw::Reduction, tw::Shape, tw::Tensor, tw::TensorSpec;

constexpr TensorSpec f32(std::initializer_list<std::int64_t> shape) { return {shape, tw::float32}; }
constexpr TensorSpec f16(std::initializer_list<std::int64_t> shape) { return {shape, tw::float16}; }
constexpr TensorSpec i32(std::initializer_list<std::int64_t> shape) { return {shape, tw::int32}; }

/// Calls ops on variables and stores the results under names that start with the case's.
class Case {
 public:
  constexpr Case(Ir& ir, std::string_view name) : ir_(ir), name_(name) {}

  constexpr Tensor variable(std::string_view kind, std::size_t i, const TensorSpec& spec) const {
    return ir_.variable(tw::zeros(), spec.shape, spec.dtype, tw::text(name_, ".", kind, i).view());
  }
  constexpr void store(std::string_view kind, std::size_t i, Tensor tensor) const {
    ops::host_store(ir_.d2h_stream(tw::text(name_, ".", kind, i).view(), tensor.spec()), tensor);
  }
  constexpr tw::CallSiteInfo run(tw::Graph graph) const {
    std::vector<Tensor> inputs;
    for (const Tensor& input : graph.inputs()) inputs.push_back(variable("x", inputs.size(), input.spec()));
    return tw::call_with_info(graph, inputs);
  }

 private:
  Ir& ir_;
  std::string_view name_;
};

template <class Op, class... Specs>
constexpr void forward(Ir& ir, std::string_view name, Op op, const Specs&... inputs) {
  const Case test(ir, name);
  std::size_t i = 0;
  for (const Tensor& result : test.run(ir.create_graph(op, inputs...)).outputs()) test.store("y", i++, result);
}

template <class Op, class... Specs>
constexpr void differentiable(Ir& ir, std::string_view name, Op op, const Specs&... inputs) {
  const Case test(ir, name);
  const tw::Graph graph = ir.create_graph(op, inputs...);
  const auto call = test.run(graph);
  test.store("y", 0, call.output(0));
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const Tensor dy = test.variable("dy", 0, call.output(0).spec());
  const auto gradient_call = tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call));
  const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(gradient_call);
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    if (const Tensor* dx = gradients.find(graph.inputs()[i])) test.store("dx", i, *dx);
}

constexpr std::array<Tensor, 2> both(const tw::LossAndGradient& results) { return {results.loss, results.gradient}; }

constexpr auto add = [](Tensor a, Tensor b) { return a + b; };
constexpr auto mul = [](Tensor a, Tensor b) { return a * b; };
constexpr auto div = [](Tensor a, Tensor b) { return a / b; };
constexpr auto matmul = [](Tensor a, Tensor b) { return a.matmul(b); };
constexpr auto nll_loss = [](Tensor p, Tensor labels) { return ops::nll_loss(p, labels); };

constexpr void matrices_and_arithmetic(Ir& ir) {
  differentiable(ir, "matmul", matmul, f32({2, 3}), f32({3, 4}));
  differentiable(ir, "matmul_vectors", matmul, f32({5}), f32({5}));
  differentiable(ir, "matmul_row", matmul, f32({3}), f32({3, 4}));
  differentiable(ir, "matmul_column", matmul, f32({2, 3}), f32({3}));
  differentiable(ir, "matmul_batched", matmul, f32({2, 3, 4}), f32({2, 4, 5}));
  differentiable(ir, "matmul_broadcast", matmul, f32({2, 1, 2, 3}), f32({3, 3, 2}));
  differentiable(ir, "matmul_large", matmul, f32({9, 70}), f32({70, 21}));
  differentiable(ir, "matmul_transposed", [](Tensor a, Tensor b) { return a.T().matmul(b.T()); }, f32({70, 9}), f32({21, 70}));

  differentiable(ir, "add", add, f32({2, 3}), f32({2, 3}));
  differentiable(ir, "add_row", add, f32({2, 3}), f32({3}));
  differentiable(ir, "sub_axes", [](Tensor a, Tensor b) { return a - b; }, f32({2, 1, 3}), f32({4, 1}));
  differentiable(ir, "mul_scalar", mul, f32({2, 3}), f32({}));
  differentiable(ir, "mul_column", mul, f32({3, 1}), f32({3, 21}));
  differentiable(ir, "div_outer", div, f32({3, 1}), f32({1, 4}));
  differentiable(ir, "numbers", [](Tensor x) { return (2 * x + 1) / 4 - 3 / x; }, f32({2, 3}));
  differentiable(
      ir, "scaled_add", [](Tensor x, Tensor y) { return ops::scaled_add(x, y, {.a = 0.5, .b = -2}); }, f32({3, 19}),
      f32({3, 19}));
  differentiable(
      ir, "scaled_add_tensors", [](Tensor x, Tensor y, Tensor a, Tensor b) { return ops::scaled_add(x, y, a, b); }, f32({2, 3}),
      f32({2, 3}), f32({}), f32({1}));
  forward(
      ir, "scaled_add_inplace", [](Tensor x, Tensor y) { return ops::scaled_add_(x, y, {.a = 2, .b = -1}); }, f32({3, 19}),
      f32({3, 19}));
}

constexpr void functions_and_reductions(Ir& ir) {
  differentiable(ir, "negate", [](Tensor x) { return -x; }, f32({3, 19}));
  differentiable(ir, "gelu", ops::gelu, f32({3, 19}));
  differentiable(ir, "relu", ops::relu, f32({3, 19}));
  differentiable(ir, "exp", ops::exp, f32({3, 19}));
  differentiable(ir, "log", ops::log, f32({3, 19}));
  differentiable(ir, "sqrt", ops::sqrt, f32({3, 19}));
  differentiable(ir, "tanh", ops::tanh, f32({3, 19}));
  differentiable(ir, "identity", ops::identity, f32({2, 3}));

  differentiable(ir, "reshape", [](Tensor x) { return x.reshape({3, -1}); }, f32({2, 6}));
  differentiable(ir, "transpose", [](Tensor x) { return x.transpose({2, 0, 1}); }, f32({2, 3, 4}));
  differentiable(ir, "transpose_reversed", [](Tensor x) { return x.T(); }, f32({2, 3, 4}));
  differentiable(ir, "expand", [](Tensor x) { return ops::expand(x, {2, 3, 4}); }, f32({3, 1}));
  differentiable(ir, "sum", [](Tensor x) { return ops::sum(x); }, f32({2, 3, 4}));
  differentiable(ir, "sum_axis", [](Tensor x) { return ops::sum(x, 1); }, f32({2, 3, 4}));
  differentiable(ir, "sum_keep", [](Tensor x) { return ops::sum(x, {0, -1}, true); }, f32({2, 3, 4}));
  differentiable(ir, "sum_long", [](Tensor x) { return ops::sum(x, 1); }, f32({3, 130}));
  differentiable(ir, "sum_tall", [](Tensor x) { return ops::sum(x, 0); }, f32({130, 3}));
  differentiable(ir, "mean", [](Tensor x) { return ops::mean(x, {}, true); }, f32({2, 3, 4}));
  differentiable(ir, "mean_axis", [](Tensor x) { return ops::mean(x, 0); }, f32({2, 3, 4}));
  differentiable(ir, "mean_axes", [](Tensor x) { return ops::mean(x, {0, 2}); }, f32({2, 3, 4}));
  differentiable(ir, "sum_transposed", [](Tensor x) { return ops::sum(x.transpose({2, 0, 1}), 1); }, f32({2, 3, 4}));
}

constexpr void softmax_and_losses(Ir& ir) {
  differentiable(ir, "softmax", [](Tensor x) { return ops::softmax(x); }, f32({4, 5}));
  differentiable(ir, "softmax_first", [](Tensor x) { return ops::softmax(x, 0); }, f32({4, 5}));
  differentiable(ir, "softmax_middle", [](Tensor x) { return ops::softmax(x, -2); }, f32({2, 3, 4}));

  const auto loss = [](const NllOptions& options) {
    return [options](Tensor p, Tensor labels) { return ops::nll_loss(p, labels, options); };
  };
  differentiable(ir, "nll_loss", loss({}), f32({4, 3}), i32({4}));
  differentiable(ir, "nll_loss_sum", loss({.reduction = Reduction::sum}), f32({4, 3}), i32({4}));
  differentiable(ir, "nll_loss_none", loss({.reduction = Reduction::none}), f32({2, 2, 3}), i32({2, 2}));
  differentiable(ir, "nll_loss_ignore", loss({.ignore_index = 2}), f32({4, 3}), i32({4}));
  differentiable(ir, "nll_loss_log_prob", loss({.log_prob = true}), f32({4, 3}), i32({4}));
  differentiable(
      ir, "cross_entropy", [](Tensor x, Tensor labels) { return ops::cross_entropy(x, labels, {.ignore_index = 0}); },
      f32({4, 3}), i32({4}));

  const auto loss_and_gradient = [](double scale, const NllOptions& options) {
    return [=](Tensor p, Tensor labels) { return both(ops::nll_loss_with_softmax_grad(p, labels, scale, options)); };
  };
  forward(ir, "loss_grad", loss_and_gradient(1, {}), f32({4, 3}), i32({4}));
  forward(ir, "loss_grad_scaled", loss_and_gradient(8, {.reduction = Reduction::sum}), f32({4, 3}), i32({4}));
  forward(ir, "loss_grad_none", loss_and_gradient(1, {.reduction = Reduction::none}), f32({4, 3}), i32({4}));
  forward(ir, "loss_grad_ignore", loss_and_gradient(1, {.ignore_index = 2}), f32({4, 3}), i32({4}));
  forward(
      ir, "loss_grad_tensor",
      [](Tensor p, Tensor labels, Tensor scale) { return both(ops::nll_loss_with_softmax_grad(p, labels, scale)); }, f32({4, 3}),
      i32({4}), f32({}));
  forward(
      ir, "cross_entropy_with_grad", [](Tensor x, Tensor labels) { return both(ops::cross_entropy_with_grad(x, labels, 4)); },
      f32({4, 3}), i32({4}));
}

constexpr void half_precision(Ir& ir) {
  differentiable(ir, "half_add", add, f16({2, 3}), f16({3}));
  differentiable(ir, "half_gelu", ops::gelu, f16({3, 19}));
  differentiable(ir, "half_matmul", matmul, f16({4, 70}), f16({70, 3}));
  differentiable(ir, "half_sum", [](Tensor x) { return ops::sum(x, 1); }, f16({3, 130}));
  differentiable(ir, "half_mean", [](Tensor x) { return ops::mean(x, 0); }, f16({5, 3}));
  differentiable(ir, "half_softmax", [](Tensor x) { return ops::softmax(x); }, f16({4, 5}));
  differentiable(ir, "half_nll_loss", nll_loss, f16({4, 3}), i32({4}));
  differentiable(ir, "half_nll_loss_small", nll_loss, f16({4, 3}), i32({4}));
  forward(
      ir, "half_loss_grad", [](Tensor p, Tensor labels) { return both(ops::nll_loss_with_softmax_grad(p, labels, 16)); },
      f16({4, 3}), i32({4}));
  differentiable(
      ir, "half_scaled_add", [](Tensor x, Tensor y) { return ops::scaled_add(x, y, {.b = 0.5}); }, f16({2, 3}), f32({2, 3}));
}

/// What has no rounding.
constexpr void integers_and_casts(Ir& ir) {
  differentiable(ir, "cast_to_half", [](Tensor x) { return x.cast(tw::float16); }, f32({2, 3}));
  differentiable(ir, "cast_from_half", [](Tensor x) { return x.cast(tw::float32); }, f16({2, 3}));
  forward(ir, "int_add", add, i32({2, 3}), i32({3}));
  forward(ir, "int_mul", mul, i32({2, 3}), i32({2, 1}));
  forward(ir, "int_div", div, i32({4, 5}), i32({4, 5}));
  forward(ir, "int_negate", ops::negate, i32({2, 3}));
  forward(ir, "int_sum", [](Tensor x) { return ops::sum(x); }, i32({3, 130}));
  forward(ir, "int_matmul", matmul, i32({2, 70}), i32({70, 3}));
  forward(ir, "cast_to_int", [](Tensor x) { return x.cast(tw::int32); }, f32({3, 19}));
  forward(ir, "cast_from_int", [](Tensor x) { return x.cast(tw::float32); }, i32({2, 3}));
  forward(ir, "cast_to_bool", [](Tensor x) { return x.cast(tw::boolean); }, f32({4}));
}

/// What finite differences can check.
constexpr void float32_ops(Ir& ir) {
  matrices_and_arithmetic(ir);
  functions_and_reductions(ir);
  softmax_and_losses(ir);
}
/// Float32 ops with gradients that, by definition, are not derivatives.
constexpr void other_gradients(Ir& ir) {
  differentiable(ir, "detach", [](Tensor x) { return x * x.detach(); }, f32({2, 3}));
  differentiable(ir, "nll_loss_small", nll_loss, f32({4, 3}), i32({4}));
}

}  // namespace op_cases
