#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/reduce/prod_grad.hpp"
#include "tilewright/ops/reduce/sum.hpp"

namespace tilewright {

namespace kernel {
struct SumRule;
struct SquareSumRule;
struct ProductRule;
struct NormRule;
struct LogSumExpRule;
template <bool largest> struct ExtremeRule;
}  // namespace kernel

/// Base of reductions by a rule of kernel/reduce/rules.hpp. D may define `terms(x)`: the terms of the reduction of the array x.
template <class D, class Rule>
struct RuleReduction : ReductionOp<D> {
  constexpr operator VertexCost() const { return reduction_cost({1, 2}, {1, 4}, Confidence::published); }
  using Attributes = ReductionAttributes;
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y);
  template <PackedAttributes A, class X, class Y>
  static constexpr std::int64_t stack_bytes();
  static auto terms(const auto& x) { return x; }

 private:
  template <PackedAttributes A, class X>
  static constexpr std::uint64_t axes = ReductionRules::axis_bits(unpack<Attributes>(A), X::shape.rank);
  template <PackedAttributes A>
  static constexpr bool keeps = unpack<Attributes>(A).keep_axes != 0;
};

/// The gradient of a reduction that selects an element: inputs (x, y, dy), where y and dy have all axes; result dx, which is dy
/// at the first element that equals y.
template <class D>
struct SelectionGrad : ReductionOp<SelectionGrad<D>> {
  // Loops, not arrays: what an element gets depends on those before it.
  using Base = ReductionOp<SelectionGrad<D>>;
  static constexpr std::string_view name = GradientName<D>::value;
  constexpr operator VertexCost() const { return line_cost(2, {10, 2}, {10, 4}); }
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const Shape& x = operands[0].shape;
    const auto bits = Base::axis_bits(unpack<ReductionAttributes>(packed), x.rank);
    Work work;
    for (int axis = 0; axis < x.rank; ++axis) {
      const bool reduced = (bits >> axis & 1) != 0;
      work.add_axis(
          {.extent = x[axis], .kind = reduced ? WorkAxisKind::whole : WorkAxisKind::parallel, .vectorised = axis == x.rank - 1});
      for (int operand = 0; operand < static_cast<int>(operands.size()); ++operand)
        if (!reduced || operand == 0 || operand + 1 == static_cast<int>(operands.size())) work.follow(operand, axis, axis);
    }
    return work;
  }
  /// dy gets the gradient's elements at the places of selected elements. x and y only select, so their derivatives are 0.
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(2)) return;
    const TensorSpec dy = op.input_spec(2);
    const Tensor one = op.ir().constant(List<double>{1}, dy.shape, dy.dtype);
    const Tensor is_selected = apply<SelectionGrad>({op.input(0), op.input(1), one}, op.attributes<ReductionAttributes>());
    op.input_gradient(2, ops::sum_to(is_selected * op.output_gradient(0), dy.shape));
  }
  template <PackedAttributes A, class... V>
  static void compute(V... views);
  template <PackedAttributes A, class... V>
  static constexpr std::int64_t stack_bytes();

 private:
  /// The reduced axes of x, as bits.
  template <PackedAttributes A, class X, class...>
  static constexpr auto reduced = Base::axis_bits(unpack<ReductionAttributes>(A), X::shape.rank);
};
/// Base of reductions that select an element.
template <class D, class Rule>
struct SelectionOp : RuleReduction<D, Rule> {
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    using Base = ReductionOp<D>;
    const auto forward = op.attributes<typename Base::Attributes>();
    typename ReductionOp<SelectionGrad<D>>::Attributes attributes{.count = forward.count, .axes = forward.axes};
    op.input_gradient(
        0, apply<SelectionGrad<D>>(
               {op.input(0), Base::with_all_axes(op, op.output(0)), Base::with_all_axes(op, op.output_gradient(0))}, attributes));
  }
};

