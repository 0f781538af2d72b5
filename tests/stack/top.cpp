// labels: more
// The largest elements of lines, and tables of weights for images of other sizes.
#include "painted.hpp"

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr void program(Ir& ir) {
  const Tensor x = ir.variable(tw::normal(0, 1), {4, 5000}, tw::float32, "x");
  const auto store = [&](const char* name, Tensor y) { ops::host_store(ir.d2h_stream(name, y.spec()), y); };
  const auto top = ops::topk(x, 1000, 1);
  store("values", top.values);
  store("indices", top.indices);
}

int main() { return check_memory<program>("top"); }
