// Graphs made from functions and modules, called with different inputs, and one that changes what it is given.
//
// labels: more
// test:
// expect: x + 1: 3
// expect: x + value, called twice: 3
// expect: changed by the call: 2
// expect: by reference: 6
#include <iostream>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;

constexpr void store(std::string_view name, tw::Tensor tensor) {
  tw::ops::host_store(tensor.ir().d2h_stream(name, tensor.spec()), tensor);
}

constexpr tw::Tensor increment(tw::Tensor x) { return x + 1; }

/// A module with an input of its own besides x: `build` leaves it in a member, for the calls.
struct AddValue : tw::Module<AddValue> {
  tw::Tensor value;
  constexpr tw::Tensor build(tw::Tensor x) {
    value = tw::graph_input(ir(), {}, tw::float32, "value");
    return x + value;
  }
};

/// x = x + value, in the tensor of the caller.
constexpr void add_to(tw::TensorByRef x, tw::Tensor value) { tw::ops::accumulate_(x, value); }

constexpr void program(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {}, tw::float32));
  const auto one = ir.constant(1.0), two = ir.constant(2.0);
  store("incremented", tw::call(ir.create_graph(increment, x), x));

  // one graph, two calls: ones are added, then twos
  AddValue add;
  const auto graph = ir.create_graph(add, x);
  const tw::Tensor first = tw::call(graph, one * 0, {{add.value, one}});
  store("added", tw::call(graph, first, {{add.value, two}}));

  // a graph's inputs are values: what it changes reaches the caller only where the call says so
  const auto overwrite = ir.create_graph([](tw::Tensor t, tw::Tensor value) { tw::ops::copy_var_update_(t, t + value); }, x, x);
  const auto variable = ir.variable(tw::ones(), {}, tw::float32, "variable");
  tw::call(overwrite, {variable, one});
  auto info = tw::call_with_info(overwrite, {variable, one});
  info.set_parent_input_modified(variable);
  store("changed", variable);

  // or where the graph is built so
  const auto by_reference = ir.create_graph(add_to, variable, one);
  tw::call(by_reference, {variable, two});
  tw::call(by_reference, {variable, two});
  store("by reference", variable);
}

int main() {
  tw::Session<program> session;
  const auto outputs = session.run("x"_s = 2.0f);
  std::cout << "x + 1: " << outputs["incremented"_s]() << '\n';
  std::cout << "x + value, called twice: " << outputs["added"_s]() << '\n';
  std::cout << "changed by the call: " << outputs["changed"_s]() << '\n';
  std::cout << "by reference: " << outputs["by reference"_s]() << '\n';
}
