// Handles that are asked for what is not there.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

/// What a program asks without a case; a case's function of an Ir is preferred.
constexpr void ask(auto&) {}

// CASE get_tensor
// expect: get_tensor: `weigth` in the main graph: the id or name of a tensor of this graph expected
#ifdef CASE_get_tensor
constexpr void ask(Ir& ir) {
  ir.variable(tw::ones(), {2}, tw::float32, "weight");
  ir.main_graph().get_tensor("weigth");
}
#endif

// CASE inputs_by_name
// expect: inputs_by_name: `w`: one of `weight` expected
#ifdef CASE_inputs_by_name
constexpr void ask(Ir& ir) {
  const auto graph = ir.create_graph([](Tensor x) { return x + tw::graph_input(x.ir(), {2}, tw::float32, "weight"); },
                                     tw::TensorSpec{{2}, tw::float32});
  graph.inputs_by_name()["w"];
}
#endif

// CASE variable_facts
// expect: retrieval_mode: Tensor[float32 (2,)]: a variable expected
#ifdef CASE_variable_facts
constexpr void ask(Ir& ir) { (ir.variable(tw::ones(), {2}, tw::float32, "x") * 2).retrieval_mode(); }
#endif

// CASE meta_shape
// expect: graph_input: (7,) as one of 2 shards of (3, 5): shape (8,) expected
#ifdef CASE_meta_shape
constexpr void ask(Ir& ir) { tw::graph_input(ir, {7}, tw::float32, "shard", false, {{{3, 5}, 2}}); }
#endif

// CASE hook
// expect: remove_op_created_hook: 3: a handle that register_op_created_hook of this graph gave expected
#ifdef CASE_hook
constexpr void ask(Ir& ir) { ir.main_graph().remove_op_created_hook(3); }
#endif

// CASE hook_that_appends
// expect: register_op_created_hook: Neg by a hook: a hook that appends no ops expected
#ifdef CASE_hook_that_appends
constexpr void ask(Ir& ir) {
  ir.main_graph().register_op_created_hook([](const tw::CreatedOp& op) { -op.outputs()[0]; });
  ops::exp(ir.variable(tw::ones(), {2}, tw::float32, "x"));
}
#endif

// CASE number_as_input
// expect: call of graph_subgraph(0): 0.5 as int32: a whole number from -2147483648 to 2147483647 expected
#ifdef CASE_number_as_input
constexpr void ask(Ir& ir) {
  tw::call(ir.create_graph([](Tensor n) { return n + 1; }, tw::TensorSpec{{}, tw::int32}), {0.5});
}
#endif

// CASE gradient_by_hand
// expect: GradGraphInfo of graph_subgraph(1): 0 tensors for its 1 inputs: one for each expected
#ifdef CASE_gradient_by_hand
constexpr void ask(Ir& ir) {
  const tw::TensorSpec spec{{2}, tw::float32};
  const auto forward = ir.create_graph([](Tensor x) { return x + 1; }, spec);
  tw::GradGraphInfo(ir.create_graph([](Tensor dy) { return dy; }, spec), forward, {}, {forward.input(0)});
}
#endif

constexpr void program(Ir& ir) { ask(ir); }
tw::Session<program> session;
