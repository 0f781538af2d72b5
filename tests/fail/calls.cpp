// labels: clang
// Calls of graphs, names in trees and gradients, all of one layer.
#include "traced.hpp"

using tw::CreatedGraph;

struct Linear : tw::Module<Linear> {
  constexpr Tensor build(Tensor x) { return x.matmul(add_variable_input("weight", tw::normal(0, 0.02), {4, 4})); }
};
template <auto function>
constexpr void train_step(Ir& ir) {
  const auto x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
  function(tw::create_graph(Linear{}, x), x);
}
constexpr Tensor same(Tensor x) { return x; }
constexpr Tensor turned(Tensor x) { return x.T(); }
constexpr void nothing(Tensor) {}
constexpr Tensor is_true(Ir& ir) { return ir.constant(1, tw::boolean); }

/// A program with a function of the layer and its input.
template <auto function>
using Case = Traced<train_step<function>>;

// CASE unbound_variable
// expect: call of Linear_subgraph(0): input 1, Tensor[weight float32 (4, 4)], is missing: all 2 inputs must be given or
// expect: train_step
Case<[](CreatedGraph layer, Tensor x) { layer.graph.call(x); }> unbound_variable;

// CASE missing_input
// expect: call of Linear_subgraph(0): input 0, Tensor[float32 (2, 4)], is missing: all 2 inputs must be given or bound
Case<[](CreatedGraph layer, Tensor) { layer.graph.bind(layer.factories.init()).call(); }> missing_input;

// CASE extra_input_of_a_bound_graph
// expect: call of Linear_subgraph(0): 2 tensors for 1 unbound inputs: one for each expected
Case<[](CreatedGraph layer, Tensor x) { layer.graph.bind(layer.factories.init()).call(x, x); }> extra_input_of_a_bound_graph;

// CASE extra_input
// expect: call of Linear_subgraph(0): 3 positional inputs: at most 2 expected
Case<[](CreatedGraph layer, Tensor x) { layer.graph.call(x, layer.factories.init()["weight"], x); }> extra_input;

// CASE long_list
// expect: call of Linear_subgraph(0): 4 positional inputs: at most 2 expected
Case<[](CreatedGraph layer, Tensor x) { tw::call(layer.graph, {x, tw::List<Tensor>{x, x, x}}); }> long_list;

// CASE short_list
// expect: call of Linear_subgraph(0): input 1, Tensor[weight float32 (4, 4)], is missing: all 2 inputs must be given or
Case<[](CreatedGraph layer, Tensor x) { tw::repeat(layer.graph, 2, std::array{x}); }> short_list;

// CASE list_and_number
// expect: call of Linear_subgraph(0): () float32 for input 1, Tensor[weight float32 (4, 4)]: (4, 4) float32 expected
Case<[](CreatedGraph layer, Tensor x) { tw::call(layer.graph, {std::array{x}, 2}); }> list_and_number;

// CASE shape_of_an_input
// expect: call of Linear_subgraph(0): (4, 2) float32 for input 0, Tensor[float32 (2, 4)]: (2, 4) float32 expected
Case<[](CreatedGraph layer, Tensor x) { layer.graph.bind(layer.factories.init()).call(x.T()); }> shape_of_an_input;

// CASE recursion
// expect: call of Linear_subgraph(0): from graph_subgraph(1), which Linear_subgraph(0) calls: a call without recursion expected
Case<[](CreatedGraph layer, Tensor x) {
  const tw::Graph outer = layer.graph.graph();
  const tw::Graph inner = x.ir().create_graph([](Tensor y) { return y; }, x);
  {
    const tw::GraphScope scope(outer);
    tw::call(inner, outer.input(0));
  }
  const tw::GraphScope scope(inner);
  tw::call(outer, {inner.input(0), inner.input(0)});
}>
    recursion;

// CASE no_such_graph_output
// expect: output: index 1 of Linear_subgraph(0), which has 1 outputs: an index of at least 0 and below 1 expected
Case<[](CreatedGraph layer, Tensor) { layer.graph.graph().output(1); }> no_such_graph_output;

// CASE no_such_output
// expect: call: output 1 of 1: an index below 1 expected
Case<[](CreatedGraph layer, Tensor x) { layer.graph.bind(layer.factories.init()).call(x)[1]; }> no_such_output;

