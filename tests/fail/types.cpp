// labels: none
// Dtypes that an op, a stream or a number does not take.
#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{2, 3}, function>;

constexpr Tensor small(Tensor x) { return tensor(x, {2, 3}, tw::float8_143); }

// CASE complex_stream
// expect: stream: `z` of (2,) complex64: another dtype expected; PopXL has no ops for complex numbers either, in Net/layer
Case<[](Tensor x) { x.ir().h2d_stream("z", {2}, tw::complex64); }> complex_stream;

// CASE complex_variable
// expect: variable: `z` of (2,) complex128: another dtype expected; PopXL has no ops for complex numbers either
constexpr void complex_program(Ir& ir) { ir.variable(tw::ones(), {2}, tw::dtype_from_name("complex128"), "z"); }
Traced<complex_program> complex_variable;

// CASE complex_op
// expect: Cast: (2, 3) complex64: another dtype expected; PopXL has no ops for complex numbers either, in Net/layer
Case<[](Tensor x) { return x.cast(tw::complex64); }> complex_op;

// CASE arithmetic_of_float8
// expect: Add: (2, 3) float8_143, with which nothing is computed: pow2scale_then_cast to it, or cast_then_pow2scale from it,
// expect: expected, in Net/layer
Case<[](Tensor x) { return small(x) + small(x); }> arithmetic_of_float8;

// CASE cast_to_float8
// expect: Cast: (2, 3) float8_152, with which nothing is computed: pow2scale_then_cast to it, or cast_then_pow2scale from it,
// expect: expected, in Net/layer
Case<[](Tensor x) { return x.cast(tw::float8_152); }> cast_to_float8;

// CASE cast_from_float8
// expect: Cast: (2, 3) float8_143, with which nothing is computed: pow2scale_then_cast to it, or cast_then_pow2scale from it,
// expect: expected, in Net/layer
Case<[](Tensor x) { return small(x).cast(tw::float32); }> cast_from_float8;

// CASE scale_too_large
// expect: Pow2ScaleThenCast: log2_scale 32: a whole number from -32 to 31 expected, in Net/layer
Case<[](Tensor x) { return ops::pow2scale_then_cast(x, 32, tw::float8_143); }> scale_too_large;

// CASE scale_too_small
// expect: MatMulPow2Scaled: log2_scale -33: a whole number from -32 to 31 expected, in Net/layer
Case<[](Tensor x) { return ops::matmul_pow2scaled(small(x), small(x).T(), x.ir().constant(-33, tw::int32)); }> scale_too_small;

// CASE fractional_scale
// expect: CastThenPow2Scale: 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/layer
Case<[](Tensor x) { return ops::cast_then_pow2scale(small(x), 0.5, tw::float32); }> fractional_scale;

// CASE amax_for_float16
// expect: fp8_amax_scale: Tensor[float32 (2, 3)] for float16: float16, bfloat16 or float32 for float8_143 or float8_152 expected
Case<[](Tensor x) { return ops::fp8_amax_scale(x * 2, tw::float16); }> amax_for_float16;

// CASE groups_of_6
// expect: group_quantize_compress: Tensor[float32 (2, 3)] in groups of 6: axes (..., n) of float16, bfloat16 or float32, and a
// expect: multiple of 4 that divides n, expected, in Net/layer
Case<[](Tensor x) { return ops::group_quantize_compress(x * 2, 6).codes; }> groups_of_6;

// CASE groups_of_floats
// expect: group_quantize_decompress: codes (2, 4) float32, scale (2, 2) float32, bias (2, 2) float32: those of
// expect: group_quantize_compress expected, in Net/layer
Case<[](Tensor x) { return ops::group_quantize_decompress({tensor(x, {2, 4}), tensor(x, {2, 2}), tensor(x, {2, 2})}); }>
    groups_of_floats;

// CASE place_outside_of_a_matrix
// expect: static_sparse_matmul: 2 rows and 2 columns of places in (2, 2): as many of both, inside of the matrix, expected
Case<[](Tensor x) {
  tw::SparsePattern pattern{.row_count = 2, .column_count = 2, .rows = {0, 1}, .columns = {0, 2}};
  return ops::static_sparse_matmul(tensor(x, {2}), pattern, x);
}>
    place_outside_of_a_matrix;

// CASE values_of_a_sparse_matrix
// expect: static_sparse_matmul: values (3,) float32 by (2, 3) float32: (2,) by (2, n), both float16, bfloat16 or
// expect: float32, expected
Case<[](Tensor x) {
  tw::SparsePattern pattern{.row_count = 2, .column_count = 2, .rows = {0, 1}, .columns = {0, 1}};
  return ops::static_sparse_matmul(tensor(x, {3}), pattern, x);
}>
    values_of_a_sparse_matrix;

