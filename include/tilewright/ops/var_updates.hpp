#pragma once
#include <limits>
#include <optional>

#include "tilewright/graph/number_or_tensor.hpp"
#include "tilewright/ops/arithmetic.hpp"

namespace tilewright {

/// Base of updates of a variable, input 0, by its place's element of other tensors of its shape: `tensors` of them, itself
/// included; further inputs are factors of one element. Dtypes may differ. In place; without a gradient.
template <class D, int tensors>
struct VarUpdate : Elementwise<D> {
  static constexpr int modifies = 0;
  static constexpr void infer(Inference& op) {
    for (int i = 0; i < op.input_count(); ++i)
      if (!op.require_floating_point(i)) return;
    for (int i = 1; i < tensors; ++i)
      if (op.input(i).shape != op.input(0).shape)
        return op.fail(to_text(op.input(0)), " and ", to_text(op.input(i)), ": equal shapes expected");
    for (int i = tensors; i < op.input_count(); ++i)
      if (op.input(i).nelms() != 1) return op.fail("factor ", to_text(op.input(i)), ": one element expected");
    op.output(op.input(0));
  }
};

/// t = update(t, x, f), where f is a number or the third input.
template <class D>
struct AccumulateOp : VarUpdate<D, 2> {
  static constexpr std::string_view name = "Accumulate";
  struct Attributes {
    double factor = 1;
  };
  template <class T, class X>
  static T forward(T t, X x, Attributes attributes) {
    return D::update(t, T(x), math::number<T>(attributes.factor));
  }
  template <class T, class X, class F>
  static T forward(T t, X x, F f, Attributes) {
    return D::update(t, T(x), T(f));
  }
};

struct AccumulateAdd : AccumulateOp<AccumulateAdd> {
  template <class T> static T update(T t, T x, T f) { return t + f * x; }
};
struct AccumulateSquare : AccumulateOp<AccumulateSquare> {
  template <class T> static T update(T t, T x, T f) { return t + f * (x * x); }
};
struct AccumulateMean : AccumulateOp<AccumulateMean> {
  template <class T>
  static T update(T t, T x, T step) {
    const T part = math::number<T>(1) / (step + math::number<T>(1));
    return (math::number<T>(1) - part) * t + part * x;
  }
};
struct AccumulateMovingAverage : AccumulateOp<AccumulateMovingAverage> {
  template <class T> static T update(T t, T x, T f) { return f * t + (math::number<T>(1) - f) * x; }
};
struct AccumulateMovingAverageSquare : AccumulateOp<AccumulateMovingAverageSquare> {
  template <class T> static T update(T t, T x, T f) { return f * t + (math::number<T>(1) - f) * (x * x); }
};

/// t f, and 0 wherever f is 0.
struct AccumulatorScale : VarUpdate<AccumulatorScale, 1> {
  static constexpr std::string_view name = "AccumulatorScale";
  struct Attributes {
    double factor = 1;
  };
  template <class T>
  static T forward(T t, Attributes attributes) {
    return attributes.factor == 0 ? math::number<T>(0) : t * math::number<T>(attributes.factor);
  }
  template <class T, class F>
  static T forward(T t, F f, Attributes) {
    const T zero = math::number<T>(0);
    return math::select(T(f) == zero, zero, t * T(f));
  }
};

struct CopyVarUpdate : VarUpdate<CopyVarUpdate, 2> {
  static constexpr std::string_view name = "CopyVarUpdate";
  template <class T, class X> static T forward(T, X x) { return T(x); }
};

/// 1 / (1 - beta1^t) and 1 / (1 - beta2^t) for the time step t, input 0: what corrects Adam's moments. An op of its own, so that
/// the updater is a formula of elements, which can be part of the epilogue of the product that makes the gradient.
struct AdamFactors : Op<AdamFactors> {
  static constexpr std::string_view name = "AdamFactors";
  static constexpr bool any_layout = true;
  struct Attributes {
    std::int64_t inputs = 0;  ///< bits: 1 if beta1 is the next input, 2 if beta2 is
    double beta1 = 0, beta2 = 0;
  };
  static constexpr void infer(Inference& op) {
    for (int i = 0; i < op.input_count(); ++i) {
      if (!op.require_floating_point(i)) return;
      if (op.input(i).nelms() != 1) return op.fail("factor ", to_text(op.input(i)), ": one element expected");
    }
    op.output({Shape{}, float32});
    op.output({Shape{}, float32});
  }
  static constexpr Work work(std::span<const TensorSpec>, int, const PackedAttributes&) { return Work{}; }
  template <PackedAttributes A, class... V>
  static void compute(V... views) {
    constexpr auto attributes = unpack<Attributes>(A);
    constexpr bool first = (attributes.inputs & 1) != 0, second = (attributes.inputs & 2) != 0;
    const auto operands = std::tie(views...);
    const auto value = [&]<bool is_input, std::size_t i>(double number) {
      if constexpr (is_input) return static_cast<double>(std::get<i>(operands).data[0]);
      else return number;
    };
    // in double precision: for the first steps beta^t is close to 1
    const double step = static_cast<double>(std::get<0>(operands).data[0]);
    const double beta1 = value.template operator()<first, 1>(attributes.beta1);
    const double beta2 = value.template operator()<second, first ? 2 : 1>(attributes.beta2);
    std::get<sizeof...(V) - 2>(operands).data[0] = static_cast<float>(1 / (1 - std::pow(beta1, step)));
    std::get<sizeof...(V) - 1>(operands).data[0] = static_cast<float>(1 / (1 - std::pow(beta2, step)));
  }
};

struct AdamAttributes {
  std::int64_t is_corrected = 0;  ///< 1: the last two inputs are the moments' factors
  std::int64_t decays = 0;        ///< 1: the third input is the weight; 2: and the fourth is the factor of its decay
  double weight_decay = 0, epsilon = 0;
};

/// Base of the steps that Adam and its like take. D gives `term(mean, deviation, epsilon)` of the corrected moments.
template <class D>
struct AdamOp : Elementwise<D> {
  static constexpr std::string_view name = "AdamUpdater";
  using Attributes = AdamAttributes;

