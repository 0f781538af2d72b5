// labels: none
// Two sets of variables are made with the same names.
// expect: init: `head.bias` exists already, perhaps of another call of init: a prefix that is new, init(prefix), expected
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
  const auto y = net.bind(factories.init()).call(x);
  const auto z = net.bind(factories.init()).call(x);
  tw::ops::host_store(ir.d2h_stream("y", {8, 10}), y + z);
}
int main() { tw::Session<step> session; }
