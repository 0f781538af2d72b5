#pragma once
// Small programs whose memory is painted: loops, graphs that are called, gradients that compute them again, replicas, remote
// memory, several IPUs and views. They have no inputs.
#include <tilewright/tilewright.hpp>

namespace frame_programs {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

inline constexpr tw::Target small_ipu = tw::gc200.with_tiles(16);

constexpr Tensor variable(Ir& ir, const char* name, const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return ir.variable(tw::normal(0, 1), shape, dtype, name);
}
constexpr void store(const char* name, Tensor y) { ops::host_store(y.ir().d2h_stream(name, y.spec()), y); }

struct Layer : tw::Module<Layer> {
  constexpr Tensor build(Tensor x) { return ops::tanh(x.matmul(add_variable_input("weight", tw::normal(0, 0.1), {96, 96}))); }
};
/// Three calls of a graph and its gradient.
template <bool recomputes>
constexpr void calls(Ir& ir) {
  const Tensor x = variable(ir, "x", {16, 96});
  const auto [factories, layer] = tw::create_graph(Layer{}, x);
  auto backward = tw::autodiff(layer);
  if (recomputes) backward = tw::recompute_graph(backward);
  const tw::NamedTensors weights = factories.init("layer");
  tw::List<tw::CallSiteInfo> sites;
  Tensor y = x;
  for (int i = 0; i < 3; ++i) {
    sites.push_back(layer.bind(weights).call_with_info(y));
    y = sites.back().output(0);
  }
  for (int i = 3; i-- > 0;) y = backward.call_with_info(y, backward.grad_graph_info().inputs_dict(sites[i])).output(0);
  store("dx", y);
}
constexpr void loop(Ir& ir) {
  const Tensor x = variable(ir, "x", {16, 96});
  const auto [factories, layer] = tw::create_graph(Layer{}, x);
  store("y", tw::repeat(layer.graph(), 5, {x, variable(ir, "w", {96, 96})})[0]);
}
template <tw::DType dtype>
constexpr void replicas(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor x = variable(ir, "x", {1000}, dtype);
  store("sum", ops::collectives::replicated_all_reduce(ops::exp(x)) * 2);
}
constexpr void remote(Ir& ir) {
  const tw::RemoteBuffer buffer = ir.remote_buffer({300}, tw::float32, 3);
  const Tensor sum = ops::remote_load(buffer, 0) + ops::remote_load(buffer, 1);
  ops::remote_store(buffer, 2, ops::exp(sum));
  store("sum", sum.sum());
}
constexpr void two_ipus(Ir& ir) {
  const Tensor x = variable(ir, "x", {16, 96}).matmul(variable(ir, "v", {96, 64})).copy_to_ipu(1);
  const auto second = tw::ipu(ir, 1);
  store("y", ops::softmax(x.matmul(variable(ir, "w", {64, 10})), -1));
}
constexpr void views(Ir& ir) {
  const Tensor x = variable(ir, "x", {7, 33}, tw::float16);
  const Tensor joined = ops::concat({x.cast(tw::float32), ops::exp(x).cast(tw::float32)}, 0);
  store("y", ops::cumsum(joined.transpose({1, 0}), 0));
}
constexpr void norm(Ir& ir) {
  const Tensor x = variable(ir, "x", {30, 50});
  store("y", ops::softmax(ops::layer_norm(x, ops::exp(x)[0], ops::exp(x)[1], 1e-5), -1).sum({0}));
}

}  // namespace frame_programs
