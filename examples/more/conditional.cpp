// Branches: one of two graphs runs, and gradients flow through the one that ran.
//
// labels: more
// test:
// expect: true: 23, gradient of x 1
// expect: false: 7, gradient of x -1
#include <iostream>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;

struct Add {
  constexpr tw::Tensor build(tw::Tensor x, tw::Tensor w) { return w + x; }
};
struct Subtract {
  constexpr tw::Tensor build(tw::Tensor x, tw::Tensor w) { return w - x; }
};
/// w + x where the condition is true, else w - x.
struct AddOrSubtract {
  constexpr tw::Tensor build(tw::Tensor condition, tw::Tensor x, tw::Tensor w) {
    const auto add = x.ir().create_graph(Add{}, x, w), subtract = x.ir().create_graph(Subtract{}, x, w);
    return tw::conditional(condition, {add, {x, w}}, {subtract, {x, w}});
  }
};

constexpr void program(tw::Ir& ir) {
  const auto condition = tw::ops::host_load(ir.h2d_stream("condition", {}, tw::boolean));
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {}, tw::float32));
  const auto w = ir.variable(tw::full(15), {}, tw::float32, "w");
  const auto graph = ir.create_graph(AddOrSubtract{}, condition, x, w);
  const auto gradient = tw::autodiff(graph, {.grads_required = {{graph.input(1)}}});
  const auto call = tw::call_with_info(graph, {condition, x, w});
  tw::ops::host_store(ir.d2h_stream("y", call.output(0).spec()), call.output(0));
  const tw::Tensor dx = tw::call(gradient.graph(), ir.constant(1.0), gradient.inputs_dict(call));
  tw::ops::host_store(ir.d2h_stream("dx", dx.spec()), dx);
}

int main() {
  tw::Session<program> session;
  for (const bool condition : {true, false}) {
    const auto outputs = session.run("condition"_s = condition, "x"_s = 8.0f);
    std::cout << (condition ? "true: " : "false: ") << outputs["y"_s]() << ", gradient of x " << outputs["dx"_s]() << '\n';
  }
}