// CASE no_such_variable
// expect: DotTree: no leaf `wait`: one of weight expected
Case<[](CreatedGraph layer, Tensor) { layer.factories.init()["wait"]; }> no_such_variable;

// CASE no_such_subtree
// expect: DotTree: no subtree `fc2` in the tree of weight: the part before a dot in one of its names expected
Case<[](CreatedGraph layer, Tensor) { layer.factories.init().subtree("fc2"); }> no_such_subtree;

// CASE no_such_number
// expect: DotTree: no leaf -2: one of weight, 0 expected
Case<[](CreatedGraph layer, Tensor x) {
  auto tree = layer.factories.init();
  tree.insert(0, x);
  tree[-2];
}>
    no_such_number;

// CASE no_such_numbered_subtree
// expect: DotTree: no subtree 0: the part before a dot in one of weight expected
Case<[](CreatedGraph layer, Tensor) { layer.factories.init().subtree(0); }> no_such_numbered_subtree;

// CASE insert_at_a_negative_number
// expect: DotTree: `-1`: identifiers or numbers, joined by dots, expected
Case<[](CreatedGraph layer, Tensor x) { tw::NamedTensors(layer.factories.init()).insert(-1, x); }> insert_at_a_negative_number;

// CASE popped_twice
// expect: DotTree: no leaf `weight`: one of x expected
Case<[](CreatedGraph layer, Tensor x) {
  auto tree = layer.factories.init();
  tree.insert("x", x);
  tree.pop("weight");
  tree.pop("weight");
}>
    popped_twice;

// CASE filter_of_an_unknown_key
// expect: DotTree: filter_keys: no `wait`: one of weight, or a part before a dot, expected
Case<[](CreatedGraph layer, Tensor) { layer.factories.init().filter_keys({"wait"}); }> filter_of_an_unknown_key;

// CASE filter_of_a_key_twice
// expect: DotTree: filter_keys: `weight` twice: each name once expected
Case<[](CreatedGraph layer, Tensor) { layer.factories.init().filter_keys({"weight", "weight"}); }> filter_of_a_key_twice;

// CASE doubled_variable
// expect: DotTree: `weight` exists already: a new name, or overwrite, expected
Case<[](CreatedGraph layer, Tensor x) { tw::NamedTensors(layer.factories.init()).insert("weight", x); }> doubled_variable;

// CASE no_gradient_graph
// expect: grad_graph_info of Linear_subgraph(0): a graph made by autodiff expected
Case<[](CreatedGraph layer, Tensor) { layer.graph.grad_graph_info(); }> no_gradient_graph;

// CASE no_gradient
// expect: autodiff of graph_subgraph(1): ReplicatedAllReduce.101 on (2, 4) float32 has no gradient: a differentiable op, or
Case<[](CreatedGraph, Tensor x) {
  tw::autodiff(x.ir().create_graph([](Tensor y) { return ops::collectives::replicated_all_reduce(y); }, x));
}>
    no_gradient;

// CASE no_second_derivative
// expect: autodiff of Net_subgraph(1)_bwd/layer: CubeGrad.102 on (2, 4) float32 has no gradient, so no second derivative: a
struct Cube : tw::authoring::UnaryOp<Cube> {
  static constexpr std::string_view name = "Cube";
  template <class X>
  static X forward(X x) {
    return x * x * x;
  }
  template <class X>
  static X backward(X x, X dy) {
    return tw::authoring::math::number<X>(3) * dy * x * x;
  }
};
Case<[](CreatedGraph, Tensor x) {
  const tw::Graph cubes = tw::create_graph(Net<[](Tensor y) { return tw::authoring::apply<Cube>({y}); }>{}, x).graph.graph();
  const auto gradient = tw::autodiff(cubes);
  tw::autodiff(x.ir().create_graph(
      [&](Tensor y) { return tw::call(gradient.graph(), {y}, gradient.inputs_dict(tw::call_with_info(cubes, y)))[0]; }, x));
}>
    no_second_derivative;

