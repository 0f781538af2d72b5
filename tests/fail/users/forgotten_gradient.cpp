// labels: none
// The graph of gradients is called without the gradient of the output.
// expect: call of Net_subgraph(0)_bwd: input 0, Tensor[float32 (8, 10)], is missing: all 5 inputs must be given or bound;
// expect: the first are gradients of outputs: call(dy, inputs_dict)
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<128>, hidden), (tw::layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(tw::ops::relu(hidden(x))); }
};
constexpr void step(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {8, 784}));
  const auto [factories, net] = tw::create_graph(Net{}, x);
  const auto call = net.bind(factories.init()).call_with_info(x);
  const auto backward = tw::autodiff(net);
  const auto gradients = backward.call_with_info(backward.grad_graph_info().inputs_dict(call));
  tw::ops::host_store(ir.d2h_stream("y", {8, 10}), call.output(0));
}
int main() { tw::Session<step> session; }
