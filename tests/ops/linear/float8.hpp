#pragma once
#include "../op_test.hpp"
#include "conv.hpp"
#include "conv_transpose.hpp"
#include "matmul.hpp"

namespace op_tests {

inline double scale_of(const Array& log2_scale) { return std::exp2(log2_scale[0]); }
/// A product whose last input is a scale.
template <class F>
Meaning scaled(F product) {
  return [product](const tw::Node& node, Inputs inputs, Specs outputs) {
    std::vector<Array> results = product(node, inputs.first(2), outputs);
    for (double& x : *results[0].memory) x *= scale_of(inputs[2]);
    return results;
  };
}

struct Pow2ScaleThenCast : OpTest {
  static constexpr std::string_view op = "Pow2ScaleThenCast";
  /// The nearest number of 8 bits, ties to even; NaN beyond the largest.
  static double to_float8(double x, tw::DType dtype) {
    const int mantissa = dtype == tw::float8_143 ? 3 : 2, bias = dtype == tw::float8_143 ? 8 : 16;
    const double largest = dtype == tw::float8_143 ? 240 : 57344;
    if (x == 0) return 0;
    const int exponent = std::max(std::ilogb(x), 1 - bias);
    const double unit = std::ldexp(1, exponent - mantissa), nearest = std::nearbyint(x / unit) * unit;
    return std::abs(nearest) <= largest ? nearest : std::nan("");
  }
  static void meanings(auto& m) {
    m.elementwise(op, [](const tw::Node& node, Inputs inputs, const Line& x) {
      const auto to = static_cast<tw::DType>(tw::unpack<tw::Pow2ScaleThenCast::Attributes>(node.attributes).dtype);
      return to_float8(x[0] * scale_of(inputs[1]), to);
    });
  }
  static void numbers(auto& list) {
    list.real("pow2scale_then_cast.log2_scale", list.from(-32, 31),
              [](auto& s, auto n) { return ops::pow2scale_then_cast(s.x, n, tw::float8_143); });
  }
  static constexpr void handles(auto& list) {
    list.add("pow2scale_then_cast", [] { (void)ops::pow2scale_then_cast(Tensor(), 1, tw::float16); });
    list.add("fp8_amax_scale", [] { (void)ops::fp8_amax_scale(Tensor(), tw::float8_143); });
  }
  static constexpr void shapes(const auto& s) {
    s.error(
        "Pow2ScaleThenCast: (2, 3) int32: float16, float32, float64 or bfloat16 expected, in graph",
        [](Tensor x) { return ops::pow2scale_then_cast(x.cast(tw::int32), 0, tw::float8_143); }, f32(2, 3));
    s.error(
        "Pow2ScaleThenCast: (2, 3) float32 to float16: float8_143 or float8_152 expected, in graph",
        [](Tensor x) { return ops::pow2scale_then_cast(x, 0, tw::float16); }, f32(2, 3));
  }
};
struct CastThenPow2Scale : OpTest {
  static constexpr std::string_view op = "CastThenPow2Scale";
  static void meanings(auto& m) {
    m.binary(op, [](double x, double log2_scale) { return x * std::exp2(log2_scale); });
  }
  static void numbers(auto& list) {
    list.real("cast_then_pow2scale.log2_scale", list.from(-32, 31),
              [](auto& s, auto n) { return ops::cast_then_pow2scale(s.tensor({36, 8}, tw::float8_143), n, tw::float16); });
    list.whole("group_quantize_compress.group_size", list.any_outcome,
               [](auto& s, auto n) { return ops::group_quantize_compress(s.tensor({8}), n).codes; });
  }
  static constexpr void handles(auto& list) {
    list.add("cast_then_pow2scale", [] { (void)ops::cast_then_pow2scale(Tensor(), 1, tw::float16); });
    list.add("group_quantize_compress", [] { (void)ops::group_quantize_compress(Tensor(), 4); });
    list.add("group_quantize_decompress", [] { (void)ops::group_quantize_decompress({}); });
  }
  static constexpr void shapes(const auto& s) {
    s.error(
        "CastThenPow2Scale: (2, 3) float32: float8_143 or float8_152 expected; pow2scale_then_cast makes them, in graph",
        [](Tensor x) { return ops::cast_then_pow2scale(x, 0, tw::float16); }, f32(2, 3));
    s.error(
        "CastThenPow2Scale: (2, 3) float8_143 to float64: float16 or float32 expected, in graph",
        [](Tensor small) { return ops::cast_then_pow2scale(small, 0, tw::float64); }, spec_of(tw::float8_143, {2, 3}));
  }
};
struct MatMulPow2Scaled : OpTest {
  static constexpr std::string_view op = "MatMulPow2Scaled";
  static void meanings(auto& m) { m[op] = scaled(MatMul::value); }
  static void numbers(auto& list) {
    list.real("matmul_pow2scaled.log2_scale", list.from(-32, 31), [](auto& s, auto n) {
      return ops::matmul_pow2scaled(s.tensor({36, 8}, tw::float8_143), s.tensor({36, 8}, tw::float8_143).T(), n);
    });
    list.real("matmul_pow2scaled.available_memory_proportion", list.part, [](auto& s, auto n) {
      return ops::matmul_pow2scaled(s.tensor({36, 8}, tw::float8_143), s.tensor({36, 8}, tw::float8_143).T(), 1, n);
    });
  }
  static constexpr void handles(auto& list) {
    list.add("matmul_pow2scaled", [] { (void)ops::matmul_pow2scaled(Tensor(), Tensor(), 1); });
  }
  static constexpr void shapes(const auto& s) {
    s.error(
        "MatMulPow2Scaled: (2, 3) x (2, 3): inner dimensions 3 and 2 differ, in graph",
        [](Tensor small) { return ops::matmul_pow2scaled(small, small, 0); }, spec_of(tw::float8_143, {2, 3}));
    s.error(
        "MatMulPow2Scaled: log2_scale -33: a whole number from -32 to 31 expected, in graph",
        [](Tensor small) { return ops::matmul_pow2scaled(small, small.T(), small.ir().constant(-33, tw::int32)); },
        spec_of(tw::float8_143, {2, 3}));
  }
};
/// And of transposed ones.
struct ConvPow2Scaled : OpTest {
  static constexpr std::string_view op = "ConvPow2Scaled";
  static void meanings(auto& m) {
    m[op] = scaled(Conv::value);
    m["ConvTransposePow2Scaled"] = scaled(ConvTranspose::value);
  }
  static void numbers(auto& list) {
    list.real("conv_pow2scaled.log2_scale", list.from(-32, 31), [](auto& s, auto n) {
      return ops::conv_pow2scaled(s.tensor({2, 4, 6, 6}, tw::float8_143), s.tensor({4, 4, 3, 3}, tw::float8_143), n);
    });
    list.real("conv_transpose_pow2scaled.log2_scale", list.from(-32, 31), [](auto& s, auto n) {
      return ops::conv_transpose_pow2scaled(s.tensor({2, 4, 6, 6}, tw::float8_143), s.tensor({4, 4, 3, 3}, tw::float8_143), n);
    });
  }
  static constexpr void handles(auto& list) {
    list.add("conv_pow2scaled", [] { (void)ops::conv_pow2scaled(Tensor(), Tensor(), 1); });
    list.add("conv_transpose_pow2scaled", [] { (void)ops::conv_transpose_pow2scaled(Tensor(), Tensor(), 1); });
  }
  static constexpr void shapes(const auto& s) {
    s.error(
        "ConvPow2Scaled: (2, 3) float32: (N, C, spatial) with 1 to 3 spatial axes expected, in graph",
        [](Tensor small) { return ops::conv_pow2scaled(small, small, 0); }, spec_of(tw::float8_143, {2, 3}));
  }
};

}  // namespace op_tests