/// Base of ReduceMax and ReduceMin. D defines `name`.
template <class D, bool largest>
struct ExtremeReduction : SelectionOp<D, kernel::ExtremeRule<largest>> {
  static constexpr WorkAxisKind axis_kind = WorkAxisKind::reduction;
  constexpr operator CutRules() const { return CutRules{.partials = partials, .partials_dtype = partials_dtype}; }
  static constexpr Partials partials(const PackedAttributes&) { return D::combined_by_itself(); }
  static constexpr DType partials_dtype(const PackedAttributes&, DType output) { return output; }
};
struct ReduceMax : ExtremeReduction<ReduceMax, true> {
  static constexpr std::string_view name = "ReduceMax";
};
struct ReduceMin : ExtremeReduction<ReduceMin, false> {
  static constexpr std::string_view name = "ReduceMin";
};
struct ReduceMedian : SelectionOp<ReduceMedian, void> {
  static constexpr std::string_view name = "ReduceMedian";
  constexpr operator VertexCost() const { return reduction_cost({40, 1}, {40, 1}); }
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y);
  template <PackedAttributes, class...>
  static constexpr std::int64_t stack_bytes();
};

struct ReduceProd : RuleReduction<ReduceProd, kernel::ProductRule> {
  static constexpr std::string_view name = "ReduceProd";
  static constexpr WorkAxisKind axis_kind = WorkAxisKind::reduction;
  constexpr operator CutRules() const { return CutRules{.partials = partials}; }
  static constexpr Partials partials(const PackedAttributes&) { return combined_by_itself(); }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const DType dtype = op.input_spec(0).dtype;
    const DType computed = computed_dtype(dtype);  // the products before each element wait in the result
    const auto forward = op.attributes<Attributes>();
    const Tensor dx = apply<ReduceProdGrad>({op.input(0).cast(computed), with_all_axes(op, op.output_gradient(0)).cast(computed)},
                                            {.count = forward.count, .axes = forward.axes});
    op.input_gradient(0, dx.cast(dtype));
  }
};

struct ReduceSumSquare : RuleReduction<ReduceSumSquare, kernel::SquareSumRule> {
  static constexpr std::string_view name = "ReduceSumSquare";
  constexpr operator VertexCost() const { return sum_cost(); }
  static constexpr WorkAxisKind axis_kind = WorkAxisKind::reduction;
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const DType dtype = op.input_spec(0).dtype, computed = computed_dtype(dtype);  // 2 dy may leave the range of half precision
    const Tensor x = op.input(0).cast(computed), dy = with_all_axes(op, op.output_gradient(0)).cast(computed);
    op.input_gradient(0, (x * (2 * dy)).cast(dtype));
  }
};

/// dy with the sign of x, 0 at 0.
struct ReduceL1Grad : Elementwise<ReduceL1Grad> {
  static constexpr std::string_view name = "ReduceL1Grad";
  constexpr operator VertexCost() const { return binary_map_cost({7, 2}, {7, 4}); }
  template <class X> static X forward(X x, X dy) {
    const X zero = math::number<X>(0);
    return math::select(x > zero, dy, math::select(x < zero, -dy, zero));
  }
  static constexpr void gradient(GradientContext& op) { detail::gradient_of_linear<ReduceL1Grad, 1>(op); }
};
struct ReduceL1 : RuleReduction<ReduceL1, kernel::SumRule> {
  static constexpr std::string_view name = "ReduceL1";
  static auto terms(const auto& x) { return abs(x); }
  constexpr operator VertexCost() const { return reduction_cost({2, 2}, {2, 4}); }
  static constexpr WorkAxisKind axis_kind = WorkAxisKind::reduction;
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, apply<ReduceL1Grad>({op.input(0), with_all_axes(op, op.output_gradient(0))}));
  }
};

/// Base of a function F of a reduction R of floating-point numbers. It is planned as two ops, and half precision is rounded once.
template <class D, class R, class F>
struct FunctionOfReduction : ReductionOp<D> {
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::composite}; }
  static constexpr void infer(Inference& op) {
    if (op.require_floating_point(0)) ReductionOp<D>::infer(op);
  }
  static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    TensorSpec computed = operands[1];
    computed.dtype = computed_dtype(computed.dtype);
    List<OpPart> parts;
    parts.push_back({&op_info<R>, packed, {0}, {computed}});
    parts.push_back({&op_info<F>, {}, {1}, {computed}});
    if (computed != operands[1])
      parts.push_back({&op_info<Cast>, pack(Cast::Attributes{static_cast<std::int64_t>(operands[1].dtype)}), {2}, {operands[1]}});
    return parts;
  }
};

