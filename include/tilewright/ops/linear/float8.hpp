#pragma once

#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/linear/conv_transpose.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/program/number_or_tensor.hpp"

/// Conversions between float8 and floating-point tensors, with a power of 2 that moves the numbers into the range of the float8
/// format, and products of float8 tensors. Other ops do not compute with float8; ops that move elements accept it. These ops have
/// no gradient.
namespace tilewright {

namespace detail {
inline constexpr std::int64_t least_log2_scale = -32, end_of_log2_scale = 32;

/// Fails unless the input is a scalar int32.
constexpr bool require_log2_scale(Inference& op, int i) {
  if (op.input(i).shape.rank == 0 && op.input(i).dtype == int32) return true;
  op.fail("log2_scale ", to_text(op.input(i)), ": a scalar int32 expected");
  return false;
}
constexpr bool require_float8(Inference& op, int i) {
  if (is_float8(op.input(i).dtype)) return true;
  op.fail(to_text(op.input(i)), ": float8_143 or float8_152 expected; pow2scale_then_cast makes them");
  return false;
}
/// Returns the scale of an op as a tensor of t's graph. Fails for a number out of range.
template <class D>
constexpr Tensor log2_scale_tensor(Tensor t, const NumberOrTensor& log2_scale) {
  Ir& ir = t.ir();
  double number = log2_scale.number;
  if (log2_scale.tensor) {
    const Tensor tensor = *log2_scale.tensor;
    if (!tensor.valid() || !tensor.is_of(ir)) return tensor;
    const ConstantRecord* constant = detail::find_constant(tensor);
    if (!constant || tensor.spec() != TensorSpec{{}, int32}) return tensor;
    number = constant->values[0];
  }
  if (!(number >= static_cast<double>(least_log2_scale) && number < static_cast<double>(end_of_log2_scale)))
    return ir.fail(text(D::name, ": log2_scale ", number_text(number), ": a whole number from -32 to 31 expected"));
  return log2_scale.tensor ? *log2_scale.tensor : ir.number(D::name, number, int32);
}

/// Base of ops that compute x 2^log2_scale in the dtype of their result: inputs x, log2_scale.
template <class D>
struct Pow2ScaleOp : Elementwise<D> {
  constexpr operator VertexCost() const { return formula_cost(CostFormula::cast); }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_float8 = true}; }
  constexpr operator Fusion() const { return Fusion{.elementwise = true}; }
  struct Attributes {
    std::int64_t dtype = 0;  ///< of the result
  };
  static constexpr void infer(Inference& op) {
    if (!require_log2_scale(op, 1)) return;
    op.output({op.input(0).shape, static_cast<DType>(op.attributes<Attributes>().dtype)});
  }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec>, int, const PackedAttributes&) {
    return {.possible = true, .value = "log2_scale", .expected = "a whole number from -32 to 31", .of_all_vertices = true};
  }
  template <PackedAttributes, class X, class Scale, class Y>
  static void compute_checked(Faults faults, X x, Scale scale, Y y);
};
}  // namespace detail

/// x 2^log2_scale as float8. Inputs: x, log2_scale.
struct Pow2ScaleThenCast : detail::Pow2ScaleOp<Pow2ScaleThenCast> {
  static constexpr std::string_view name = "Pow2ScaleThenCast";
  static constexpr void infer(Inference& op) {
    const auto dtype = static_cast<DType>(op.attributes<Attributes>().dtype);
    if (!op.require_floating_point(0)) return;
    if (!is_float8(dtype)) return op.fail(to_text(op.input(0)), " to ", to_text(dtype), ": float8_143 or float8_152 expected");
    Pow2ScaleOp::infer(op);
  }
};
/// A float8 tensor times 2^log2_scale in a floating-point dtype. Inputs: x, log2_scale.
struct CastThenPow2Scale : detail::Pow2ScaleOp<CastThenPow2Scale> {
  static constexpr std::string_view name = "CastThenPow2Scale";
  static constexpr void infer(Inference& op) {
    const auto dtype = static_cast<DType>(op.attributes<Attributes>().dtype);
    if (!detail::require_float8(op, 0)) return;
    if (dtype != float16 && dtype != float32)
      return op.fail(to_text(op.input(0)), " to ", to_text(dtype), ": float16 or float32 expected");
    Pow2ScaleOp::infer(op);
  }
};

