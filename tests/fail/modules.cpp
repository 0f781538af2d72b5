// labels: clang quick
// Modules and their variables.
#include "tilewright/module/members_of.hpp"
#include "traced.hpp"

template <auto function>
struct Bias : tw::Module<Bias<function>> {
  constexpr auto build(Tensor x) { return function(*this, x); }
};
template <auto function>
struct Outer : tw::Module<Outer<function>> {
  BOOST_HANA_DEFINE_STRUCT(Outer, (Bias<function>, fc1));
  constexpr auto build(Tensor x) { return fc1(x); }
};
template <auto function>
constexpr void train_step(Ir& ir) {
  tw::create_graph(ir, Outer<function>{}, tw::TensorSpec{{4}, tw::float32});
}
/// A program with a module Outer/fc1, whose build is a function of the module and a tensor.
template <auto function>
using Case = Traced<train_step<function>>;

/// A module with a variable.
struct Scale : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x * add_variable_input("weight", tw::ones(), {4}); }
};

// CASE doubled_name
// expect: DotTree: `bias` exists already: a new name, or overwrite, expected, in Outer/fc1
// expect: train_step
Case<[](auto& module, Tensor x) {
  for (int i = 0; i < 2; ++i) x = x + module.add_variable_input("bias", tw::zeros(), {4});
  return x;
}>
    doubled_name;

// CASE doubled_factory
// expect: DotTree: `bias` exists already: a new name, or overwrite, expected, in Outer/fc1
Case<[](auto& module, Tensor x) {
  const tw::VariableFactory factory(module.ir(), tw::zeros(), {{4}, tw::float32});
  return x + module.add_variable_factory("bias", factory) + module.add_variable_factory("bias", factory);
}>
    doubled_factory;

// CASE negative_number_of_inputs
// expect: add_variable_inputs: number -1: at least 0 expected, in Outer/fc1
Case<[](auto& module, Tensor x) {
  tw::NamedVariableFactories factories;
  factories.insert("bias", tw::VariableFactory(module.ir(), tw::zeros(), {{4}, tw::float32}));
  return x + module.add_variable_inputs(-1, factories)["bias"];
}>
    negative_number_of_inputs;

// CASE no_identifier
// expect: DotTree: `fc1.my bias`: identifiers or numbers, joined by dots, expected, in Outer/fc1
Case<[](auto& module, Tensor x) { return x + module.add_variable_input("my bias", tw::zeros(), {4}); }> no_identifier;

// CASE variable_in_a_subgraph
// expect: variable: `bias` in graph Outer_subgraph(0): variables live in the main graph only, in Outer/fc1
Case<[](auto&, Tensor x) { return x + x.ir().variable(tw::zeros(), {4}, tw::float32, "bias"); }> variable_in_a_subgraph;

// CASE graph_without_an_ir
// expect: create_graph: no argument is a Tensor: create_graph(ir, module, ...) expected
Case<[](auto&, Tensor x) { return tw::create_graph(Scale{}, x.spec()).graph.call(x)[0]; }> graph_without_an_ir;

// CASE unnamed_member
// expect: Module: Scale used outside of create_graph: a member named by BOOST_HANA_DEFINE_STRUCT, or create_graph, expected
// expect: in Outer/fc1
Case<[](auto&, Tensor x) { return Scale{}(x); }> unnamed_member;

// CASE no_tensor
// expect: build: void, a Tensor, or a tuple or range of Tensors expected as result
// expect: Outer
Case<[](auto&, Tensor x) { return x.rank(); }> no_tensor;

// CASE too_many_elements
// expect: graph input: `weight` of (4611686018427387904,) float32: a tensor of at most 2^47 bytes expected, in Outer/fc1
Case<[](auto& module, Tensor x) { return x + module.add_variable_input("weight", tw::zeros(), {std::int64_t{1} << 62}); }>
    too_many_elements;

