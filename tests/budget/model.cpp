// A training step of three layers, one of them outlined, whose tracing and planning is measured: see run.py.
#include <tilewright/tilewright.hpp>

namespace {

namespace tw = tilewright;

template <int out_features>
struct Linear : tw::Module<Linear<out_features>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto w = this->add_variable_input("weight", tw::normal(0, 0.02), {x.shape(-1), out_features});
    return x.matmul(w) + this->add_variable_input("bias", tw::zeros(), {out_features});
  }
};
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<64>, first), (Linear<10>, last));
  constexpr tw::Tensor build(tw::Tensor x) {
    x = tw::ops::gelu(first(x.reshape({-1, 256})));
    const auto [factories, shared] = tw::create_graph(Linear<64>{}, x);
    x = tw::ops::gelu(shared.bind(add_variable_inputs("second", factories)).call(x));
    x = tw::ops::gelu(shared.bind(add_variable_inputs("third", factories)).call(x));
    return last(x);
  }
};
constexpr void train_step(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {8, 16, 16}));
  const auto labels = tw::ops::host_load(ir.h2d_stream("label", {8}, tw::int32));
  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();
  const auto call = forward.bind(variables).call_with_info(images);
  const auto [loss, dy] = tw::ops::cross_entropy_with_grad(call.output(0), labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info(dy, info.inputs_dict(call)));
  for (const auto& v : variables.tensors()) tw::ops::scaled_add_(v, gradients[v], {.b = -0.05});
}
constexpr std::size_t steps = [] {
  tw::Ir ir;
  train_step(ir);
  return tw::lower(tw::prepare(std::move(ir), tw::cpu)).steps.size();
}();
static_assert(steps > 0);

}  // namespace
