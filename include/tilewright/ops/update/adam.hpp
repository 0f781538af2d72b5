#pragma once
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include "tilewright/op/elementwise.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright {

/// Counts a step, and computes the corrections of Adam's moments from the count t: inputs (t[, beta1][, beta2]), results t + 1 in
/// place, 1 / (1 - beta1^(t + 1)) and 1 / (1 - beta2^(t + 1)). The rest of the step is elementwise, and can be part of the
/// epilogue of the product that computes the gradient. The corrections are float64 for moments of float64, otherwise float32.
struct AdamFactors : Op<AdamFactors> {
  // Scalars, not arrays, which compute float32 in float: here it is computed in double.
  static constexpr std::string_view name = "AdamFactors";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::other, {400, 1}, {400, 1}); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map, .code_kind = CodeKind::other}; }
  constexpr operator Effects() const { return Effects{.modifies = 0}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  struct Attributes {
    std::int64_t inputs = 0;  ///< bits: 1 if beta1 is an input, 2 if beta2 is, 4 if the factors are float64
    double beta1 = 0, beta2 = 0;

    constexpr DType factor_dtype() const { return (inputs & 4) != 0 ? float64 : float32; }
  };
  static constexpr void infer(Inference& op) {
    op.output(op.input(0));
    for (int i = 0; i < 2; ++i) op.output({Shape{}, op.attributes<Attributes>().factor_dtype()});
  }
  static constexpr Work work(std::span<const TensorSpec>, int, const PackedAttributes&) { return Work{}; }
  template <PackedAttributes A, class Step, class... V>
  static void compute(Step step, V... views);
};

/// Bits for the inputs of Adam's ops in addition to the moments.
struct AdamInputs {
  static constexpr std::int64_t weight = 1, time_step = 2, weight_decay = 4, beta1 = 8, beta2 = 16, epsilon = 32;
};
struct AdamAttributes {
  std::int64_t inputs = 0;
  double weight_decay = 0, beta1 = 0, beta2 = 0, epsilon = 0;
};

/// Base of the formulas of Adam and its variants: inputs (m, v[, weight][, weight_decay][, epsilon][, the two factors of the
/// moments]). D defines `step(mean, deviation, epsilon)` of the corrected moments.
template <class D>
struct AdamFormula : Elementwise<D> {
  static constexpr std::string_view name = "AdamUpdater";
  constexpr operator VertexCost() const { return binary_map_cost({22, 2}, {48, 4}); }
  using Attributes = AdamAttributes;
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }

  template <class X, class... Rest>
  static X forward(X m, X v, const Rest&... rest) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto all = std::tie(rest...);
      const Attributes& attributes = std::get<sizeof...(i)>(all);
      const X inputs[] = {X(std::get<i>(all))..., m};
      std::size_t next = 0;
      const auto value = [&](std::int64_t input, double number) {
        return (attributes.inputs & input) != 0 ? inputs[(std::min)(next++, sizeof...(i))] : math::number<X>(number);
      };
      const X weight = value(AdamInputs::weight, 0), decay = value(AdamInputs::weight_decay, attributes.weight_decay);
      const X epsilon = value(AdamInputs::epsilon, attributes.epsilon);
      X mean = m, deviation = v;
      if ((attributes.inputs & AdamInputs::time_step) != 0) {
        mean = m * inputs[(std::min)(next, sizeof...(i))];
        deviation = v * inputs[(std::min)(next + 1, sizeof...(i))];
      }
      const X step = D::step(mean, deviation, epsilon);
      return (attributes.inputs & AdamInputs::weight) != 0 ? math::fma(decay, weight, step) : step;
    }(std::make_index_sequence<sizeof...(Rest) - 1>{});
  }
};
/// m / (sqrt(v) + epsilon) ("Adam: A Method for Stochastic Optimization", arXiv 1412.6980, algorithm 1).
struct AdamStep : AdamFormula<AdamStep> {
  template <class X> static X step(X m, X v, X epsilon) { return math::divide(m, math::sqrt(v) + epsilon); }
};
/// m / (v + epsilon), where v is the infinity norm (arXiv 1412.6980, algorithm 2).
struct AdamaxStep : AdamFormula<AdamaxStep> {
  template <class X> static X step(X m, X v, X epsilon) { return math::divide(m, v + epsilon); }
};

