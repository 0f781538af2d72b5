// Modules and their variables.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using tw::Tensor;

/// The module without a case; a case's function of a Bias is preferred.
constexpr Tensor build(auto& module, Tensor x) { return x + module.add_variable_input("bias", tw::zeros(), x.shape()); }
struct Bias : tw::Module<Bias> {
  constexpr auto build(Tensor x);
};

// CASE doubled_name
// expect: DotTree: `bias` exists already: a new name, or overwrite, expected, in Net/fc1
// expect: train_step(ir)
#ifdef CASE_doubled_name
constexpr Tensor build(Bias& module, Tensor x) {
  for (int i = 0; i < 2; ++i) x = x + module.add_variable_input("bias", tw::zeros(), {4});
  return x;
}
#endif

// CASE no_identifier
// expect: DotTree: `fc1.my bias`: identifiers or numbers, joined by dots, expected, in Net/fc1
// expect: train_step(ir)
#ifdef CASE_no_identifier
constexpr Tensor build(Bias& module, Tensor x) { return x + module.add_variable_input("my bias", tw::zeros(), {4}); }
#endif

// CASE variable_in_a_subgraph
// expect: variable: `bias` in graph Net_subgraph(0): variables live in the main graph only, in Net/fc1
// expect: train_step(ir)
#ifdef CASE_variable_in_a_subgraph
constexpr Tensor build(Bias&, Tensor x) { return x + x.ir().variable(tw::zeros(), {4}, tw::float32, "bias"); }
#endif

// CASE tensor_of_another_graph
// expect: Exp: Tensor[float32 (4,)] of graph `Net_subgraph(0)`: a tensor of graph `graph_subgraph(1)`, which is being
// expect: train_step(ir)
#ifdef CASE_tensor_of_another_graph
constexpr Tensor build(Bias&, Tensor x) {
  return x.ir().create_graph([&](Tensor y) { return tw::ops::exp(x) + y; }, x).output(0);
}
#endif

// CASE graph_without_an_ir
// expect: create_graph: no argument is a Tensor: create_graph(ir, module, ...) expected
#ifdef CASE_graph_without_an_ir
struct Scalar : tw::Module<Scalar> {
  constexpr Tensor build(Tensor x) { return x; }
};
constexpr Tensor build(Bias&, Tensor x) { return tw::create_graph(Scalar{}, x.spec()).graph.call(x)[0]; }
#endif

// CASE tensor_of_an_inner_graph
// expect: Exp: Tensor[float32 (4,)] of graph `graph_subgraph(1)`: a tensor of graph `Net_subgraph(0)`, which is being
// expect: train_step(ir)
#ifdef CASE_tensor_of_an_inner_graph
constexpr Tensor build(Bias&, Tensor x) {
  return tw::ops::exp(x.ir().create_graph([](Tensor y) { return y; }, x).output(0));
}
#endif

// CASE unnamed_member
// expect: Module: Scale used outside of create_graph: a member named by BOOST_HANA_DEFINE_STRUCT, or create_graph, expected, in
// Net/fc1 expect: train_step(ir)
#ifdef CASE_unnamed_member
constexpr Tensor build(Bias&, Tensor x) {
  struct Scale : tw::Module<Scale> {
    constexpr Tensor build(Tensor x) { return x * add_variable_input("scale", tw::ones(), {4}); }
  };
  return Scale{}(x);
}
#endif

// CASE no_tensor
// expect: build: void, a Tensor, or a tuple or range of Tensors expected as result
// expect: Net
#ifdef CASE_no_tensor
constexpr int build(Bias&, Tensor x) { return x.rank(); }
#endif

// CASE fraction_for_integers
// expect: Mul: 1.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/fc1
// expect: train_step(ir)
#ifdef CASE_fraction_for_integers
constexpr Tensor build(Bias&, Tensor x) { return x.cast(tw::int32) * 1.5; }
#endif

// CASE negative_extent
// expect: constant: shape (-3, 4): extents above 0 expected, in Net/fc1
// expect: train_step(ir)
#ifdef CASE_negative_extent
constexpr Tensor build(Bias&, Tensor x) { return x + x.ir().constant({1.0}, {-3, 4}); }
#endif

