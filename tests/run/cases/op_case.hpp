#pragma once
// One op as a small program, for comparison with a file of tests/reference: inputs and gradients of results are variables,
// results and gradients of inputs are streams, all with the names that fixtures.py gives them.
#include <vector>

#include "tilewright/tilewright.hpp"

namespace op_cases {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Axes, tw::Ir, tw::NllOptions, tw::Reduction, tw::Shape, tw::Tensor, tw::TensorSpec;

constexpr TensorSpec f32(std::initializer_list<std::int64_t> shape) { return {shape, tw::float32}; }
constexpr TensorSpec f16(std::initializer_list<std::int64_t> shape) { return {shape, tw::float16}; }
constexpr TensorSpec f64(std::initializer_list<std::int64_t> shape) { return {shape, tw::float64}; }
constexpr TensorSpec i32(std::initializer_list<std::int64_t> shape) { return {shape, tw::int32}; }
constexpr TensorSpec bools(std::initializer_list<std::int64_t> shape) { return {shape, tw::boolean}; }

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

/// Which gradients of inputs are stored: those that autodiff gives, or zeros for the others, too.
enum class StoredGradients : std::uint8_t { of_autodiff, all };
constexpr tw::CallSiteInfo differentiable(Ir& ir, std::string_view name, tw::Graph graph, StoredGradients stored) {
  const Case test(ir, name);
  const auto call = test.run(graph);
  test.store("y", 0, call.output(0));
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const Tensor dy = test.variable("dy", 0, call.output(0).spec());
  const auto gradient_call = tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call));
  const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(gradient_call);
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    if (const Tensor* dx = gradients.find(graph.inputs()[i])) test.store("dx", i, *dx);
    else if (const TensorSpec x = graph.inputs()[i].spec(); stored == StoredGradients::all)
      test.store("dx", i, ir.constant(tw::List<double>{0}, x.shape, x.dtype));
  return call;
}
template <class Op, class... Specs>
constexpr void differentiable(Ir& ir, std::string_view name, Op op, const Specs&... inputs) {
  differentiable(ir, name, ir.create_graph(op, inputs...), StoredGradients::of_autodiff);
}

}  // namespace op_cases