namespace detail {
/// The numbers of a float8 tensor as float32: a part of the products of float8 tensors.
struct Float8ToFloat : Elementwise<Float8ToFloat> {
  static constexpr std::string_view name = "Float8ToFloat";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::cast); }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_float8 = true}; }
  static constexpr void infer(Inference& op) { op.output({op.input(0).shape, float32}); }
  template <class X> static X forward(X x) { return x; }
};
/// The last part of D: float32 sums times 2^log2_scale, rounded to float16. Reports faults under D's name.
template <class D>
struct Pow2ScaleOfSums : Pow2ScaleOp<Pow2ScaleOfSums<D>> {
  static constexpr std::string_view name = D::name;
};

/// Base of products of float8 operands, which are summed in float32, multiplied by 2^log2_scale and rounded to float16: `Product`
/// on the operands as float32. Inputs: two float8 tensors, each of either format, and log2_scale.
template <class D, class Product>
struct Pow2ScaledProduct : Op<D> {
  constexpr operator KernelOperands() const { return KernelOperands{.takes_float8 = true}; }
  constexpr operator OpTexts() const { return OpTexts{.options = Product::options}; }
  using Attributes = typename Product::Attributes;

  static constexpr void infer(Inference& op) {
    if (!require_float8(op, 0) || !require_float8(op, 1) || !require_log2_scale(op, 2)) return;
    PackedAttributes packed;
    if constexpr (!std::is_empty_v<Attributes>) packed = pack(op.attributes<Attributes>());
    // errors of shapes are this op's
    Inference product(op.ir(), op_info<D>, {{op.input(0).shape, float32}, {op.input(1).shape, float32}}, packed);
    Product::infer(product);
    if (!product.failed()) op.output({product.outputs()[0].shape, float16});
  }
  static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, int, const PackedAttributes& attributes) {
    const Shape& result = operands[3].shape;
    List<OpPart> parts;
    for (int i = 0; i < 2; ++i)
      parts.push_back({&op_info<Float8ToFloat>, {}, {i}, {{operands[static_cast<std::size_t>(i)].shape, float32}}});
    parts.push_back({&op_info<Product>, attributes, {3, 4}, {{result, float32}}});
    const auto scale = pack(typename Pow2ScaleOfSums<D>::Attributes{static_cast<std::int64_t>(float16)});
    parts.push_back({&op_info<Pow2ScaleOfSums<D>>, scale, {5, 2}, {{result, float16}}});
    return parts;
  }
};
}  // namespace detail

struct MatMulPow2Scaled : detail::Pow2ScaledProduct<MatMulPow2Scaled, MatMul> {
  static constexpr std::string_view name = "MatMulPow2Scaled";
};
struct ConvPow2Scaled : detail::Pow2ScaledProduct<ConvPow2Scaled, Conv> {
  static constexpr std::string_view name = "ConvPow2Scaled";
};
struct ConvTransposePow2Scaled : detail::Pow2ScaledProduct<ConvTransposePow2Scaled, ConvTranspose> {
  static constexpr std::string_view name = "ConvTransposePow2Scaled";
};

