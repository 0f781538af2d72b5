// A linear layer: factories for its variables, its graph, and a call of the graph bound to variables.
//
// labels: more
// test:
// expect: Graph : Linear_subgraph(0)
// expect:   (%1, weight=%2, bias=%3) -> (%5) {
// expect:     MatMul.100 (%1 [(2, 4) float32], %2 [(4, 32) float32]) -> (%4 [(2, 32) float32])
// expect:     Add.101 (%4 [(2, 32) float32], %3 [(32,) float32]) -> (%5 [(2, 32) float32])
// expect: variables: {'bias': Tensor[bias float32 (32,)], 'weight': Tensor[weight float32 (4, 32)]}
// expect: same result with explicit tensors: yes
#include <iostream>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>

namespace tw = tilewright;
using namespace tw::literals;
using tw::layers::Linear;

/// Two ways to call the graph: bound to its variables, and with all tensors given.
constexpr void program(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {2, 4}));
  const auto [factories, linear] = tw::create_graph(Linear<32>{}, x);
  const auto variables = factories.init();

  const auto bound = linear.bind(variables).call(x);
  const auto given = linear.call(x, variables["weight"], variables["bias"]);
  tw::ops::host_store(ir.d2h_stream("bound", {2, 32}), bound);
  tw::ops::host_store(ir.d2h_stream("given", {2, 32}), given);
}

/// The compiler proves that the plan which the session below runs computes what the program's graphs say.
static_assert(tw::verified<program>);

int main() {
  // at run time, to look at it
  tw::Ir ir;
  const auto [factories, linear] = tw::create_graph(ir, Linear<32>{}, tw::TensorSpec{{2, 4}, tw::float32});
  std::cout << "factories: " << to_text(factories) << "\n\n" << linear.print_schedule() << '\n';
  std::cout << "variables: " << to_text(factories.init()) << '\n';

  // at compile time, to run it
  tw::Session<program> session;
  const xt::xtensor<float, 2> x{{0.1f, 0.2f, 0.3f, 0.4f}, {0.5f, 0.6f, 0.7f, 0.8f}};
  const auto outputs = session.run("x"_s = x);
  std::cout << "result: " << outputs["bound"_s](0, 0) << ", " << outputs["bound"_s](0, 1) << ", ...\n";
  std::cout << "same result with explicit tensors: " << (outputs["bound"_s] == outputs["given"_s] ? "yes" : "no") << '\n';
}
