// Lesson 3: a session.
//
// A program is a constexpr function of a tw::Ir, the intermediate representation, which holds its graphs. It loads tensors from
// streams with names, calls graphs with them, and stores results into other streams. An h2d_stream goes from the host to the
// device, which is the machine that runs the program; a d2h_stream goes back. `tw::Session<program>` lets the compiler trace and
// plan the program, and compiles a kernel for each step of the plan. `session.run` then only runs them: a run allocates no
// memory.
//
// `bind` gives a graph its variables by their names. One graph can be bound to several sets of variables: its code exists once.
//
// It prints:
//
//     first: 2 2 2
//     second: 20 20 20
//     first again: 4 4 4
//
// Try: ask for outputs["third"_s]. Names are looked up by the compiler: it says which streams there are.
//
// labels: none
#include <iostream>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;  // "name"_s: a name that the compiler looks up

/// y = x W, with ones as first weights
struct Linear : tw::Module<Linear> {
  constexpr tw::Tensor build(tw::Tensor x) { return x.matmul(add_variable_input("weight", tw::ones(), {x.shape(-1), 3})); }
};

constexpr void program(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {1, 2}));
  const auto [factories, linear] = tw::create_graph(Linear{}, x);

  const auto first = linear.bind(factories.init("first"));  // its variable is first.weight
  const auto second = linear.bind(factories.init("second"));
  tw::ops::host_store(ir.d2h_stream("y1", {1, 3}), first.call(x));
  tw::ops::host_store(ir.d2h_stream("y2", {1, 3}), second.call(x));
}

void print(const char* name, const auto& values) {
  std::cout << name << ':';
  for (const float value : values) std::cout << ' ' << value;
  std::cout << '\n';
}

int main() {
  tw::Session<program> session;
  const xt::xtensor<float, 2> x{{1, 1}};
  session.write_variable_data("second.weight"_s, xt::xtensor<float, 2>{{10, 10, 10}, {10, 10, 10}});  // from the host
  const auto outputs = session.run("x"_s = x);
  print("first", outputs["y1"_s]);
  print("second", outputs["y2"_s]);

  session.variables()["first"_s]["weight"_s] *= 2;  // the weight itself, where the session has it
  print("first again", session.run("x"_s = x)["y1"_s]);
}
