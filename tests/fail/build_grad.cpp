// labels: clang quick
// Gradients that modules write by hand.
#include "tilewright/module/graph_cache.hpp"
#include "traced.hpp"

#pragma GCC diagnostic error "-Wdeprecated-declarations"

/// x * weight, the gradient of which is a function of the module and of the result's gradient.
template <auto gradient>
struct Scale : tw::Module<Scale<gradient>> {
  constexpr Tensor build(Tensor x) {
    const Tensor weight = this->add_variable_input("weight", tw::ones(), {4});
    this->aux("x", x);
    return x * weight;
  }
  constexpr auto build_grad(Tensor dy) { return gradient(*this, dy); }
};
template <class M>
constexpr void differentiate(Ir& ir) {
  tw::autodiff(tw::create_graph(ir, M{}, tw::TensorSpec{{4}, tw::float32}).graph);
}
template <auto gradient>
using Case = Traced<differentiate<Scale<gradient>>>;

constexpr Tensor right(auto& module, Tensor dy) {
  module.var_grad("weight", dy * module.aux("x"));
  return dy;
}
using Right = Scale<[](auto& module, Tensor dy) { return right(module, dy); }>;

// CASE no_var_grad
// expect: build_grad of Scale: variable `weight` of (4,) float32 without a gradient: var_grad for each variable expected
Case<[](auto&, Tensor dy) { return dy; }> no_var_grad;

// CASE var_grad_of_no_variable
// expect: var_grad: `bias`: a variable, one of {weight}, expected, in Scale
Case<[](auto& module, Tensor dy) {
  module.var_grad("bias", dy);
  return right(module, dy);
}>
    var_grad_of_no_variable;

// CASE var_grad_of_another_shape
// expect: var_grad: () float32 for `weight`: (4,) float32, as the variable has it, expected, in Scale
Case<[](auto& module, Tensor dy) {
  module.var_grad("weight", ops::sum(dy));
  return dy;
}>
    var_grad_of_another_shape;

// CASE var_grad_of_a_whole_tensor
// expect: var_grad: (4,) for `weight`, a shard of (8,): a gradient of that expected, in Sharded
struct Sharded : tw::Module<Sharded> {
  constexpr Tensor build(Tensor x) {
    return x * add_replica_sharded_variable_input("weight", tw::ones(), {8}, tw::float32, {.shard_over = 2});
  }
  constexpr Tensor build_grad(Tensor dy) {
    var_grad("weight", tensor(dy, {4}));
    return dy;
  }
};
constexpr void differentiate_sharded(Ir& ir) {
  ir.set_replication_factor(2);
  differentiate<Sharded>(ir);
}
Traced<differentiate_sharded> var_grad_of_a_whole_tensor;

// CASE var_grad_in_build
// expect: var_grad: `weight` outside of build_grad: in build_grad expected, in Early
struct Early : tw::Module<Early> {
  constexpr Tensor build(Tensor x) {
    const Tensor weight = add_variable_input("weight", tw::ones(), {4});
    var_grad("weight", x);
    return x * weight;
  }
  constexpr Tensor build_grad(Tensor dy) { return dy; }
};
Traced<differentiate<Early>> var_grad_in_build;

// CASE too_many_results
// expect: build_grad of Scale: 2 results for 1 inputs of floating point that are no variables: one for each expected
Case<[](auto& module, Tensor dy) { return std::pair(right(module, dy), dy); }> too_many_results;

// CASE too_few_results
// expect: build_grad of Scale: 0 results for 1 inputs of floating point that are no variables: one for each expected
Case<[](auto& module, Tensor dy) { right(module, dy); }> too_few_results;

// CASE result_of_another_shape
// expect: build_grad of Scale: result 0, () float32, for Tensor[float32 (4,)]: (4,) float32 expected
Case<[](auto& module, Tensor dy) { return ops::sum(right(module, dy)); }> result_of_another_shape;

// CASE no_tensor_as_result
// expect: build_grad of Scale: void, a Tensor, or a tuple or range of Tensors expected as result
Case<[](auto& module, Tensor dy) { return right(module, dy).rank(); }> no_tensor_as_result;

// CASE aux_read_in_build
// expect: aux: `x` read outside of build_grad: aux(name) in build_grad expected, in Reads
struct Reads : tw::Module<Reads> {
  constexpr Tensor build(Tensor x) {
    aux("x", x);
    return x * aux("x");
  }
  constexpr Tensor build_grad(Tensor dy) { return dy; }
};
Traced<differentiate<Reads>> aux_read_in_build;

// CASE aux_that_was_not_saved
// expect: aux: `y`: a saved tensor, of {x}, or a variable, of {weight}, expected, in Scale
Case<[](auto& module, Tensor) { return module.aux("y"); }> aux_that_was_not_saved;

// CASE aux_saved_in_build_grad
// expect: aux: `dy` of Tensor[float32 (4,)] saved in build_grad: a tensor of the graph of build, saved in build, expected
Case<[](auto& module, Tensor dy) {
  module.aux("dy", dy);
  return right(module, dy);
}>
    aux_saved_in_build_grad;

// CASE variable_of_build_grad
// expect: Module: `bias` of (4,) float32 added in build_grad: a variable that build adds expected, in Scale
Case<[](auto& module, Tensor dy) { return dy + module.add_variable_input("bias", tw::ones(), {4}); }> variable_of_build_grad;

