// Elementwise ops that are given what they do not take.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Tensor;

/// The layer without a case; a case's function of a Tensor is preferred.
constexpr auto layer(auto x) { return x; }

// CASE in_place_shape
// expect: AddInplace: (2, 3) float32 into (3,) float32: a result of the shape and dtype of the tensor that changes expected
// expect: layer(
#ifdef CASE_in_place_shape
constexpr Tensor layer(Tensor x) {
  Tensor row = ops::sum(x, 0);
  return row += x;
}
#endif

// CASE modulus
// expect: IncrementMod: modulus 0: another number expected
// expect: layer(
#ifdef CASE_modulus
constexpr Tensor layer(Tensor x) { return ops::increment_mod(x, 1, 0); }
#endif

// CASE two_numbers
// expect: where: two numbers: a tensor expected as one of its choices
#ifdef CASE_two_numbers
constexpr Tensor layer(Tensor x) { return ops::where(x, 1, 2); }
#endif

constexpr void program(tw::Ir& ir) {
  const auto x = ir.h2d_stream("x", {2, 3});
  const Tensor y = layer(ops::host_load(x));
  ops::host_store(ir.d2h_stream("y", y.spec()), y);
}
int main() { tw::Session<program, tw::cpu> session; }
