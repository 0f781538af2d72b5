// labels: none
// A graph is made of a function that takes more than it is given.
// expect: create_graph: a function that does not take 1 arguments of these types: one with a parameter for each, whose body
// compiles, expected
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

constexpr void step(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {8, 784}));
  const auto add = ir.create_graph([](tw::Tensor a, tw::Tensor b) { return a + b; }, x);
  const tw::Tensor y = tw::call(add, x);
  tw::ops::host_store(ir.d2h_stream("y", y.spec()), y);
}
int main() { tw::Session<step> session; }
