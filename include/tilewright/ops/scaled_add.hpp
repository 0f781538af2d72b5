#pragma once
#include "tilewright/ops/arithmetic.hpp"
#include "tilewright/ops/cast.hpp"

namespace tilewright {

/// The factors of a x + b y.
struct ScaledAddFactors {
  double a = 1, b = 1;
};

/// a X + b Y with numbers, or with scalar tensors as third and fourth input. No broadcasting of X and Y; their dtypes may
/// differ, the result has X's.
template <class D>
struct ScaledAddOp : Elementwise<D> {
  using Attributes = ScaledAddFactors;
  static constexpr void infer(Inference& op) {
    const TensorSpec &x = op.input(0), &y = op.input(1);
    if (x.shape != y.shape) return op.fail(to_text(x), " and ", to_text(y), ": equal shapes expected");
    for (int i = 2; i < op.input_count(); ++i)
      if (op.input(i).nelms() != 1) return op.fail("factor ", to_text(op.input(i)), ": one element expected");
    op.output(x);
  }
  template <class X, class Y>
  static X forward(X x, Y y, Attributes attributes) {
    return math::fma(math::number<X>(attributes.b), X(y), math::number<X>(attributes.a) * x);
  }
  template <class X, class Y, class A, class B>
  static X forward(X x, Y y, A a, B b, Attributes) {
    return math::fma(X(b), X(y), X(a) * x);
  }
};
struct ScaledAdd : ScaledAddOp<ScaledAdd> {
  static constexpr std::string_view name = "ScaledAdd";
  static constexpr void gradient(GradientContext& op) {
    const auto attributes = op.attributes<Attributes>();
    const bool tensors = op.input_count() == 4;
    for (int i = 0; i < 2; ++i) {
      if (!op.needs(i)) continue;
      const Tensor dy = op.output_gradient(0);
      const Tensor scaled = tensors ? dy * op.input(2 + i).reshape({}).cast(dy.dtype())
                                    : dy * (i == 0 ? attributes.a : attributes.b);
      op.input_gradient(i, scaled.cast(op.input_spec(i).dtype));
    }
    for (int i = 2; i < op.input_count(); ++i) {  // da = sum(X dy), db = sum(Y dy)
      if (!op.needs(i)) continue;
      const Tensor dy = op.output_gradient(0);
      const Tensor total = ops::sum(op.input(i - 2).cast(dy.dtype()) * dy);
      op.input_gradient(i, total.reshape(op.input_spec(i).shape).cast(op.input_spec(i).dtype));
    }
  }
};
struct ScaledAddLhsInplace : ScaledAddOp<ScaledAddLhsInplace> {
  static constexpr std::string_view name = "ScaledAddLhsInplace";
  static constexpr int modifies = 0;
};

namespace ops {
/// a x + b y for tensors of one shape; the result has x's dtype: scaled_add(x, y, {.b = -0.1}).
constexpr Tensor scaled_add(Tensor x, Tensor y, const ScaledAddFactors& factors = {}) {
  return apply<ScaledAdd>({x, y}, factors);
}
/// As above with scalar tensors as factors.
constexpr Tensor scaled_add(Tensor x, Tensor y, Tensor a, Tensor b) { return apply<ScaledAdd>({x, y, a, b}); }
/// x = a x + b y in place; returns an alias of x. Not differentiable.
constexpr Tensor scaled_add_(Tensor x, Tensor y, const ScaledAddFactors& factors = {}) {
  return apply<ScaledAddLhsInplace>({x, y}, factors);
}
constexpr Tensor scaled_add_(Tensor x, Tensor y, Tensor a, Tensor b) { return apply<ScaledAddLhsInplace>({x, y, a, b}); }
}  // namespace ops

}  // namespace tilewright