// CASE scale_of_rank_1
// expect: CastThenPow2Scale: log2_scale (1,) int32: a scalar int32 expected, in Net/layer
Case<[](Tensor x) { return ops::cast_then_pow2scale(small(x), tensor(x, {1}, tw::int32), tw::float16); }> scale_of_rank_1;

// CASE scale_of_float
// expect: CastThenPow2Scale: log2_scale () float32: a scalar int32 expected, in Net/layer
Case<[](Tensor x) { return ops::cast_then_pow2scale(small(x), tensor(x, {}), tw::float16); }> scale_of_float;

// CASE scale_of_a_product
// expect: MatMulPow2Scaled: log2_scale () float32: a scalar int32 expected, in Net/layer
Case<[](Tensor x) { return ops::matmul_pow2scaled(small(x), small(x).T(), tensor(x, {})); }> scale_of_a_product;

// CASE float8_of_integers
// expect: Pow2ScaleThenCast: (2, 3) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::pow2scale_then_cast(x.cast(tw::int32), 0, tw::float8_143); }> float8_of_integers;

// CASE to_float8
// expect: Pow2ScaleThenCast: (2, 3) float32 to float16: float8_143 or float8_152 expected, in Net/layer
Case<[](Tensor x) { return ops::pow2scale_then_cast(x, 0, tw::float16); }> to_float8;

// CASE from_float8
// expect: CastThenPow2Scale: (2, 3) float8_143 to int32: float16 or float32 expected, in Net/layer
Case<[](Tensor x) { return ops::cast_then_pow2scale(small(x), 0, tw::int32); }> from_float8;

// CASE from_float32
// expect: CastThenPow2Scale: (2, 3) float32: float8_143 or float8_152 expected; pow2scale_then_cast makes them, in Net/layer
Case<[](Tensor x) { return ops::cast_then_pow2scale(x, 0, tw::float16); }> from_float32;

// CASE product_of_float32
// expect: MatMulPow2Scaled: (3, 2) float32: float8_143 or float8_152 expected; pow2scale_then_cast makes them, in Net/layer
Case<[](Tensor x) { return ops::matmul_pow2scaled(small(x), x.T(), 0); }> product_of_float32;

// CASE shapes_of_a_product
// expect: MatMulPow2Scaled: (2, 3) x (2, 3): inner dimensions 3 and 2 differ, in Net/layer
Case<[](Tensor x) { return ops::matmul_pow2scaled(small(x), small(x), 0); }> shapes_of_a_product;

// CASE convolution_of_float32
// expect: ConvPow2Scaled: (1, 2, 3) float32: float8_143 or float8_152 expected; pow2scale_then_cast makes them, in Net/layer
Case<[](Tensor x) { return ops::conv_pow2scaled(x.reshape({1, 2, 3}), small(x).reshape({1, 2, 3}), 0); }> convolution_of_float32;

// CASE channels_of_a_convolution
// expect: ConvPow2Scaled: weight (2, 1, 3) for (1, 2, 3) in 1 group: 2 channels expected, in Net/layer
Case<[](Tensor x) { return ops::conv_pow2scaled(small(x).reshape({1, 2, 3}), small(x).reshape({2, 1, 3}), 0); }>
    channels_of_a_convolution;

// CASE channels_of_a_transposed_convolution
// expect: ConvTransposePow2Scaled: weight (1, 2, 3) for (1, 2, 3): 2 channels along axis 0 of the weight expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose_pow2scaled(small(x).reshape({1, 2, 3}), small(x).reshape({1, 2, 3}), 0); }>
    channels_of_a_transposed_convolution;

// CASE gradient_of_float8
// expect: autodiff of graph_subgraph(1): CastThenPow2Scale.
// expect: on (2, 3) float8_143
Case<[](Tensor x) {
  const auto graph = x.ir().create_graph(
      [](Tensor y) { return ops::cast_then_pow2scale(ops::pow2scale_then_cast(y, 0, tw::float8_143), 0, tw::float32); }, x);
  tw::autodiff(graph);
}>
    gradient_of_float8;

// CASE host_conversion
// expect: host_pow2scale_then_cast: elements of float16, float32 or float64 expected
constexpr auto code = tw::host_pow2scale_then_cast<tw::float8_143>(1);

// CASE name_of_no_dtype
// expect: dtype_from_name
constexpr tw::DType dtype = tw::dtype_from_name("float8");

// CASE bfloat16_on_an_ipu
// expect: HostLoad.100: (2, 3) bfloat16 on a simulated IPU, which has no bfloat16: float16 or float32 expected
// expect: step_in_bfloat16
constexpr void step_in_bfloat16(tw::Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {{2, 3}, tw::bfloat16}));
  ops::host_store(ir.d2h_stream("y", x.spec()), ops::tanh(x));
}
tw::Session<step_in_bfloat16, tw::ipu_model> on_an_ipu;
