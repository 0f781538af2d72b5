// labels: clang
// Gradients are set to zero.
// expect: Module: no zero_grad(): each run computes new gradients: the program without this call expected
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<128>, hidden), (tw::layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(tw::ops::relu(hidden(x))); }
};
constexpr void step(tw::Ir& ir) {
  tw::optim::Adam optimizer;
  optimizer.zero_grad();
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {8, 784}));
  const auto [factories, net] = tw::create_graph(Net{}, x);
  const auto call = net.bind(factories.init()).call_with_info(x);
  tw::ops::host_store(ir.d2h_stream("y", {8, 10}), call.output(0));
}
int main() { tw::Session<step> session; }
