#pragma once
#include <limits>

#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/ops/update/adam.hpp"

namespace tilewright {

/// The sum of all elements' squares, a float32 scalar. Each vertex has its part of the sum.
struct LambSquare : Op<LambSquare> {
  static constexpr std::string_view name = "LambSquare";
  constexpr operator VertexCost() const { return reduction_cost({2, 2}, {2, 4}); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction, .code_kind = CodeKind::other}; }
  static constexpr void infer(Inference& op) {
    if (op.require_floating_point(0)) op.output({Shape{}, float32});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    const Shape& shape = operands[0].shape;
    for (int axis = 0; axis < shape.rank; ++axis)
      work.follow(0, axis,
                  work.add_axis({.extent = shape[axis], .kind = WorkAxisKind::summed, .vectorised = axis == shape.rank - 1}));
    return work;
  }
  template <PackedAttributes, class X, class Sum>
  static void compute(X x, Sum sum);
};

/// min(sqrt(r1), max_weight_norm) / sqrt(r2) learning_rate: inputs (r1, r2[, learning_rate][, max_weight_norm]).
struct TrustRatio : Op<TrustRatio> {
  static constexpr std::string_view name = "TrustRatio";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::other, {60, 1}, {60, 1}); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map, .code_kind = CodeKind::other}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  struct Attributes {
    std::int64_t inputs = 0;  ///< bits: 1 if learning_rate is an input, 2 if max_weight_norm is
    double learning_rate = 0, max_weight_norm = 0;
  };
  static constexpr void infer(Inference& op) { op.output({Shape{}, float32}); }
  static constexpr Work work(std::span<const TensorSpec>, int, const PackedAttributes&) { return Work{}; }
  template <PackedAttributes A, class R1, class R2, class... V>
  static void compute(R1 r1, R2 r2, V... views);
};
/// t - factor x in place: inputs (t, x, factor).
struct TrustedStep : VarUpdate<TrustedStep, 2> {
  static constexpr std::string_view name = "AdamVarUpdate";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::scaled_add, Confidence::published); }
  template <class T, class X, class F>
  static T forward(T t, X x, F factor) {
    return math::fma(-T(factor), T(x), t);
  }
};

/// t - learning_rate trust x in place: inputs (t, x, r1, r2[, learning_rate][, max_weight_norm]).
struct AdamVarUpdate : VarUpdate<AdamVarUpdate, 2> {
  static constexpr std::string_view name = "AdamVarUpdate";
  constexpr operator VertexCost() const { return TrustedStep{}; }
  using Attributes = TrustRatio::Attributes;
  static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, int input_count,
                                       const PackedAttributes& attributes) {
    OpPart ratio{&op_info<TrustRatio>, attributes, {}, {{Shape{}, float32}}};
    for (int i = 2; i < input_count; ++i) ratio.inputs.push_back(i);
    List<OpPart> parts;
    parts.push_back(std::move(ratio));
    parts.push_back({&op_info<TrustedStep>, {}, {0, 1, input_count}, {operands[0]}});
    return parts;
  }
};

namespace ops {
/// Returns the sum of the squares of x's elements, a float32 scalar. x: any shape, float16, bfloat16, float32 or float64.
[[nodiscard]] constexpr Tensor lamb_square(Tensor x) { return apply<LambSquare>({x}); }
/// Returns the step of LAMB before adam_var_update scales it, which is Adam's. Options and errors are those of adam_updater.
[[nodiscard]] constexpr Tensor lamb_updater(Tensor m, Tensor v, const AdamOptions& options = {}) {
  return adam_updater(m, v, options);
}
/// Subtracts a scaled step in place: t = t - learning_rate trust x with trust = min(sqrt(r1), max_weight_norm) / sqrt(r2), or 1
/// where r1 or r2 is 0 ("Large Batch Optimization for Deep Learning", arXiv 1904.00962). r1, r2: one element, the squared norms
/// of t and of x, from lamb_square. Returns an alias of t.
constexpr Tensor adam_var_update(Tensor t, Tensor x, Tensor r1, Tensor r2, const NumberOrTensor& learning_rate,
                                 const NumberOrTensor& max_weight_norm = std::numeric_limits<double>::infinity()) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!t.is_usable()) return t;
  if (!detail::check_parameter(t.ir(), "AdamVarUpdate", "learning_rate", learning_rate) ||
      (max_weight_norm.number != infinity &&
       !detail::check_parameter(t.ir(), "AdamVarUpdate", "max_weight_norm", max_weight_norm)))
    return Tensor::invalid(t.ir());
  TrustRatio::Attributes attributes{0, learning_rate.number, max_weight_norm.number};
  List<Tensor> inputs{t, x, r1, r2};
  if (learning_rate.tensor) inputs.push_back(*learning_rate.tensor), attributes.inputs |= 1;
  if (max_weight_norm.tensor) inputs.push_back(*max_weight_norm.tensor), attributes.inputs |= 2;
  return at_or_invalid(t.ir(), apply_all<AdamVarUpdate>(t.ir(), inputs, attributes), 0);
}
}  // namespace ops

}  // namespace tilewright
