// labels: clang
// Variables are asked of a module.
// expect: Module: no parameters(): create_graph`s factories make the variables:
// expect: and factories.init().named_tensors() expected
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<128>, hidden), (tw::layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(tw::ops::relu(hidden(x))); }
};
constexpr void step(tw::Ir& ir) {
  Net model;
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {8, 784}));
  const auto [factories, net] = tw::create_graph(Net{}, x);
  for (const auto& parameter : model.parameters()) tw::ops::print_tensor(parameter);
}
int main() { tw::Session<step> session; }