  static constexpr void infer(Inference& op) {
    const auto attributes = op.template attributes<Attributes>();
    for (int i = 0; i < op.input_count(); ++i)
      if (!op.require_floating_point(i)) return;
    if (op.input(1).shape != op.input(0).shape)
      return op.fail("moments ", to_text(op.input(0)), " and ", to_text(op.input(1)), ": equal shapes expected");
    if (attributes.decays == 2 && op.input(3).nelms() != 1)
      return op.fail("factor ", to_text(op.input(3)), ": one element expected");
    if (attributes.decays == 0) return op.output(op.input(0));
    const TensorSpec& weights = op.input(2);
    if (weights.shape != op.input(0).shape)
      return op.fail("moments ", to_text(op.input(0)), " of weight ", to_text(weights), ": equal shapes expected");
    op.output(weights);
  }
  /// Of m, v, the other inputs, and the attributes.
  template <class X, class... Rest>
  static X forward(X m, X v, const Rest&... rest) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto all = std::tie(rest...);
      const Attributes& attributes = std::get<sizeof...(i)>(all);
      const X inputs[] = {m, v, X(std::get<i>(all))...};
      constexpr std::size_t count = 2 + sizeof...(i);
      if (attributes.is_corrected != 0) m = m * inputs[count - 2], v = v * inputs[count - 1];
      X term = D::term(m, v, math::number<X>(attributes.epsilon));
      if (attributes.decays == 1)
        term = term + math::number<X>(attributes.weight_decay) * inputs[std::min<std::size_t>(2, count - 1)];
      if (attributes.decays == 2)
        term = term + inputs[std::min<std::size_t>(3, count - 1)] * inputs[std::min<std::size_t>(2, count - 1)];
      return term;
    }(std::make_index_sequence<sizeof...(Rest) - 1>{});
  }
};

/// m / (sqrt(v) + epsilon) ("Adam: A Method for Stochastic Optimization", arXiv 1412.6980, algorithm 1).
struct AdamUpdater : AdamOp<AdamUpdater> {
  template <class X> static X term(X m, X v, X epsilon) { return m / (math::sqrt(v) + epsilon); }
};
/// m / (v + epsilon), v being the infinity norm (arXiv 1412.6980, algorithm 2).
struct AdamaxUpdater : AdamOp<AdamaxUpdater> {
  template <class X> static X term(X m, X v, X epsilon) { return m / (v + epsilon); }
};

