// labels: none
// Handles that are asked for what is not there.
#include "traced.hpp"

// CASE get_tensor
// expect: get_tensor: `weigth` in the main graph: the id or name of a tensor of this graph expected
Traced<[](Ir& ir) {
  ir.variable(tw::ones(), {2}, tw::float32, "weight");
  ir.main_graph().get_tensor("weigth");
}>
    get_tensor;

// CASE inputs_by_name
// expect: inputs_by_name: `w`: one of `weight` expected
Traced<[](Ir& ir) {
  const auto graph = ir.create_graph([](Tensor x) { return x + tw::graph_input(x.ir(), {2}, tw::float32, "weight"); },
                                     tw::TensorSpec{{2}, tw::float32});
  graph.inputs_by_name()["w"];
}>
    inputs_by_name;

// CASE variable_facts
// expect: retrieval_mode: Tensor[float32 (2,)]: a variable expected
Traced<[](Ir& ir) { (ir.variable(tw::ones(), {2}, tw::float32, "x") * 2).retrieval_mode(); }> variable_facts;

// CASE meta_shape
// expect: graph_input: (7,) as one of 2 shards of (3, 5): shape (8,) expected
Traced<[](Ir& ir) { tw::graph_input(ir, {7}, tw::float32, "shard", false, {{{3, 5}, 2}}); }> meta_shape;

// CASE hook
// expect: remove_op_created_hook: 3: a handle that register_op_created_hook of this graph gave expected
Traced<[](Ir& ir) { ir.main_graph().remove_op_created_hook(3); }> hook;

// CASE hook_that_appends
// expect: register_op_created_hook: Neg by a hook: a hook that appends no ops expected
Traced<[](Ir& ir) {
  ir.main_graph().register_op_created_hook([](const tw::CreatedOp& op) { -op.outputs()[0]; });
  ops::exp(ir.variable(tw::ones(), {2}, tw::float32, "x"));
}>
    hook_that_appends;

// CASE number_as_input
// expect: call of graph_subgraph(0): 0.5 as int32: a whole number from -2147483648 to 2147483647 expected
Traced<[](Ir& ir) { tw::call(ir.create_graph([](Tensor n) { return n + 1; }, tw::TensorSpec{{}, tw::int32}), {0.5}); }>
    number_as_input;

// CASE gradient_by_hand
// expect: GradGraphInfo of graph_subgraph(1): 0 tensors for its 1 inputs: one for each expected
Traced<[](Ir& ir) {
  const tw::TensorSpec spec{{2}, tw::float32};
  const auto forward = ir.create_graph([](Tensor x) { return x + 1; }, spec);
  tw::GradGraphInfo(ir.create_graph([](Tensor dy) { return dy; }, spec), forward, {}, {forward.input(0)});
}>
    gradient_by_hand;