// CASE no_second_derivative_of_dropout
// expect: ScaledDotProductAttentionGrad: dropout_p 0.5: no second derivative with dropout: 0 expected
Case<[](CreatedGraph, Tensor x) {
  const tw::TensorSpec heads{{1, 1, 2, 2}, tw::float32};
  const tw::Graph attention = x.ir().create_graph(
      [](Tensor q) {
        const Tensor seed = q.ir().constant({1, 2}, {2}, tw::uint32);
        return ops::scaled_dot_product_attention(q, q, q, {.dropout_p = 0.5, .seed = seed});
      },
      heads);
  const auto gradient = tw::autodiff(attention);
  tw::autodiff(x.ir().create_graph(
      [&](Tensor q) { return tw::call(gradient.graph(), {q}, gradient.inputs_dict(tw::call_with_info(attention, q)))[0]; },
      heads));
}>
    no_second_derivative_of_dropout;

// CASE in_place
// expect: autodiff of graph_subgraph(1): ScaledAddLhsInplace.101 changes its input in place: ops that do not expected
Case<[](CreatedGraph, Tensor x) { tw::autodiff(x.ir().create_graph([](Tensor y) { return ops::scaled_add_(y, y); }, x)); }>
    in_place;

// CASE gradient_that_reaches_nothing
// expect: autodiff of graph_subgraph(1): no gradient reaches Tensor[float32 (2, 4)]: tensors that the provided outputs
Case<[](CreatedGraph, Tensor x) {
  const auto graph = x.ir().create_graph([](Tensor y) { return y.detach(); }, x);
  tw::autodiff(graph, {.grads_required = graph.inputs()});
}>
    gradient_that_reaches_nothing;

// CASE gradient_of_integers
// expect: call of graph_subgraph(1)_bwd: 1 positional inputs: at most 0 expected
Case<[](CreatedGraph, Tensor x) {
  const Tensor integers = x.cast(tw::int32);
  const auto graph = x.ir().create_graph([](Tensor y) { return y * y; }, integers);
  const auto call = tw::call_with_info(graph, integers);
  const auto gradient = tw::autodiff(graph);
  tw::call(gradient.graph(), call.output(0), gradient.inputs_dict(call));
}>
    gradient_of_integers;

// CASE gradients_of_another_graph
// expect: autodiff of Linear_subgraph(0): Tensor[x float32 (2, 4)] in grads_required: tensors of that graph expected
Case<[](CreatedGraph layer, Tensor x) { tw::autodiff(layer.graph, {.grads_required = std::vector{x}}); }>
    gradients_of_another_graph;

// CASE call_of_another_graph
// expect: inputs_dict: a call of Linear_subgraph(0)_bwd: a call of Linear_subgraph(0) expected
Case<[](CreatedGraph layer, Tensor x) {
  const auto backward = tw::autodiff(layer.graph);
  const auto weight = layer.factories.init()["weight"];
  backward.grad_graph_info().inputs_dict(backward.call_with_info(x, weight, x));
}>
    call_of_another_graph;

// CASE no_gradient_of_a_tensor
// expect: TensorMap: Tensor[x float32 (2, 4)]: a tensor with an entry in the map expected
Case<[](CreatedGraph, Tensor x) { tw::TensorMap()[x]; }> no_gradient_of_a_tensor;

// CASE input_of_no_graph
// expect: call of graph_subgraph(1): a Tensor() of no graph for input 0: a tensor expected
Case<[](CreatedGraph, Tensor x) { tw::call(x.ir().create_graph(same, x), Tensor()); }> input_of_no_graph;

// CASE negative_count
// expect: repeat of graph_subgraph(1): -1 times: a count from 0 to 2^48 expected
Case<[](CreatedGraph, Tensor x) { tw::repeat(x.ir().create_graph(same, x), -1, x); }> negative_count;

// CASE many_outputs
// expect: repeat of graph_subgraph(1): 2 outputs and 1 inputs: at least as many inputs as outputs, which are the first
// expect: inputs of the next iteration, expected
Case<[](CreatedGraph, Tensor x) { tw::repeat(x.ir().create_graph([](Tensor t) { return std::array{t, t}; }, x), 2, x); }>
    many_outputs;

// CASE shape_of_the_next_iteration
// expect: repeat of graph_subgraph(1): output 0 (4, 2) float32 for input 0 (2, 4) float32 of the next iteration: equal shapes
// expect: and dtypes expected
Case<[](CreatedGraph, Tensor x) { tw::repeat(x.ir().create_graph(turned, x), 2, x); }> shape_of_the_next_iteration;

