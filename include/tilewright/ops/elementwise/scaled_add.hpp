#pragma once
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/program/number_or_tensor.hpp"

namespace tilewright {

/// Factors of a x + b y: numbers, or tensors of one element.
struct ScaledAddFactors {
  NumberOrTensor a = 1, b = 1;  ///< of x, and of y
};

/// a X + b Y. The factors are numbers or further inputs, a before b. X and Y are not broadcast; their dtypes may differ, and the
/// result has X's.
template <class D>
struct ScaledAddOp : Elementwise<D> {
  constexpr operator VertexCost() const { return formula_cost(CostFormula::scaled_add, Confidence::published); }
  struct Attributes {
    double a = 1, b = 1;
    std::int64_t inputs = 0;  ///< bits: 1 if a is an input, 2 if b is
  };
  static constexpr void infer(Inference& op) {
    const TensorSpec &x = op.input(0), &y = op.input(1);
    for (int i = 0; i < op.input_count(); ++i)
      if (!(is_int(x.dtype) ? op.require_equal_dtypes(0, i) : op.require_floating_point(i))) return;
    if (x.shape != y.shape) return op.fail(to_text(x), " and ", to_text(y), ": equal shapes expected");
    for (int i = 2; i < op.input_count(); ++i)
      if (op.input(i).nelms() != 1) return op.fail("factor ", to_text(op.input(i)), ": one element expected");
    const auto factors = op.template attributes<Attributes>();
    if (!op.require_number("a", factors.a, x.dtype) || !op.require_number("b", factors.b, x.dtype)) return;
    op.output(x);
  }
  template <class X, class Y>
  static X forward(X x, Y y, Attributes attributes) {
    return math::fma(math::number<X>(attributes.b), X(y), math::multiply(math::number<X>(attributes.a), x));
  }
  template <class X, class Y, class F>
  static X forward(X x, Y y, F factor, Attributes attributes) {
    if (attributes.inputs == 1) return math::fma(math::number<X>(attributes.b), X(y), math::multiply(X(factor), x));
    return math::fma(X(factor), X(y), math::multiply(math::number<X>(attributes.a), x));
  }
  template <class X, class Y, class A, class B>
  static X forward(X x, Y y, A a, B b, Attributes) {
    return math::fma(X(b), X(y), math::multiply(X(a), x));
  }
};
struct ScaledAdd : ScaledAddOp<ScaledAdd> {
  static constexpr std::string_view name = "ScaledAdd";
  static constexpr void gradient(GradientContext& op) {
    const auto attributes = op.attributes<Attributes>();
    int factor = 2;                // the next input that is a factor
    for (int i = 0; i < 2; ++i) {  // X and its factor a, Y and b
      const bool is_input = (attributes.inputs & (i + 1)) != 0;
      if (op.needs(i)) {
        const Tensor dy = op.output_gradient(0);
        const Tensor scaled = is_input ? dy * op.input(factor).reshape({}).cast(dy.dtype())
                                       : dy * (i == 0 ? attributes.a : attributes.b);
        op.input_gradient(i, scaled.cast(op.input_spec(i).dtype));
      }
      if (is_input && op.needs(factor)) {  // da = sum(X dy), db = sum(Y dy)
        const Tensor dy = op.output_gradient(0);
        const Tensor total = ops::sum(op.input(i).cast(dy.dtype()) * dy);
        op.input_gradient(factor, total.reshape(op.input_spec(factor).shape).cast(op.input_spec(factor).dtype));
      }
      factor += is_input ? 1 : 0;
    }
  }
};
struct ScaledAddLhsInplace : ScaledAddOp<ScaledAddLhsInplace> {
  static constexpr std::string_view name = "ScaledAddLhsInplace";
  constexpr operator Effects() const { return Effects{.modifies = 0}; }
};

namespace detail {
template <class D>
constexpr Tensor scaled_add(Tensor x, Tensor y, const ScaledAddFactors& factors) {
  typename D::Attributes attributes{factors.a.number, factors.b.number};
  List<Tensor> inputs{x, y};
  if (factors.a.tensor) inputs.push_back(*factors.a.tensor), attributes.inputs |= 1;
  if (factors.b.tensor) inputs.push_back(*factors.b.tensor), attributes.inputs |= 2;
  return at_or_invalid(x.ir(), apply_all<D>(x.ir(), inputs, attributes), 0);
}
}  // namespace detail

namespace ops {
/// Returns a x + b y for tensors of one shape, in x's dtype: scaled_add(x, y, {.b = -0.1}). a and b are numbers or tensors of one
/// element. All are floating point, possibly of different dtypes, or all have one integer dtype, which wraps around.
[[nodiscard]] constexpr Tensor scaled_add(Tensor x, Tensor y, const ScaledAddFactors& factors = {}) {
  return detail::scaled_add<ScaledAdd>(x, y, factors);
}
[[nodiscard]] constexpr Tensor scaled_add(Tensor x, Tensor y, const NumberOrTensor& a, const NumberOrTensor& b) {
  return scaled_add(x, y, ScaledAddFactors{a, b});
}
/// Computes x = a x + b y in place; returns an alias of x. Operands are those of scaled_add. Not differentiable.
constexpr Tensor scaled_add_(Tensor x, Tensor y, const ScaledAddFactors& factors = {}) {
  return detail::scaled_add<ScaledAddLhsInplace>(x, y, factors);
}
constexpr Tensor scaled_add_(Tensor x, Tensor y, const NumberOrTensor& a, const NumberOrTensor& b) {
  return scaled_add_(x, y, ScaledAddFactors{a, b});
}
}  // namespace ops

}  // namespace tilewright
