// Calls of graphs, names in trees and gradients, all of one layer.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using tw::CreatedGraph, tw::Tensor;

/// What the program does with the layer without a case; a case's function of a CreatedGraph is preferred.
constexpr void use(const auto& layer, Tensor x) { layer.graph.bind(layer.factories.init()).call(x); }

// CASE unbound_variable
// expect: call of Linear_subgraph(0): input 1, Tensor[weight float32 (4, 4)], is missing: all 2 inputs must be given or
// expect: use(
#ifdef CASE_unbound_variable
constexpr void use(const CreatedGraph& layer, Tensor x) { layer.graph.call(x); }
#endif

// CASE missing_input
// expect: call of Linear_subgraph(0): input 0, Tensor[float32 (2, 4)], is missing: all 2 inputs must be given or bound
// expect: use(
#ifdef CASE_missing_input
constexpr void use(const CreatedGraph& layer, Tensor) { layer.graph.bind(layer.factories.init()).call(); }
#endif

// CASE extra_input_of_a_bound_graph
// expect: call of Linear_subgraph(0): 2 tensors for 1 unbound inputs: one for each expected
// expect: use(
#ifdef CASE_extra_input_of_a_bound_graph
constexpr void use(const CreatedGraph& layer, Tensor x) { layer.graph.bind(layer.factories.init()).call(x, x); }
#endif

// CASE extra_input
// expect: call of Linear_subgraph(0): 3 positional inputs: at most 2 expected
// expect: use(
#ifdef CASE_extra_input
constexpr void use(const CreatedGraph& layer, Tensor x) { layer.graph.call(x, layer.factories.init()["weight"], x); }
#endif

// CASE shape_of_an_input
// expect: call of Linear_subgraph(0): (4, 2) float32 for input 0, Tensor[float32 (2, 4)]: (2, 4) float32 expected
// expect: use(
#ifdef CASE_shape_of_an_input
constexpr void use(const CreatedGraph& layer, Tensor x) { layer.graph.bind(layer.factories.init()).call(x.T()); }
#endif

// CASE recursion
// expect: call of Linear_subgraph(0): from graph_subgraph(1), which it leads to: a caller that it does not depend on expected
// expect: use(
#ifdef CASE_recursion
constexpr void use(const CreatedGraph& layer, Tensor x) {
  const tw::Graph outer = layer.graph.graph();
  const tw::Graph inner = x.ir().create_graph([](Tensor y) { return y; }, x);
  {
    const tw::GraphScope scope(outer);
    tw::call(inner, outer.input(0));
  }
  const tw::GraphScope scope(inner);
  tw::call(outer, {inner.input(0), inner.input(0)});
}
#endif

// CASE no_such_graph_output
// expect: output: index 1 of Linear_subgraph(0) with 1 of them: an index below that expected
// expect: use(
#ifdef CASE_no_such_graph_output
constexpr void use(const CreatedGraph& layer, Tensor) { layer.graph.graph().output(1); }
#endif

// CASE no_such_output
// expect: call: output 1 of 1: an index below that expected
// expect: use(
#ifdef CASE_no_such_output
constexpr void use(const CreatedGraph& layer, Tensor x) { layer.graph.bind(layer.factories.init()).call(x)[1]; }
#endif

// CASE no_such_variable
// expect: DotTree: no leaf `wait`: one of weight expected
// expect: use(
#ifdef CASE_no_such_variable
constexpr void use(const CreatedGraph& layer, Tensor) { layer.factories.init()["wait"]; }
#endif

// CASE no_such_subtree
// expect: DotTree: no subtree `fc2`: one of the tree of weight expected
// expect: use(
#ifdef CASE_no_such_subtree
constexpr void use(const CreatedGraph& layer, Tensor) { layer.factories.init().subtree("fc2"); }
#endif

// CASE doubled_variable
// expect: DotTree: `weight` exists already: a new name, or overwrite, expected
// expect: use(
#ifdef CASE_doubled_variable
constexpr void use(const CreatedGraph& layer, Tensor x) { layer.factories.init().insert("weight", x); }
#endif

// CASE no_gradient_graph
// expect: grad_graph_info of Linear_subgraph(0): a graph made by autodiff expected
// expect: use(
#ifdef CASE_no_gradient_graph
constexpr void use(const CreatedGraph& layer, Tensor) { layer.graph.grad_graph_info(); }
#endif

// CASE no_gradient
// expect: autodiff of graph_subgraph(1): SoftmaxGrad.101 on (2, 4) float32 has no gradient: a differentiable op, or detach
// expect: use(
#ifdef CASE_no_gradient
constexpr void use(const CreatedGraph&, Tensor x) {
  tw::autodiff(x.ir().create_graph([](Tensor y) { return tw::apply<tw::SoftmaxGrad>({y, y}, {1}); }, x));
}
#endif

// CASE in_place
// expect: autodiff of graph_subgraph(1): ScaledAddLhsInplace.101 changes its input in place: ops that do not expected
// expect: use(
#ifdef CASE_in_place
constexpr void use(const CreatedGraph&, Tensor x) {
  tw::autodiff(x.ir().create_graph([](Tensor y) { return tw::ops::scaled_add_(y, y); }, x));
}
#endif

// CASE gradient_that_reaches_nothing
// expect: autodiff of graph_subgraph(1): no gradient reaches Tensor[float32 (2, 4)]: tensors that the provided outputs
// expect: use(
#ifdef CASE_gradient_that_reaches_nothing
constexpr void use(const CreatedGraph&, Tensor x) {
  const auto graph = x.ir().create_graph([](Tensor y) { return y.detach(); }, x);
  tw::autodiff(graph, {.grads_required = graph.inputs()});
}
#endif

// CASE gradients_of_another_graph
// expect: autodiff of Linear_subgraph(0): Tensor[x float32 (2, 4)] in grads_required: tensors of that graph expected
// expect: use(
#ifdef CASE_gradients_of_another_graph
constexpr void use(const CreatedGraph& layer, Tensor x) { tw::autodiff(layer.graph, {.grads_required = std::vector{x}}); }
#endif

// CASE call_of_another_graph
// expect: inputs_dict: a call of Linear_subgraph(0)_bwd: a call of Linear_subgraph(0) expected
// expect: use(
#ifdef CASE_call_of_another_graph
constexpr void use(const CreatedGraph& layer, Tensor x) {
  const auto backward = tw::autodiff(layer.graph);
  const auto weight = layer.factories.init()["weight"];
  backward.grad_graph_info().inputs_dict(backward.call_with_info(x, weight, x));
}
#endif

// CASE no_gradient_of_a_tensor
// expect: TensorMap: Tensor[x float32 (2, 4)]: a tensor with an entry in the map expected
// expect: use(
#ifdef CASE_no_gradient_of_a_tensor
constexpr void use(const CreatedGraph&, Tensor x) { tw::TensorMap()[x]; }
#endif

struct Linear : tw::Module<Linear> {
  constexpr Tensor build(Tensor x) { return x.matmul(add_variable_input("weight", tw::normal(0, 0.02), {4, 4})); }
};
constexpr void train_step(tw::Ir& ir) {
  const auto x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
  use(tw::create_graph(Linear{}, x), x);
}
tw::Session<train_step> session;