// CASE reference_of_the_next_iteration
// expect: repeat of graph_subgraph(1): input 0, Tensor[float32 (2, 4)], is by reference and output 0 replaces it in the next
// expect: iteration: inputs by reference after those that outputs replace expected
Case<[](CreatedGraph, Tensor x) { tw::repeat(x.ir().create_graph([](tw::TensorByRef t) { return t * 1; }, x), 2, x); }>
    reference_of_the_next_iteration;

// CASE condition
// expect: conditional: Tensor[x float32 (2, 4)] as condition: bool of one element expected
Case<[](CreatedGraph, Tensor x) {
  const tw::Graph graph = x.ir().create_graph(same, x);
  tw::conditional(x, {graph, {x}}, {graph, {x}});
}>
    condition;

// CASE condition_of_no_graph
// expect: conditional: a Tensor() of no graph as condition: a tensor expected
Case<[](CreatedGraph, Tensor x) {
  const tw::Graph graph = x.ir().create_graph(same, x);
  tw::conditional(Tensor(), {graph, {x}}, {graph, {x}});
}>
    condition_of_no_graph;

// CASE result_of_an_ended_scope
// expect: Exp: Tensor[float32 (2, 4)] of a scope that has ended, of only_if or of a pipeline: a tensor that its ops change
// expect: in place, or a stream, expected
Case<[](CreatedGraph, Tensor x) {
  Tensor doubled;
  {
    const auto scope = tw::only_if(is_true(x.ir()));
    doubled = x * 2;
  }
  ops::exp(doubled);
}>
    result_of_an_ended_scope;

// CASE alias_in_a_scope
// expect: only_if: Tensor[x float32 (2, 4)], which changes, and Tensor[float32 (8,)], which shares its memory: one of
// expect: the two expected
Case<[](CreatedGraph, Tensor x) {
  const Tensor alias = ops::reshape_(x, {8});
  const auto scope = tw::only_if(is_true(x.ir()));
  ops::scaled_add_(x, alias.reshape({2, 4}));
}>
    alias_in_a_scope;

// CASE outputs_of_branches
// expect: conditional: graph_subgraph(1) has 1 outputs, graph_subgraph(2) has 0: the same number of outputs expected
Case<[](CreatedGraph, Tensor x) {
  tw::conditional(is_true(x.ir()), {x.ir().create_graph(same, x), {x}}, {x.ir().create_graph(nothing, x), {x}});
}>
    outputs_of_branches;

// CASE shapes_of_branches
// expect: conditional: output 0 is (2, 4) float32 of graph_subgraph(1), (4, 2) float32 of graph_subgraph(2): equal shapes and
// expect: dtypes expected
Case<[](CreatedGraph, Tensor x) {
  tw::conditional(is_true(x.ir()), {x.ir().create_graph(same, x), {x}}, {x.ir().create_graph(turned, x), {x}});
}>
    shapes_of_branches;

// CASE input_twice
// expect: call of Linear_subgraph(0): input Tensor[float32 (2, 4)] is given twice: once expected
Case<[](CreatedGraph layer, Tensor x) { layer.graph.call(x, tw::TensorMap{{layer.graph.graph().input(0), x}}); }> input_twice;

// CASE tensor_as_input
// expect: call of Linear_subgraph(0): Tensor[x float32 (2, 4)] is not one of its inputs: an input of Linear_subgraph(0) expected
Case<[](CreatedGraph layer, Tensor x) { layer.graph.call(x, tw::TensorMap{{x, x}}); }> tensor_as_input;

// CASE outlined_function_of_a_number
// expect: OutlinedFunction: an argument that is no tensor, or none at all: tensors, such as ir.constant(2), expected
constexpr Tensor product(Tensor x, Tensor y) { return x * y; }
Case<[](CreatedGraph, Tensor x) { tw::OutlinedFunction<product>()(x, 2.0); }> outlined_function_of_a_number;

// CASE outlined_function_of_one_tensor_too_few
// expect: create_graph: a function that does not take 1 arguments of these types: one with a parameter for each, whose body
Case<[](CreatedGraph, Tensor x) { tw::OutlinedFunction<product>()(x); }> outlined_function_of_one_tensor_too_few;
