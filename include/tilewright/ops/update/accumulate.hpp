#pragma once
#include <limits>
#include <string_view>

#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/program/number_or_tensor.hpp"

namespace tilewright {

/// Base of elementwise updates of a variable, input 0. `tensors` inputs have its shape, itself included; further inputs are
/// factors of one element. Floating-point dtypes may differ. If D sets `takes_integers`, all inputs are floating point, or all
/// have one integer dtype. In place; without a gradient.
template <class D, int tensors>
struct VarUpdate : Elementwise<D> {
  constexpr operator Effects() const { return Effects{.modifies = 0}; }
  static constexpr bool takes_integers = false;
  static constexpr void infer(Inference& op) {
    const bool integers = D::takes_integers && is_int(op.input(0).dtype);
    for (int i = 0; i < op.input_count(); ++i)
      if (!(integers ? op.require_equal_dtypes(0, i) : op.require_floating_point(i))) return;
    infer_shapes(op);
  }
  static constexpr void infer_shapes(Inference& op) {
    for (int i = 1; i < tensors; ++i)
      if (op.input(i).shape != op.input(0).shape)
        return op.fail(to_text(op.input(0)), " and ", to_text(op.input(i)), ": equal shapes expected");
    for (int i = tensors; i < op.input_count(); ++i)
      if (op.input(i).nelms() != 1) return op.fail("factor ", to_text(op.input(i)), ": one element expected");
    op.output(op.input(0));
  }
};

/// t = update(t, x, f, 1 - f), where f is a number or the third input; for a number, 1 - f is rounded once. If t has half
/// precision and x another dtype, x is first rounded to t's, as in PopXL. Sums of products are written as math::fma, so that
/// compilers round the same product in vectors and in single elements.
template <class D>
struct AccumulateOp : VarUpdate<D, 2> {
  static constexpr std::string_view name = "Accumulate";
  constexpr operator VertexCost() const { return binary_map_cost({6, 2}, {6, 4}); }
  static constexpr std::string_view factor_name = "f";
  static constexpr double least_factor = std::numeric_limits<double>::lowest();
  struct Attributes {
    double factor = 1;
  };
  static constexpr void infer(Inference& op) {
    const double factor = op.attributes<Attributes>().factor;
    if (!op.require_number(D::factor_name, factor, op.input(0).dtype)) return;
    if (factor < D::least_factor)
      return op.fail(D::factor_name, " ", number_text(factor), ": at least ", number_text(D::least_factor), " expected");
    VarUpdate<D, 2>::infer(op);
  }
  static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, int input_count,
                                       const PackedAttributes& attributes) {
    const TensorSpec &t = operands[0], &x = operands[1];
    List<OpPart> parts;
    if (!is_half(t.dtype) || x.dtype == t.dtype) return parts;
    parts.push_back({&op_info<Cast>, pack(Cast::Attributes{static_cast<std::int64_t>(t.dtype)}), {1}, {{x.shape, t.dtype}}});
    parts.push_back({&op_info<D>, attributes, {0, input_count}, {t}});
    for (int i = 2; i < input_count; ++i) parts[1].inputs.push_back(i);
    return parts;
  }
  template <class T, class X>
  static T forward(T t, X x, Attributes attributes) {
    return D::update(t, T(x), math::number<T>(attributes.factor), math::number<T>(1 - attributes.factor));
  }
  template <class T, class X, class F>
  static T forward(T t, X x, F f, Attributes) {
    return D::update(t, T(x), T(f), math::number<T>(1) - T(f));
  }
};

struct AccumulateAdd : AccumulateOp<AccumulateAdd> {
  constexpr operator VertexCost() const { return formula_cost(CostFormula::scaled_add, Confidence::published); }
  static constexpr bool takes_integers = true;
  template <class T> static T update(T t, T x, T f, T) { return math::fma(f, x, t); }
};
struct AccumulateSquare : AccumulateOp<AccumulateSquare> {
  static constexpr bool takes_integers = true;
  template <class T> static T update(T t, T x, T f, T) { return math::fma(f, math::multiply(x, x), t); }
};
struct AccumulateMean : AccumulateOp<AccumulateMean> {
  static constexpr std::string_view factor_name = "step";
  static constexpr double least_factor = 0;
  template <class T>
  static T update(T t, T x, T step, T) {
    const T part = math::number<T>(1) / (step + math::number<T>(1));
    return math::fma(math::number<T>(1) - part, t, part * x);
  }
};
struct AccumulateMovingAverage : AccumulateOp<AccumulateMovingAverage> {
  template <class T> static T update(T t, T x, T f, T rest) { return math::fma(f, t, rest * x); }
};
struct AccumulateMovingAverageSquare : AccumulateOp<AccumulateMovingAverageSquare> {
  template <class T>
  static T update(T t, T x, T f, T rest) {
    return math::fma(f, t, rest * (x * x));
  }
};

