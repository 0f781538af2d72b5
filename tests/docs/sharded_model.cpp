namespace ops = tw::ops;
struct Net : tw::Module<Net> {
  constexpr tw::Tensor build(tw::Tensor x) { return ops::tanh(x.matmul(add_variable_input("weight", tw::normal(0, 1), {4, 8}))); }
};
constexpr tw::NamedTensors gradients_of(const tw::GraphWithNamedArgs& forward, const tw::NamedTensors& variables, tw::Tensor x) {
  const auto backward = tw::autodiff(forward);
  const auto call = forward.bind(variables).call_with_info(x);
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(call.output(0), info.inputs_dict(call));
  return variables.remap(info.fwd_parent_ins_to_grad_parent_outs(call, backward_call));
}
constexpr void program(tw::Ir& ir) {
  ir.set_replication_factor(4);
  const tw::Tensor x = ops::host_load(ir.h2d_stream("x", {2, 4}));
// the block
}
inline const tw::Session<program> session;