// CASE module_of_another_type
// expect: Module: Shift derives from tw::Module<Scale>: tw::Module<Shift> expected
struct Shift : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x + add_variable_input("shift", tw::ones(), {4}); }
};
Case<[](auto&, Tensor x) { return tw::create_graph(Shift{}, x).graph.graph().output(0); }> module_of_another_type;

// CASE member_of_another_type
// expect: Module: Offset derives from tw::Module<Scale>: tw::Module<Offset> expected
struct Offset : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x + add_variable_input("offset", tw::ones(), {4}); }
};
struct Offsets : tw::Module<Offsets> {
  BOOST_HANA_DEFINE_STRUCT(Offsets, (Offset, offset));
  constexpr Tensor build(Tensor x) { return offset(x); }
};
Case<[](auto&, Tensor x) { return x.ir().create_graph(Offsets{}, x).output(0); }> member_of_another_type;

// CASE forward_for_build
// expect: Module: Forward has a function forward, but no build for 1 arguments of these types: a public constexpr member
// expect: function build expected
struct Forward : tw::Module<Forward> {
  constexpr Tensor forward(Tensor x) { return x * 2; }
};
Case<[](auto&, Tensor x) { return tw::create_graph(Forward{}, x).graph.graph().output(0); }> forward_for_build;

// CASE number_of_arguments
// expect: Module: Scale has no build for 2 arguments of these types: a public constexpr member function build expected
struct Scales : tw::Module<Scales> {
  BOOST_HANA_DEFINE_STRUCT(Scales, (Scale, scale));
  constexpr Tensor build(Tensor x) { return scale(x, x); }
};
Case<[](auto&, Tensor x) { return tw::create_graph(Scales{}, x).graph.graph().output(0); }> number_of_arguments;

// CASE build_at_run_time
// expect-in-source: build` must be constexpr
// expect: Late
struct Late : tw::Module<Late> {
  Tensor build(Tensor x) { return x * 2; }
};
Case<[](auto&, Tensor x) { return tw::create_graph(Late{}, x).graph.graph().output(0); }> build_at_run_time;

// CASE member_called_for_other_sizes
// expect: Module: call 2 of `wide`, whose variable `weight` is (4,) float32: what takes (2,) float32 must be another member
// expect: in Outer/fc1/Twice/wide
struct Wide : tw::Module<Wide> {
  constexpr Tensor build(Tensor x) { return x * add_variable_input("weight", tw::ones(), {x.shape(-1)}); }
};
struct Twice : tw::Module<Twice> {
  BOOST_HANA_DEFINE_STRUCT(Twice, (Wide, wide));
  constexpr Tensor build(Tensor x) { return wide(x.reshape({-1, 4})).reshape({-1}) + wide(x.reshape({-1, 2})).reshape({-1}); }
};
Case<[](auto&, Tensor x) { return tw::create_graph(Twice{}, x).graph.graph().output(0); }> member_called_for_other_sizes;

// CASE variable_twice_in_a_later_call
// expect: Module: `doubled` adds the variable `weight` twice: new names expected
struct Doubled : tw::Module<Doubled> {
  bool again = false;
  constexpr Tensor build(Tensor x) {
    x = x * add_variable_input("weight", tw::ones(), {});
    if (again) x = x * add_variable_input("weight", tw::ones(), {});
    again = true;
    return x;
  }
};
struct CallsDoubled : tw::Module<CallsDoubled> {
  BOOST_HANA_DEFINE_STRUCT(CallsDoubled, (Doubled, doubled));
  constexpr Tensor build(Tensor x) { return doubled(doubled(x)); }
};
Case<[](auto&, Tensor x) { return tw::create_graph(CallsDoubled{}, x).graph.graph().output(0); }> variable_twice_in_a_later_call;

// CASE members_of_a_struct_without_the_macro
// expect: MembersOf: structs expected whose members BOOST_HANA_DEFINE_STRUCT names, at most 39 in each
struct Plain {
  Scale scale;
};
tw::MembersOf<Plain> members_of_a_struct_without_the_macro;