/// t f, and 0 wherever f is 0.
struct AccumulatorScale : VarUpdate<AccumulatorScale, 1> {
  static constexpr std::string_view name = "AccumulatorScale";
  constexpr operator VertexCost() const { return map_cost({3, 2}, {3, 4}, Confidence::derived); }
  static constexpr bool takes_integers = true;
  struct Attributes {
    double factor = 1;
  };
  static constexpr void infer(Inference& op) {
    if (op.require_number("f", op.attributes<Attributes>().factor, op.input(0).dtype)) VarUpdate::infer(op);
  }
  template <class T>
  static T forward(T t, Attributes attributes) {
    return attributes.factor == 0 ? math::number<T>(0) : math::multiply(t, math::number<T>(attributes.factor));
  }
  template <class T, class F>
  static T forward(T t, F f, Attributes) {
    const T zero = math::number<T>(0);
    return math::select(T(f) == zero, zero, math::multiply(t, T(f)));
  }
};

struct CopyVarUpdate : VarUpdate<CopyVarUpdate, 2> {
  static constexpr std::string_view name = "CopyVarUpdate";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::copy, Confidence::published); }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_float8 = true}; }
  static constexpr void infer(Inference& op) {
    if (op.input(0).dtype == op.input(1).dtype) infer_shapes(op);
    else if (!is_float8(op.input(0).dtype) && !is_float8(op.input(1).dtype)) infer_shapes(op);
    else op.require_equal_dtypes(0, 1);
  }
  template <class T, class X> static X forward(T, X x) { return x; }
};

namespace detail {
template <class Update>
constexpr Tensor accumulate(Tensor t, Tensor x, const NumberOrTensor& f) {
  return f.tensor ? apply<Update>({t, x, *f.tensor}) : apply<Update>({t, x}, {f.number});
}
}  // namespace detail

/// Updates of optimisers' variables. t: float16, bfloat16, float32 or float64; x: t's shape, float16, bfloat16, float32 or
/// float64; f: a number or a tensor of one element. They write t in place and return an alias of it. They have no gradient. They
/// cast x to t's dtype and compute in float32; the result is rounded once. accumulate_, accumulate_square_, accumulator_scale_
/// and accumulator_zero_ also take integers of one dtype, which wrap around.
namespace ops {
/// Adds in place: t = t + f x. Returns an alias of t.
constexpr Tensor accumulate_(Tensor t, Tensor x, const NumberOrTensor& f = 1) {
  return detail::accumulate<AccumulateAdd>(t, x, f);
}
/// Adds the square in place: t = t + f x^2. Returns an alias of t.
constexpr Tensor accumulate_square_(Tensor t, Tensor x, const NumberOrTensor& f = 1) {
  return detail::accumulate<AccumulateSquare>(t, x, f);
}
/// Updates a mean in place: t = t step / (step + 1) + x / (step + 1), where t is the mean of `step` tensors. Does not change
/// `step`. Returns an alias of t.
constexpr Tensor accumulate_mean_(Tensor t, Tensor x, const NumberOrTensor& step) {
  return detail::accumulate<AccumulateMean>(t, x, step);
}
/// Updates a moving average in place: t = f t + (1 - f) x. Returns an alias of t.
constexpr Tensor accumulate_moving_average_(Tensor t, Tensor x, const NumberOrTensor& f) {
  return detail::accumulate<AccumulateMovingAverage>(t, x, f);
}
/// Updates a moving average of squares in place: t = f t + (1 - f) x^2. Returns an alias of t.
constexpr Tensor accumulate_moving_average_square_(Tensor t, Tensor x, const NumberOrTensor& f) {
  return detail::accumulate<AccumulateMovingAverageSquare>(t, x, f);
}
/// Scales in place: t = f t. If f is 0, t becomes 0, even from NaN. Returns an alias of t.
constexpr Tensor accumulator_scale_(Tensor t, const NumberOrTensor& f) {
  return f.tensor ? apply<AccumulatorScale>({t, *f.tensor}) : apply<AccumulatorScale>({t}, {f.number});
}
/// Sets t to 0 in place. Returns an alias of t.
constexpr Tensor accumulator_zero_(Tensor t) { return accumulator_scale_(t, 0); }
/// Copies x to t in place, converted as by cast. Any dtypes; float8 only from the same float8. Returns an alias of t.
constexpr Tensor copy_var_update_(Tensor t, Tensor x) { return apply<CopyVarUpdate>({t, x}); }

}  // namespace ops

}  // namespace tilewright