/// dy x / y, and 0 where y is 0.
struct ReduceL2Grad : Elementwise<ReduceL2Grad> {
  static constexpr std::string_view name = "ReduceL2Grad";
  constexpr operator VertexCost() const { return binary_map_cost({18, 2}, {30, 4}); }
  template <class X> static X forward(X x, X y, X dy) {
    const X zero = math::number<X>(0);
    return math::select(y == zero, zero, math::divide(x, y) * dy);
  }
  static constexpr void gradient(GradientContext& op) {
    const Tensor x = op.input(0), y = op.input(1), dy = op.input(2), gradient = op.output_gradient(0);
    if (op.needs(0)) op.input_gradient(0, apply<ReduceL2Grad>({gradient, y, dy}));
    if (op.needs(1)) {
      const Tensor quotient = apply<ReduceL2Grad>({x, y, gradient});
      op.input_gradient(1, -ops::sum_to(apply<ReduceL2Grad>({quotient, y, dy}), op.input_spec(1).shape));
    }
    detail::gradient_of_linear<ReduceL2Grad, 2>(op);
  }
};
struct ReduceL2 : RuleReduction<ReduceL2, kernel::NormRule> {
  static constexpr std::string_view name = "ReduceL2";
  constexpr operator VertexCost() const { return sum_cost(); }
  static constexpr WorkAxisKind axis_kind = WorkAxisKind::reduction;
  constexpr operator CutRules() const { return CutRules{.partials = partials}; }
  static constexpr Partials partials(const PackedAttributes&) { return combined_by_itself(); }
  static constexpr void infer(Inference& op) {
    if (op.require_floating_point(0)) ReductionOp::infer(op);
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const DType dtype = op.input_spec(0).dtype, computed = computed_dtype(dtype);
    const Tensor x = op.input(0).cast(computed), dy = with_all_axes(op, op.output_gradient(0)).cast(computed);
    Tensor y = op.output(0);
    if (is_half(dtype)) y = apply<ReduceL2>({x}, op.attributes<Attributes>());  // what is stored is rounded
    op.input_gradient(0, apply<ReduceL2Grad>({x, with_all_axes(op, y), dy}).cast(dtype));
  }
};
struct ReduceLogSum : FunctionOfReduction<ReduceLogSum, ReduceSum, Log> {
  static constexpr std::string_view name = "ReduceLogSum";
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const TensorSpec x = op.input_spec(0);
    const DType computed = computed_dtype(x.dtype);  // a sum may be larger than half precision has
    const auto forward = op.attributes<Attributes>();
    const Tensor sum = apply<ReduceSum>({op.input(0).cast(computed)},
                                        {.count = forward.count, .axes = forward.axes, .keep_axes = 1});
    const Tensor dx = with_all_axes(op, op.output_gradient(0)).cast(computed) / sum;
    op.input_gradient(0, ops::expand(dx.cast(x.dtype), x.shape));
  }
};

/// exp(x - y): 0 where x is -infinity, even if y is, and 1 where x is y, even if both are infinite.
struct LogSumExpShare : Elementwise<LogSumExpShare> {
  static constexpr std::string_view name = "LogSumExpShare";
  constexpr operator VertexCost() const { return binary_map_cost({12, 2}, {10, 4}); }
  template <class X> static X forward(X x, X y) {
    const X zero = math::number<X>(0), nothing = math::number<X>(-std::numeric_limits<double>::infinity());
    return math::select(x == nothing, zero, math::exp(math::select(x == y, zero, x - y)));
  }
  static constexpr void gradient(GradientContext& op) {
    const Tensor scaled = op.output_gradient(0) * op.output(0);
    if (op.needs(0)) op.input_gradient(0, scaled);
    if (op.needs(1)) op.input_gradient(1, -ops::sum_to(scaled, op.input_spec(1).shape));
  }
};
struct ReduceLogSumExp : RuleReduction<ReduceLogSumExp, kernel::LogSumExpRule> {
  static constexpr std::string_view name = "ReduceLogSumExp";
  constexpr operator VertexCost() const { return reduction_cost({23, 2}, {13, 4}, Confidence::published); }
  static constexpr WorkAxisKind axis_kind = WorkAxisKind::reduction;
  constexpr operator CutRules() const { return CutRules{.partials = partials}; }
  static constexpr Partials partials(const PackedAttributes&) { return combined_by_itself(); }
  static constexpr void infer(Inference& op) {
    if (op.require_floating_point(0)) ReductionOp::infer(op);
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const DType dtype = op.input_spec(0).dtype, computed = computed_dtype(dtype);
    const Tensor x = op.input(0).cast(computed), dy = with_all_axes(op, op.output_gradient(0)).cast(computed);
    const Tensor shares = apply<LogSumExpShare>({x, with_all_axes(op, op.output(0)).cast(computed)});
    const auto forward = op.attributes<Attributes>();
    const Tensor sum = apply<ReduceSum>({shares}, {.count = forward.count, .axes = forward.axes, .keep_axes = 1});
    op.input_gradient(0, apply<ReduceL2Grad>({shares, sum, dy}).cast(dtype));  // y is rounded, but by the same for all
  }
};

