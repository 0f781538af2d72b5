// One graph, bound to two sets of variables: its code exists once.
//
// labels: more
// test:
// expect: bodies in the plan: 2
// expect: call Linear_subgraph(0) twice
// expect: results differ: yes
#include <iostream>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;
using tw::layers::Linear;

constexpr void program(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {2, 4}));
  const auto [factories, linear] = tw::create_graph(Linear<32>{}, x);

  const auto first = linear.bind(factories.init("first"));
  const auto second = linear.bind(factories.init("second"));
  tw::ops::host_store(ir.d2h_stream("y1", {2, 32}), first.call(x));
  tw::ops::host_store(ir.d2h_stream("y2", {2, 32}), second.call(x));
}

int main() {
  std::cout << print_schedule(tw::trace(program)->main_graph()) << '\n';

  using Session = tw::Session<program>;
  static_assert(Session::plan.bodies.size() == 2);  // the main graph and the layer
  std::cout << "bodies in the plan: " << Session::plan.bodies.size() << ", call Linear_subgraph(0) twice\n";

  Session session;
  const xt::xtensor<float, 2> x{{0.1f, 0.2f, 0.3f, 0.4f}, {0.5f, 0.6f, 0.7f, 0.8f}};
  const auto outputs = session.run("x"_s = x);
  std::cout << "results differ: " << (outputs["y1"_s] == outputs["y2"_s] ? "no" : "yes") << '\n';
  std::cout << "first.weight(0, 0) = " << session.variables()["first"_s]["weight"_s](0, 0)
            << ", second.weight(0, 0) = " << session.variables()["second"_s]["weight"_s](0, 0) << '\n';
}