// CASE too_many_elements
// expect: graph input: `weight` of (4611686018427387904,) float32: a tensor of at most 2^47 bytes expected, in Net/fc1
// expect: train_step(ir)
#ifdef CASE_too_many_elements
constexpr Tensor build(Bias& module, Tensor x) {
  return x + module.add_variable_input("weight", tw::zeros(), {std::int64_t{1} << 62});
}
#endif

// CASE tensor_of_no_graph
// expect-in-source: a Tensor() of no graph: a tensor that an op, a stream or an input gave expected
// expect: train_step(ir)
#ifdef CASE_tensor_of_no_graph
constexpr Tensor build(Bias&, Tensor) { return Tensor() + Tensor(); }
#endif

// CASE second_operand_of_no_graph
// expect: Add: input 1 is a Tensor() of no graph: a tensor expected, in Net/fc1
// expect: train_step(ir)
#ifdef CASE_second_operand_of_no_graph
constexpr Tensor build(Bias&, Tensor x) { return x + Tensor(); }
#endif

// CASE module_of_another_type
// expect: Module: Shift derives from tw::Module<Scale>: tw::Module<Shift> expected
#ifdef CASE_module_of_another_type
struct Scale : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x * add_variable_input("scale", tw::ones(), {4}); }
};
struct Shift : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x + add_variable_input("shift", tw::ones(), {4}); }
};
constexpr Tensor build(Bias&, Tensor x) { return tw::create_graph(Shift{}, x).graph.graph().output(0); }
#endif

// CASE member_of_another_type
// expect: Module: Shift derives from tw::Module<Scale>: tw::Module<Shift> expected
#ifdef CASE_member_of_another_type
struct Scale : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x * add_variable_input("scale", tw::ones(), {4}); }
};
struct Shift : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x + add_variable_input("shift", tw::ones(), {4}); }
};
struct Shifts : tw::Module<Shifts> {
  BOOST_HANA_DEFINE_STRUCT(Shifts, (Shift, shift));
  constexpr Tensor build(Tensor x) { return shift(x); }
};
constexpr Tensor build(Bias&, Tensor x) { return x.ir().create_graph(Shifts{}, x).output(0); }
#endif

// CASE forward_for_build
// expect: Module: Scale has no build for 1 arguments of these types: a public constexpr member function build, not forward,
#ifdef CASE_forward_for_build
struct Scale : tw::Module<Scale> {
  constexpr Tensor forward(Tensor x) { return x * 2; }
};
constexpr Tensor build(Bias&, Tensor x) { return tw::create_graph(Scale{}, x).graph.graph().output(0); }
#endif

// CASE number_of_arguments
// expect: Module: Scale has no build for 2 arguments of these types: a public constexpr member function build expected
#ifdef CASE_number_of_arguments
struct Scale : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x * 2; }
};
struct Scales : tw::Module<Scales> {
  BOOST_HANA_DEFINE_STRUCT(Scales, (Scale, scale));
  constexpr Tensor build(Tensor x) { return scale(x, x); }
};
constexpr Tensor build(Bias&, Tensor x) { return tw::create_graph(Scales{}, x).graph.graph().output(0); }
#endif

// CASE build_at_run_time
// expect-in-source: build` must be constexpr
// expect: Scale
#ifdef CASE_build_at_run_time
struct Scale : tw::Module<Scale> {
  Tensor build(Tensor x) { return x * 2; }
};
constexpr Tensor build(Bias&, Tensor x) { return tw::create_graph(Scale{}, x).graph.graph().output(0); }
#endif

// CASE member_called_twice
// expect: Module: call 2 of `scale`, which has the variable `weight` already: one call of a member, or calls of a graph that
// expect: in Net/fc1/Twice/scale
#ifdef CASE_member_called_twice
struct Scale : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x * add_variable_input("weight", tw::ones(), {4}); }
};
struct Twice : tw::Module<Twice> {
  BOOST_HANA_DEFINE_STRUCT(Twice, (Scale, scale));
  constexpr Tensor build(Tensor x) { return scale(scale(x)); }
};
constexpr Tensor build(Bias&, Tensor x) { return tw::create_graph(Twice{}, x).graph.graph().output(0); }
#endif

constexpr auto Bias::build(Tensor x) { return ::build(*this, x); }
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Bias, fc1));
  constexpr auto build(Tensor x) { return fc1(x); }
};
constexpr void train_step(tw::Ir& ir) { tw::create_graph(ir, Net{}, tw::TensorSpec{{4}, tw::float32}); }
tw::Session<train_step> session;