/// Reductions over axes: all of them by default, or one or several, each at most once; negative ones count from the last. The
/// result has x's dtype, and x's shape without the reduced axes, or with extent 1 if `keep_axes`. bool is an error.
namespace ops {
/// Returns the largest element over axes; NaN if one is NaN. x: any number type. Gradient: dy for that element, the first of
/// equal elements.
[[nodiscard]] constexpr Tensor(max)(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceMax>({x}, ReduceMax::make(axes, keep_axes));
}
/// Returns the smallest element over axes; NaN if one is NaN. x: any number type. Gradient: dy for that element, the first of
/// equal elements.
[[nodiscard]] constexpr Tensor(min)(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceMin>({x}, ReduceMin::make(axes, keep_axes));
}
/// Returns the median over axes, the lower of the two in the middle for an even number of elements; NaN if one is NaN. x: any
/// number type. Gradient: dy for that element, the first of equal elements.
[[nodiscard]] constexpr Tensor median(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceMedian>({x}, ReduceMedian::make(axes, keep_axes));
}
/// Returns the product over axes. x: any number type; integers wrap around. Gradient: dy times the product of the other elements,
/// computed without a division, so zeros need no special case.
[[nodiscard]] constexpr Tensor prod(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceProd>({x}, ReduceProd::make(axes, keep_axes));
}
/// Returns the sum of x^2 over axes. x: any number type; integers wrap around. Gradient: 2 x dy.
[[nodiscard]] constexpr Tensor sumsquare(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceSumSquare>({x}, ReduceSumSquare::make(axes, keep_axes));
}
/// Returns the sum of |x| over axes. x: any number type; integers wrap around. Gradient: sign(x) dy, 0 at 0.
[[nodiscard]] constexpr Tensor l1(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceL1>({x}, ReduceL1::make(axes, keep_axes));
}
/// Returns the square root of the sum of x^2 over axes, correct even if squares leave the range of float32. x: float16, bfloat16,
/// float32 or float64. Gradient: dy x / y, and 0 where y is 0, as in PyTorch.
[[nodiscard]] constexpr Tensor l2(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceL2>({x}, ReduceL2::make(axes, keep_axes));
}
/// Returns the logarithm of the sum over axes; NaN for a sum below 0. x: float16, bfloat16, float32 or float64. Gradient: dy /
/// sum(x).
[[nodiscard]] constexpr Tensor logsum(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceLogSum>({x}, ReduceLogSum::make(axes, keep_axes));
}
/// Returns log(sum(exp(x))) over axes, computed from x less its largest element, so that nothing overflows. x: float16, bfloat16,
/// float32 or float64. Gradient: dy exp(x - y), in shares whose sum is dy however large x is; 0 where x is -infinity, and dy
/// where x equals an infinite y. (PyTorch's is NaN where y is infinite, and that of large x has the rounding of y.)
[[nodiscard]] constexpr Tensor logsumexp(Tensor x, const Axes& axes = {}, Flag keep_axes = false) {
  return apply<ReduceLogSumExp>({x}, ReduceLogSumExp::make(axes, keep_axes));
}
}  // namespace ops

}  // namespace tilewright
