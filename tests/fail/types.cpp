// Dtypes that an op, a stream or a number does not take.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

constexpr void program(Ir& ir) {
  [[maybe_unused]] const Tensor x = ir.variable(tw::ones(), {2, 3}, tw::float32, "x");
  [[maybe_unused]] const Tensor small = ir.variable(tw::ones(), {2, 3}, tw::float8_143, "small");
  [[maybe_unused]] const Tensor k = ir.variable(tw::zeros(), {1}, tw::int32, "k");

  // CASE complex_stream
  // expect: stream: `z` of (2,) complex64: another dtype expected; PopXL has no ops for complex numbers either
#ifdef CASE_complex_stream
  ir.h2d_stream("z", {2}, tw::complex64);
#endif

  // CASE complex_variable
  // expect: variable: `z` of (2,) complex128: another dtype expected; PopXL has no ops for complex numbers either
#ifdef CASE_complex_variable
  ir.variable(tw::ones(), {2}, tw::dtype_from_name("complex128"), "z");
#endif

  // CASE complex_op
  // expect: Cast: (2, 3) complex64: another dtype expected; PopXL has no ops for complex numbers either
#ifdef CASE_complex_op
  x.cast(tw::complex64);
#endif

  // CASE arithmetic_of_float8
  // expect: Add: (2, 3) float8_143, with which nothing is computed: pow2scale_then_cast to it, or cast_then_pow2scale from it,
  // expected
#ifdef CASE_arithmetic_of_float8
  small + small;
#endif

  // CASE cast_to_float8
  // expect: Cast: (2, 3) float8_152, with which nothing is computed: pow2scale_then_cast to it, or cast_then_pow2scale from it,
  // expected
#ifdef CASE_cast_to_float8
  x.cast(tw::float8_152);
#endif

  // CASE scale_too_large
  // expect: Pow2ScaleThenCast: log2_scale 32: a whole number from -32 to 31 expected
#ifdef CASE_scale_too_large
  ops::pow2scale_then_cast(x, 32, tw::float8_143);
#endif

  // CASE scale_of_rank_1
  // expect: CastThenPow2Scale: log2_scale (1,) int32: a scalar int32 expected
#ifdef CASE_scale_of_rank_1
  ops::cast_then_pow2scale(small, k, tw::float16);
#endif

  // CASE scale_of_float
  // expect: CastThenPow2Scale: log2_scale () float32: a scalar int32 expected
#ifdef CASE_scale_of_float
  ops::cast_then_pow2scale(small, ir.constant(1), tw::float16);
#endif

  // CASE product_of_float32
  // expect: MatMulPow2Scaled: (3, 2) float32: float8_143 or float8_152 expected; pow2scale_then_cast makes them
#ifdef CASE_product_of_float32
  ops::matmul_pow2scaled(small, x.T(), 0);
#endif

  // CASE gradient_of_float8
  // expect: autodiff of graph_subgraph(0): CastThenPow2Scale.101 on (2, 3) float8_143
#ifdef CASE_gradient_of_float8
  const auto graph = ir.create_graph(
      [](Tensor y) { return ops::cast_then_pow2scale(ops::pow2scale_then_cast(y, 0, tw::float8_143), 0, tw::float32); },
      x.spec());
  tw::autodiff(graph);
#endif

  ops::host_store(ir.d2h_stream("y", x.spec()), x);
}

// CASE host_conversion
// expect: host_pow2scale_then_cast: elements of float16, float32 or float64 expected
#ifdef CASE_host_conversion
constexpr auto code = tw::host_pow2scale_then_cast<tw::float8_143>(1);
#endif

// CASE name_of_no_dtype
// expect: dtype_from_name
#ifdef CASE_name_of_no_dtype
constexpr tw::DType dtype = tw::dtype_from_name("float8");
#endif

int main() { tw::Session<program> session; }
