#include <tilewright/solvers.hpp>
#include <tilewright/tilewright.hpp>
namespace tw = tilewright;

// the block
constexpr bool has_result() {
  tw::Ir ir;
  const tw::Tensor a = ir.variable(tw::ones(), {3}, tw::float64, "a");
  return solve(a, a).shape() == tw::Shape{3};
}
static_assert(has_result());