/// The step of Adam and its variants: inputs ([weight,] m, v[, time_step][, weight_decay][, beta1][, beta2][, epsilon]).
/// time_step is incremented in place. It is planned as AdamFactors, if there is a time step, and a formula.
template <class Formula>
struct AdamOp : Op<AdamOp<Formula>> {
  static constexpr std::string_view name = "AdamUpdater";
  using Attributes = AdamAttributes;

  /// Positions of the inputs; -1: absent.
  struct Positions {
    int weight, m, v, time_step, weight_decay, beta1, beta2, epsilon;
  };
  static constexpr Positions positions(const Attributes& attributes) {
    const bool has_weight = (attributes.inputs & AdamInputs::weight) != 0;
    int next = has_weight ? 3 : 2;
    const auto take = [&](std::int64_t input) { return (attributes.inputs & input) != 0 ? next++ : -1; };
    Positions result{has_weight ? 0 : -1, has_weight ? 1 : 0, has_weight ? 2 : 1, -1, -1, -1, -1, -1};
    result.time_step = take(AdamInputs::time_step);
    result.weight_decay = take(AdamInputs::weight_decay);
    result.beta1 = take(AdamInputs::beta1);
    result.beta2 = take(AdamInputs::beta2);
    result.epsilon = take(AdamInputs::epsilon);
    return result;
  }
  static constexpr void infer(Inference& op) {
    const Positions at = positions(op.template attributes<Attributes>());
    for (int i = 0; i < op.input_count(); ++i)
      if (!op.require_floating_point(i)) return;
    const TensorSpec &m = op.input(at.m), &v = op.input(at.v);
    if (v.shape != m.shape) return op.fail("moments ", to_text(m), " and ", to_text(v), ": equal shapes expected");
    for (int i = at.v + 1; i < op.input_count(); ++i)
      if (op.input(i).nelms() != 1) return op.fail("factor ", to_text(op.input(i)), ": one element expected");
    if (at.weight < 0) return op.output(m);
    const TensorSpec& weight = op.input(at.weight);
    if (weight.shape != m.shape)
      return op.fail("moments ", to_text(m), " of weight ", to_text(weight), ": equal shapes expected");
    op.output(weight);
  }
  static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    const Positions at = positions(attributes);
    List<OpPart> parts;
    OpPart formula{&op_info<Formula>, packed, {at.m, at.v}, {operands[static_cast<std::size_t>(input_count)]}};
    for (int input : {at.weight, at.weight_decay, at.epsilon})
      if (input >= 0) formula.inputs.push_back(input);
    if (at.time_step >= 0) {
      const bool wide = operands[static_cast<std::size_t>(at.m)].dtype == float64;
      AdamFactors::Attributes betas{wide ? 4 : 0, attributes.beta1, attributes.beta2};
      OpPart factors{&op_info<AdamFactors>, {}, {at.time_step}, {operands[static_cast<std::size_t>(at.time_step)]}};
      for (int i = 0; i < 2; ++i) {
        factors.outputs.push_back({Shape{}, betas.factor_dtype()});
        formula.inputs.push_back(input_count + 1 + i);
        if (const int beta = i == 0 ? at.beta1 : at.beta2; beta >= 0) factors.inputs.push_back(beta), betas.inputs |= i + 1;
      }
      factors.attributes = pack(betas);
      parts.push_back(std::move(factors));
    }
    parts.push_back(std::move(formula));
    return parts;
  }
};
using AdamUpdater = AdamOp<AdamStep>;
using AdamaxUpdater = AdamOp<AdamaxStep>;