namespace detail {
inline constexpr ViewSpec one_float = written_out({float32, Shape{}, {}});
}  // namespace detail

/// t - learning_rate trust x in place: inputs (t, x, r1, r2, learning_rate, max_weight_norm).
struct AdamVarUpdate : VarUpdate<AdamVarUpdate, 2> {
  static constexpr std::string_view name = "AdamVarUpdate";
  static constexpr bool has_formula = false;  // compute turns scalars into factors first
  template <class T, class X, class F>
  static T forward(T t, X x, F factor) {
    return t - T(factor) * T(x);
  }
  template <PackedAttributes, class T, class X, class R1, class R2, class LR, class Max, class Out>
  static void compute(T t, X x, R1 r1, R2 r2, LR learning_rate, Max max_weight_norm, Out out) {
    const auto weight_square = static_cast<double>(r1.data[0]), step_square = static_cast<double>(r2.data[0]);
    double trust = 1;
    if (weight_square != 0 && step_square != 0)
      trust = std::min(std::sqrt(weight_square), static_cast<double>(max_weight_norm.data[0])) / std::sqrt(step_square);
    float factor = static_cast<float>(static_cast<double>(learning_rate.data[0]) * trust);
    assign_elementwise<detail::Formula<AdamVarUpdate, PackedAttributes{}>>(out, t, x, View<detail::one_float>{&factor});
  }
};

/// What adam_updater takes beyond the moments.
struct AdamOptions {
  std::optional<Tensor> weight{};                  ///< what decays
  std::optional<Tensor> time_step{};               ///< a scalar; it is incremented, then the moments are corrected by it
  std::optional<NumberOrTensor> weight_decay{};    ///< 0 is none
  std::optional<NumberOrTensor> beta1{}, beta2{};  ///< with which the moments were averaged
  double epsilon = 1e-7;
};

namespace detail {
template <class Update>
constexpr Tensor accumulate(Tensor t, Tensor x, const NumberOrTensor& f) {
  return f.tensor ? apply<Update>({t, x, *f.tensor}) : apply<Update>({t, x}, {f.number});
}
template <class Updater>
constexpr Tensor adam(Tensor m, Tensor v, const AdamOptions& options) {
  AdamAttributes attributes{.epsilon = options.epsilon};
  std::vector<Tensor> inputs{m, v};
  if (options.weight_decay && (options.weight_decay->tensor || options.weight_decay->number != 0)) {
    if (!options.weight)
      return m.valid() ? m.ir().fail("AdamUpdater: weight_decay without weight: the weight that decays expected") : m;
    inputs.push_back(*options.weight);
    attributes.decays = 1;
    attributes.weight_decay = options.weight_decay->number;
    if (options.weight_decay->tensor) inputs.push_back(*options.weight_decay->tensor), attributes.decays = 2;
  }
  if (options.time_step) {
    if (!options.beta1 || !options.beta2)
      return m.valid() ? m.ir().fail("AdamUpdater: time_step without beta1 or beta2: both expected, to correct the moments") : m;
    const Tensor step = *options.time_step;
    const Tensor one = step.valid() ? step.ir().constant({1}, step.shape(), step.dtype()) : step;
    std::vector<Tensor> numbers{accumulate<AccumulateAdd>(step, one, 1)};
    AdamFactors::Attributes betas{0, options.beta1->number, options.beta2->number};
    if (options.beta1->tensor) numbers.push_back(*options.beta1->tensor), betas.inputs |= 1;
    if (options.beta2->tensor) numbers.push_back(*options.beta2->tensor), betas.inputs |= 2;
    const std::vector<Tensor> factors = apply_all<AdamFactors>(m.ir(), numbers, betas);
    for (int i = 0; i < 2; ++i) inputs.push_back(at_or_invalid(m.ir(), factors, i));
    attributes.is_corrected = 1;
  }
  return at_or_invalid(m.ir(), apply_all<Updater>(m.ir(), inputs, attributes), 0);
}
constexpr Tensor as_tensor(Ir& ir, const NumberOrTensor& value) {
  return value.tensor ? *value.tensor : ir.constant(value.number);
}
}  // namespace detail

