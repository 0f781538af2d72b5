// labels: more
// Reductions along columns, whose accumulators are on the stack, and what is found by order.
#include "painted.hpp"

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr void program(Ir& ir) {
  const Tensor x = ir.variable(tw::normal(0, 1), {300, 1500}, tw::float32, "x");
  const auto store = [&](const char* name, Tensor y) { ops::host_store(ir.d2h_stream(name, y.spec()), y); };
  store("logsumexp", ops::logsumexp(x, 0));
  store("max", ops::max(x, 0));
  store("running", ops::cumsum(x, 0));
  store("best", ops::argmax(x, 0));
  store("median", ops::median(x, 0));
  store("length", ops::l2(x.cast(tw::float64), 0));
}

int main() { return check_memory<program>("reductions"); }
