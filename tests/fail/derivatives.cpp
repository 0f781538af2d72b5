// labels: none
// Derivatives by name: wrong arguments, and ops without a derivative.
#include "tilewright/derivatives.hpp"

#include "traced.hpp"

constexpr Tensor product(Tensor x, Tensor w) { return x * w; }
constexpr Tensor total(Tensor x) { return ops::sum(x); }
/// A program with a function of (2, 4) float32 and of integers.
template <auto function>
constexpr void derive(Ir& ir) {
  function(ir.variable(tw::ones(), {2, 4}, tw::float32, "x"), ir.variable(tw::ones(), {2}, tw::int32, "i"));
}
template <auto function>
using Case = Traced<derive<function>>;

// CASE more_elements
// expect: grad of graph_subgraph(0): a result (2, 4) float32: one result of one element, of floating point, expected; vjp or
// expect: derive
Case<[](Tensor x, Tensor) { return tw::grad(product)(x, x); }> more_elements;

// CASE no_such_argument
// expect: grad of graph_subgraph(0): argument 1 of 1: a number of at least 0 and below 1 expected
Case<[](Tensor x, Tensor) { return tw::grad(total, 1)(x); }> no_such_argument;

// CASE integers
// expect: grad of graph_subgraph(0): argument 1, (2,) int32: a dtype of floating point expected
Case<[](Tensor x, Tensor i) { return tw::grad([](Tensor y, Tensor) { return total(y); }, 1)(x, i); }> integers;

// CASE shape_of_a_tangent
// expect: jvp of graph_subgraph(0): tangent (2,) int32 for argument 0, (2, 4) float32: the argument
Case<[](Tensor x, Tensor i) { return tw::jvp(total, x, i); }> shape_of_a_tangent;

// CASE shape_of_a_gradient
// expect: call of graph_subgraph(0)_bwd: (2,) int32 for input 0
Case<[](Tensor x, Tensor i) { return tw::vjp(product, x, x).second(i); }> shape_of_a_gradient;

// CASE arguments_of_a_graph
// expect: grad of graph_subgraph(0): 1 arguments for 2 inputs: one for each expected
Case<[](Tensor x, Tensor) { return tw::grad(x.ir().create_graph(product, x, x))(x); }> arguments_of_a_graph;

// CASE captured_tensor
// expect: Mul: input 1, Tensor[x float32 (2, 4)], of the main graph: a tensor of graph
Case<[](Tensor x, Tensor) { return tw::grad([x](Tensor y) { return total(y * x); })(x); }> captured_tensor;

struct Affine : tw::Module<Affine> {
  constexpr Tensor build(Tensor x) { return ops::sum(x * add_variable_input("weight", tw::ones(), {4})); }
};
// CASE module_with_variables
// expect: grad of Affine_subgraph(0), which has variables: grad of its graph, with bind(variables), expected
Case<[](Tensor x, Tensor) { return tw::grad(Affine{})(x); }> module_with_variables;

// CASE no_such_result
// expect: Results: result 1 of 1: an index below 1 expected
Case<[](Tensor x, Tensor) { return tw::vjp(product, x, x).first[1]; }> no_such_result;

// CASE argument_of_a_jacobian
// expect: jacobian of graph_subgraph(0): argument -1 of 1: a number of at least 0 and below 1 expected
Case<[](Tensor x, Tensor) { return tw::jacobian(total, {.argnum = -1})(x); }> argument_of_a_jacobian;

// CASE axes_of_a_jacobian
// expect: jacobian: (2, 2, 2, 1, 1) by (2, 4): at most 6 axes expected
Case<[](Tensor x, Tensor) { return tw::jacobian([](Tensor y) { return (y * y).reshape({2, 2, 2, 1, 1}); })(x); }>
    axes_of_a_jacobian;

// CASE gradients_of_a_rule
// expect: derivative by hand of graph_subgraph(1): 1 gradients for 2 arguments: one for each expected
Case<[](Tensor x, Tensor) {
  const auto f = tw::custom_vjp(product, [](Tensor dy, Tensor, Tensor w) { return dy * w; });
  return tw::grad([f](Tensor y) { return total(f(y, y)); })(x);
}>
    gradients_of_a_rule;

// CASE shape_of_a_rule
// expect: derivative by hand of graph_subgraph(1): () float32 for argument 0, (2, 4) float32: the argument
Case<[](Tensor x, Tensor) {
  const auto f = tw::custom_vjp(total, [](Tensor dy, Tensor) { return dy; });
  return tw::grad([f](Tensor y) { return total(f(y)); })(x);
}>
    shape_of_a_rule;

// CASE op_without_tangent
// expect: jvp of graph_subgraph(0): NlllWithSoftmaxGradDirect.100 on (2, 4) float32 has no derivative: a differentiable op, or
Case<[](Tensor x, Tensor i) {
  return tw::jvp([](Tensor y, Tensor label) { return ops::nll_loss_with_softmax_grad(y, label).loss; }, {x, i}, {x, i});
}>
    op_without_tangent;

// CASE op_without_gradient
// expect: autodiff of graph_subgraph(1): NlllWithSoftmaxGradDirect.101 on (2, 4) float32 has no gradient: a differentiable op, or
// expect: detach before it, expected, in Net/layer
InNet<{2, 4},
      [](Tensor x) {
        return tw::grad([](Tensor y) { return ops::nll_loss_with_softmax_grad(y, y.ir().constant({1}, {2}, tw::int32)).loss; })(
            x);
      }>
    op_without_gradient;

// CASE op_of_a_batch
// expect: vmap of graph_subgraph(0): CumSum.101 has no form for a batch: another op, or a loop over the rows, expected
Case<[](Tensor x, Tensor) { return tw::vmap([](Tensor y) { return ops::cumsum(y); })(x); }> op_of_a_batch;

// CASE rule_of_a_batch
// expect: vmap of custom_derivative_subgraph(0): Call.102 has no form for a batch: another op, or a loop over the rows, expected
Case<[](Tensor x, Tensor) { return tw::vmap(tw::custom_vjp(total, [](Tensor dy, Tensor y) { return y * dy; }))(x); }>
    rule_of_a_batch;

// CASE rows_of_a_batch
// expect: vmap: argument 1, (4, 2) float32: a leading axis of 2 rows expected
Case<[](Tensor x, Tensor) { return tw::vmap(product)(x, x.T()); }> rows_of_a_batch;

// CASE axis_of_a_batch
// expect: vmap: argument 1, (2,) int32: axis 1 of 2 rows expected
Case<[](Tensor x, Tensor i) { return tw::vmap(product, {0, 1})(x, i); }> axis_of_a_batch;

// CASE no_axis_of_a_batch
// expect: vmap: no argument has an axis of rows: one expected
Case<[](Tensor x, Tensor) { return tw::vmap(product, {std::nullopt, std::nullopt})(x, x); }> no_axis_of_a_batch;

constexpr Tensor sampled(Tensor x) {
  const Tensor image = x.reshape({1, 1, 2, 4});
  return total(ops::grid_sample(image, image.reshape({1, 2, 2, 2})));
}
// CASE op_without_second_derivative
// expect: on (1, 1, 2, 4) float32 has no gradient, so no second derivative: a differentiable op, or
Case<[](Tensor x, Tensor) { return tw::grad([](Tensor y) { return total(tw::grad(sampled)(y)); })(x); }>
    op_without_second_derivative;