/// Updates of optimisers' variables. t: float16 or float32; x: t's shape, float16 or float32; f: a number or a tensor of one
/// element. All but the updaters write t in place and return an alias of it. None has a gradient.
namespace ops {
/// t = t + f x.
constexpr Tensor accumulate_(Tensor t, Tensor x, const NumberOrTensor& f = 1) {
  return detail::accumulate<AccumulateAdd>(t, x, f);
}
/// t = t + f x^2.
constexpr Tensor accumulate_square_(Tensor t, Tensor x, const NumberOrTensor& f = 1) {
  return detail::accumulate<AccumulateSquare>(t, x, f);
}
/// t = t step / (step + 1) + x / (step + 1): the mean so far, if t is that of `step` tensors. The step stays as it is.
constexpr Tensor accumulate_mean_(Tensor t, Tensor x, const NumberOrTensor& step) {
  return detail::accumulate<AccumulateMean>(t, x, step);
}
/// t = f t + (1 - f) x.
constexpr Tensor accumulate_moving_average_(Tensor t, Tensor x, const NumberOrTensor& f) {
  return detail::accumulate<AccumulateMovingAverage>(t, x, f);
}
/// t = f t + (1 - f) x^2.
constexpr Tensor accumulate_moving_average_square_(Tensor t, Tensor x, const NumberOrTensor& f) {
  return detail::accumulate<AccumulateMovingAverageSquare>(t, x, f);
}
/// t = f t; where f is 0, t is 0 whatever it was, NaN included.
constexpr Tensor accumulator_scale_(Tensor t, const NumberOrTensor& f) {
  return f.tensor ? apply<AccumulatorScale>({t, *f.tensor}) : apply<AccumulatorScale>({t}, {f.number});
}
/// t = 0.
constexpr Tensor accumulator_zero_(Tensor t) { return accumulator_scale_(t, 0); }
/// t = x.
constexpr Tensor copy_var_update_(Tensor t, Tensor x) { return apply<CopyVarUpdate>({t, x}); }

/// The step of Adam: m / (sqrt(v) + epsilon) + weight_decay weight, for the moments m and v of the gradient. With a time step t,
/// which is first incremented in place, m and v are divided by 1 - beta1^t and 1 - beta2^t. Result: m's shape and dtype, but
/// the weight's dtype if it decays. Errors: a decay without a weight; a time step without the betas.
constexpr Tensor adam_updater(Tensor m, Tensor v, const AdamOptions& options = {}) {
  return detail::adam<AdamUpdater>(m, v, options);
}
/// The step of LAMB before it is scaled by adam_var_update: Adam's.
constexpr Tensor lamb_updater(Tensor m, Tensor v, const AdamOptions& options = {}) { return adam_updater(m, v, options); }
/// The step of Adamax: m / (1 - beta1^t) / (v + epsilon) + weight_decay weight, where v is the infinity norm of the gradients.
/// As adam_updater, but the time step is required, beta1 is 0.9 if it is not given, and beta2 is not used.
constexpr Tensor adamax_updater(Tensor m, Tensor v, AdamOptions options) {
  if (!options.time_step) return m.valid() ? m.ir().fail("AdamUpdater: Adamax without time_step: a time step expected") : m;
  if (!options.beta1) options.beta1 = 0.9;
  options.beta2 = 0;
  return detail::adam<AdamaxUpdater>(m, v, options);
}
/// t = t - learning_rate trust x with trust = min(sqrt(r1), max_weight_norm) / sqrt(r2), or 1 where r1 or r2 is 0
/// ("Large Batch Optimization for Deep Learning", arXiv 1904.00962). r1, r2: one element, the squared norms of t and of x.
constexpr Tensor adam_var_update(Tensor t, Tensor x, Tensor r1, Tensor r2, const NumberOrTensor& learning_rate,
                                 const NumberOrTensor& max_weight_norm = std::numeric_limits<double>::infinity()) {
  if (!t.valid()) return t;
  return apply<AdamVarUpdate>(
      {t, x, r1, r2, detail::as_tensor(t.ir(), learning_rate), detail::as_tensor(t.ir(), max_weight_norm)});
}
}  // namespace ops

}  // namespace tilewright
