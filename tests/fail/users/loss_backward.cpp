// labels: none
// Gradients are asked of a loss.
// expect: Tensor: no backward(): tw::train::minimise, or tw::autodiff(graph) and a call of the graph that it gives, expected
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
  const auto loss = call.output(0).mean();
  loss.backward();
  tw::ops::host_store(ir.d2h_stream("loss", {}), loss);
}
int main() { tw::Session<step> session; }