/// Arguments of adam_updater in addition to the moments.
struct AdamOptions {
  std::optional<Tensor> weight{};  ///< weight that decays
  std::optional<Tensor> time_step{};  ///< a scalar; it is incremented, and then corrects the moments
  std::optional<NumberOrTensor> weight_decay{};  ///< 0: no decay
  std::optional<NumberOrTensor> beta1{}, beta2{};  ///< decays with which the moments were averaged
  NumberOrTensor epsilon = 1e-7;  ///< added to the root of the second moment
};

namespace detail {
template <class Updater>
constexpr Tensor adam(Tensor m, Tensor v, const AdamOptions& options) {
  if (!m.is_usable()) return m;
  Ir& ir = m.ir();
  AdamAttributes attributes{};
  List<Tensor> inputs;
  const auto add = [&](std::int64_t input, const std::optional<Tensor>& tensor) {
    if (!tensor) return;
    inputs.push_back(*tensor);
    attributes.inputs |= input;
  };
  const auto add_number = [&](std::int64_t input, const NumberOrTensor& value) {
    add(input, value.tensor);
    return value.number;
  };
  const bool decays = options.weight_decay && (options.weight_decay->tensor || options.weight_decay->number != 0);
  if (decays && !options.weight) return ir.fail("AdamUpdater: weight_decay without weight: the weight that decays expected");
  if (options.time_step && (!options.beta1 || !options.beta2))
    return ir.fail("AdamUpdater: time_step without beta1 or beta2: both expected, to correct the moments");
  const auto validate = [&](std::string_view name, const std::optional<NumberOrTensor>& value, double below) {
    return !value || check_parameter(ir, "AdamUpdater", name, *value, 0, below);
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!validate("weight_decay", options.weight_decay, infinity) || !validate("epsilon", options.epsilon, infinity) ||
      !validate("beta1", options.beta1, 1) || !validate("beta2", options.beta2, 1))
    return Tensor::invalid(ir);
  if (decays) add(AdamInputs::weight, options.weight);
  inputs.push_back(m);
  inputs.push_back(v);
  const auto time_step = static_cast<int>(inputs.size());
  add(AdamInputs::time_step, options.time_step);
  if (decays) attributes.weight_decay = add_number(AdamInputs::weight_decay, *options.weight_decay);
  if (options.time_step) {
    attributes.beta1 = add_number(AdamInputs::beta1, *options.beta1);
    attributes.beta2 = add_number(AdamInputs::beta2, *options.beta2);
  }
  attributes.epsilon = add_number(AdamInputs::epsilon, options.epsilon);
  if (!options.time_step) return at_or_invalid(ir, emit_op(ir, op_info<Updater>, inputs, pack(attributes)), 0);
  return at_or_invalid(ir, emit_modifying(ir, op_info<Updater>, inputs, time_step, pack(attributes)), 0);
}
}  // namespace detail

/// Steps of Adam and its variants, from the moments m and v of the gradient. They have no gradient.
namespace ops {
/// Returns the step of Adam: m / (sqrt(v) + epsilon) + weight_decay weight, for the moments m and v of the gradient. A time step
/// t is first incremented in place; then m and v are divided by 1 - beta1^t and 1 - beta2^t. The result has m's shape, and m's
/// dtype, or the weight's if it decays. Errors: a decay without a weight; a time step without the betas.
[[nodiscard]] constexpr Tensor adam_updater(Tensor m, Tensor v, const AdamOptions& options = {}) {
  return detail::adam<AdamUpdater>(m, v, options);
}
/// Returns the step of Adamax: m / (1 - beta1^t) / (v + epsilon) + weight_decay weight, where v is the infinity norm of the
/// gradients. The time step is required, beta1 defaults to 0.9, and beta2 is not used. Other options and errors are those of
/// adam_updater.
[[nodiscard]] constexpr Tensor adamax_updater(Tensor m, Tensor v, AdamOptions options) {
  if (!options.time_step) return m.is_usable() ? m.ir().fail("AdamUpdater: Adamax without time_step: a time step expected") : m;
  if (!options.beta1) options.beta1 = 0.9;
  options.beta2 = 0;
  return detail::adam<AdamaxUpdater>(m, v, options);
}
}  // namespace ops

}  // namespace tilewright
