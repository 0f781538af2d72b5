// labels: none
// Graphs that call graphs in loops and conditionals, and little else: what a run's own functions need.
#include "painted.hpp"

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

template <int depth>
struct Nested {
  constexpr Tensor build(Tensor x, Tensor choice) {
    if constexpr (depth == 0) {
      return ops::tanh(x) * 2;
    } else {
      const auto inner = x.ir().create_graph(Nested<depth - 1>{}, x, choice);
      const auto other = x.ir().create_graph([](Tensor y, Tensor) { return y + 1; }, x, choice);
      return tw::conditional(choice, {inner, {tw::call(inner, {x, choice})[0], choice}}, {other, {x, choice}})[0];
    }
  }
};

constexpr void program(Ir& ir) {
  const Tensor x = ir.variable(tw::normal(0, 1), {16}, tw::float32, "x");
  const Tensor choice = ir.variable(tw::ones(), {}, tw::boolean, "choice");
  const Tensor y = tw::call(ir.create_graph(Nested<6>{}, x, choice), {x, choice})[0];
  ops::host_store(ir.d2h_stream("y", y.spec()), y);
}

int main() { return check_memory<program>("calls"); }