// Templates, so that programs without float8 do not pay for these ops when they are compiled.
namespace ops {
/// Converts t 2^log2_scale to float8. t: any shape, float16, float32 or float64; log2_scale: a scalar int32 tensor, or a number,
/// from -32 to 31; dtype: float8_143 or float8_152. The result has t's shape. Rounds to nearest, ties to even. Infinities, NaN,
/// and numbers that round beyond the largest number, 240 or 57,344, become NaN. No gradient. Errors: other dtypes; a number or
/// constant out of range. A tensor with a value out of range is a fault of the run.
///
///     const Tensor small = ops::pow2scale_then_cast(weight, 4, tw::float8_143);
template <class...>
[[nodiscard]] constexpr Tensor pow2scale_then_cast(Tensor t, const NumberOrTensor& log2_scale, DType dtype) {
  if (!t.is_usable()) return t;
  return apply<Pow2ScaleThenCast>({t, detail::log2_scale_tensor<Pow2ScaleThenCast>(t, log2_scale)},
                                  {static_cast<std::int64_t>(dtype)});
}
/// Converts a float8 tensor to float16 or float32, and multiplies it by 2^log2_scale. log2_scale is that of pow2scale_then_cast.
/// Exact, unless the result leaves the range of float16. NaN stays NaN. No gradient.
template <class...>
[[nodiscard]] constexpr Tensor cast_then_pow2scale(Tensor t, const NumberOrTensor& log2_scale, DType dtype) {
  if (!t.is_usable()) return t;
  return apply<CastThenPow2Scale>({t, detail::log2_scale_tensor<CastThenPow2Scale>(t, log2_scale)},
                                  {static_cast<std::int64_t>(dtype)});
}
/// Multiplies float8 matrices: (lhs rhs) 2^log2_scale, (..., m, k) x (..., k, n) to (..., m, n), leading axes broadcast. lhs and
/// rhs: float8, each of either format; log2_scale is that of pow2scale_then_cast. Result: float16, rounded once from sums in
/// float32. No gradient.
template <class...>
[[nodiscard]] constexpr Tensor matmul_pow2scaled(Tensor lhs, Tensor rhs, const NumberOrTensor& log2_scale,
                                                 std::optional<double> available_memory_proportion = {}) {
  if (!lhs.is_usable() || !rhs.is_usable()) return lhs.valid() ? rhs : lhs;
  const Tensor scale = detail::log2_scale_tensor<MatMulPow2Scaled>(lhs, log2_scale);
  const MatMulPow2Scaled::Attributes attributes{.planner = PlannerAttributes::make(available_memory_proportion, {})};
  return detail::multiply_with_vectors(lhs, rhs,
                                       [&](Tensor a, Tensor b) { return apply<MatMulPow2Scaled>({a, b, scale}, attributes); });
}
/// Convolves float8 tensors: (the convolution of t with weight) 2^log2_scale, with the shapes and options of conv. t and weight:
/// float8, each of either format; log2_scale is that of pow2scale_then_cast. Result: float16, rounded once from sums in float32.
/// No gradient.
template <class...>
[[nodiscard]] constexpr Tensor conv_pow2scaled(Tensor t, Tensor weight, const NumberOrTensor& log2_scale,
                                               const ConvOptions& options = {}) {
  if (!t.is_usable()) return t;
  return apply<ConvPow2Scaled>({t, weight, detail::log2_scale_tensor<ConvPow2Scaled>(t, log2_scale)},
                               detail::window_attributes(options));
}
/// Transposed convolution of float8 tensors: (the transposed convolution of t with weight) 2^log2_scale, with the shapes and
/// options of conv_transpose. t and weight: float8, each of either format; log2_scale is that of pow2scale_then_cast. Result:
/// float16, rounded once from sums in float32. No gradient.
template <class...>
[[nodiscard]] constexpr Tensor conv_transpose_pow2scaled(Tensor t, Tensor weight, const NumberOrTensor& log2_scale,
                                                         const ConvTransposeOptions& options = {}) {
  if (!t.is_usable()) return t;
  return apply<ConvTransposePow2Scaled>({t, weight, detail::log2_scale_tensor<ConvTransposePow2Scaled>(t, log2_scale)},
                                        detail::transposed_attributes(options));
}
}  // namespace ops

}  // namespace tilewright