// CASE cached
// expect: GraphCache: Scale has a build_grad: create_graph, for a graph of its own, expected
constexpr void cached_graph(Ir& ir) { tw::Cached<Right>().create_graph(ir, tw::TensorSpec{{4}, tw::float32}); }
Traced<cached_graph> cached;

// CASE inlined
// expect: Module: Scale has a build_grad, which a call of scale, whose ops are inlined, does not use: call_module(scale, ...), or
// expect: in Outer/scale
template <class M>
struct Outer : tw::Module<Outer<M>> {
  BOOST_HANA_DEFINE_STRUCT(Outer, (M, scale));
  constexpr Tensor build(Tensor x) { return scale(x); }
};
Traced<differentiate<Outer<Right>>> inlined;

// CASE inlined_with_a_warning
// expect: has a build_grad, which this call, whose ops are inlined, does not use: call_module expected
struct Warns : tw::Module<Warns> {
  static constexpr auto grad_inlining_error = tw::GradInlining::warning;
  constexpr Tensor build(Tensor x) { return x; }
  constexpr Tensor build_grad(Tensor dy) { return dy; }
};
struct CallsWarns : tw::Module<CallsWarns> {
  BOOST_HANA_DEFINE_STRUCT(CallsWarns, (Warns, warns));
  constexpr Tensor build(Tensor x) { return warns(x); }
};

// CASE parameters
// expect: build_grad of TakesTwo: 2 parameters for 1 provided gradients of outputs: one for each expected, in TakesTwo
struct TakesTwo : tw::Module<TakesTwo> {
  constexpr Tensor build(Tensor x) { return x; }
  constexpr Tensor build_grad(Tensor dy, Tensor) { return dy; }
};
constexpr void differentiate_two(Ir& ir) {
  tw::autodiff(tw::create_graph(ir, TakesTwo{}, tw::TensorSpec{{4}, tw::float32}).graph);
}
Traced<differentiate_two> parameters;

// CASE parameters_that_vary
// expect: build_grad of Varies, a template, overloaded, or of other parameters: one constexpr function of Tensors expected
struct Varies : tw::Module<Varies> {
  constexpr Tensor build(Tensor x) { return x; }
  constexpr Tensor build_grad(const auto&... dy) { return (dy + ...); }
};
constexpr void create_varies(Ir& ir) { tw::create_graph(ir, Varies{}, tw::TensorSpec{{4}, tw::float32}); }
Traced<create_varies> parameters_that_vary;

// CASE build_grad_at_run_time
// expect-in-source: build_grad` must be constexpr
// expect: Late
struct Late : tw::Module<Late> {
  constexpr Tensor build(Tensor x) { return x; }
  Tensor build_grad(Tensor dy) { return dy; }
};
Traced<differentiate<Late>> build_grad_at_run_time;

// CASE no_build_grad
// expect: autodiff of Plain_subgraph(0): by build_grad: a graph of a module with a build_grad expected
struct Plain : tw::Module<Plain> {
  constexpr Tensor build(Tensor x) { return x * add_variable_input("weight", tw::ones(), {4}); }
};
constexpr void by_build_grad(Ir& ir) {
  const auto graph = tw::create_graph(ir, Plain{}, tw::TensorSpec{{4}, tw::float32}).graph;
  tw::autodiff(graph, {.method = tw::GradientMethod::build_grad});
}
Traced<by_build_grad> no_build_grad;

// CASE twice
// expect: autodiff of Scale_subgraph(0): build_grad has made Scale_subgraph(0)_bwd: that graph, or force, expected
constexpr void two_times(Ir& ir) {
  const auto graph = tw::create_graph(ir, Right{}, tw::TensorSpec{{4}, tw::float32}).graph;
  tw::autodiff(graph), tw::autodiff(graph);
}
Traced<two_times> twice;

/// A module that calls a member as the function says.
template <class M, auto call>
struct Calls : tw::Module<Calls<M, call>> {
  BOOST_HANA_DEFINE_STRUCT(Calls, (M, scale));
  constexpr Tensor build(Tensor x) { return call(*this, x); }
};

// CASE called_twice
// expect: call_module: `scale` has variables: another name, or several calls of one graph of create_graph, expected, in Calls
constexpr Tensor call_twice(auto& module, Tensor x) {
  return module.call_module(module.scale, module.call_module(module.scale, x));
}
Traced<differentiate<Calls<Plain, [](auto& module, Tensor x) { return call_twice(module, x); }>>> called_twice;

// CASE called_without_build_grad
// expect: call_module of Plain_subgraph(1): by build_grad: a module with a build_grad expected, in Calls
constexpr Tensor call_by_hand(auto& module, Tensor x) {
  return module.call_module(module.scale, {.method = tw::GradientMethod::build_grad}, x);
}
Traced<differentiate<Calls<Plain, [](auto& module, Tensor x) { return call_by_hand(module, x); }>>> called_without_build_grad;

// CASE called_for_an_unknown_gradient
// expect: call_module of Plain_subgraph(1): 1 tensors in grads_required, 0 of them known to callers: each once expected, in Calls
constexpr Tensor call_for_an_output(auto& module, Tensor x) {
  return module.call_module(
      module.scale,
      {.grads_required = [](const tw::GraphWithNamedArgs& graph) { return tw::List<Tensor>{graph.graph().output(0)}; }}, x);
}
Traced<differentiate<Calls<Plain, [](auto& module, Tensor x) { return call_for_an_output(module, x); }>>>
    called_for_an_unknown_gradient;
