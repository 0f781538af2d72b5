#pragma once
#include <optional>

#include "tilewright/kernel/faults.hpp"
#include "tilewright/ops/arithmetic.hpp"
#include "tilewright/ops/softmax.hpp"

namespace tilewright {

/// How losses of single examples become the result.
enum class Reduction : std::int64_t { mean, sum, none };

struct NllOptions {
  std::optional<std::int64_t> ignore_index{};  ///< labels of this value count for nothing
  Reduction reduction = Reduction::mean;       ///< mean divides by the number of labels that are not ignored
  bool log_prob = false;                       ///< the probabilities are logarithms already
};

struct NllAttributes {
  Reduction reduction = Reduction::mean;
  std::int64_t ignores = 0;
  std::int64_t ignore_index = 0;
  std::int64_t log_prob = 0;
  double loss_grad = 1;
};
constexpr NllAttributes nll_attributes(const NllOptions& options, double loss_grad = 1) {
  return {options.reduction, options.ignore_index.has_value(), options.ignore_index.value_or(0), options.log_prob, loss_grad};
}

/// What negative log-likelihood ops share: probabilities (..., classes) with labels (...), handled as rows of classes. Where the
/// planner cuts the rows of a mean or sum, labels and all that has rows are a block's, and one input more, the last, is all
/// labels.
template <class D>
struct NllOp : Op<D> {
  static constexpr WorkKind work_kind = WorkKind::line;
  using Attributes = NllAttributes;

  /// Checks probabilities and labels.
  static constexpr bool check(Inference& op) {
    const TensorSpec &probs = op.input(0), &labels = op.input(1);
    if (!op.require_floating_point(0)) return false;
    Shape expected = probs.shape;
    if (probs.shape.rank == 0) return op.fail("probabilities ", to_text(probs), ": at least one axis expected"), false;
    --expected.rank;
    expected.extents[expected.rank] = 0;
    if (labels.shape != expected || (labels.dtype != int32 && labels.dtype != uint32))
      return op.fail("labels ", to_text(labels), " for probabilities ", to_text(probs), ": ", to_text(expected),
                     " int32 or uint32 expected"),
             false;
    return true;
  }
  static constexpr TensorSpec loss_spec(Inference& op) {
    const bool none = op.attributes<Attributes>().reduction == Reduction::none;
    return {none ? op.input(1).shape : Shape{}, op.input(0).dtype};
  }
  /// The fault of losses: a label that is neither a class nor ignored.
  static constexpr FaultText label_fault(std::span<const TensorSpec> operands) {
    return {true, "label", text("a label from 0 to ", operands[0].shape[-1] - 1, ", or the ignored one,")};
  }
  /// Mean and sum need all labels: without them, one vertex.
  static constexpr Partials partials(const PackedAttributes& packed) {
    return {.whole_input = unpack<Attributes>(packed).reduction == Reduction::none ? -1 : 1};
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    const bool none = unpack<Attributes>(packed).reduction == Reduction::none;
    const int all_labels = input_count > 2 && is_int(operands[static_cast<std::size_t>(input_count) - 1].dtype) ? input_count - 1
                                                                                                                : -1;
    Work work;
    if (!none && all_labels < 0) return work;
    const Shape &probs = operands[0].shape, &labels = operands[1].shape;
    for (int axis = 0; axis < labels.rank; ++axis) {
      work.add_axis({.extent = probs[axis], .kind = none ? WorkAxisKind::parallel : WorkAxisKind::reduction});
      for (int o = 0; o < static_cast<int>(operands.size()); ++o)
        if (const Shape& shape = operands[static_cast<std::size_t>(o)].shape;
            o != all_labels && (shape == probs || shape == labels))
          work.follow(o, axis, axis);
    }
    return work;
  }

 protected:
  /// The class that is a row's label, or -1 if it is ignored, or is no class.
  template <class I>
  static std::int64_t class_of(I label, std::int64_t classes, const Attributes& attributes) {
    const auto value = static_cast<std::int64_t>(label);
    return value >= classes || (attributes.ignores != 0 && value == attributes.ignore_index) ? -1 : value;
  }
  /// Calls f(offsets) for each row, where there are those of the row in each operand: of one without rows, 0.
  template <class P, class... V, class F>
  static void for_each_row(F&& f) {
    static constexpr auto strides = [] {
      std::array<std::array<std::int64_t, max_rank>, 1 + sizeof...(V)> result{};
      std::size_t operand = 0;
      const auto add = [&](const ViewSpec& view) {
        if (view.shape.rank + 1 >= P::shape.rank)
          for (int axis = 0; axis + 1 < P::shape.rank; ++axis)
            result[operand][static_cast<std::size_t>(axis)] = view.stride(axis);
        ++operand;
      };
      add(P::spec);
      (add(V::spec), ...);
      return result;
    }();
    static constexpr Shape rows = [] {
      Shape result;
      for (int axis = 0; axis + 1 < P::shape.rank; ++axis) result.push_back(P::shape[axis]);
      return result;
    }();
    for_each_offset<1 + sizeof...(V)>(rows, strides, f);
  }
  template <PackedAttributes A, class P, class Labels>
  static void check_labels(Faults faults, P, Labels labels) {
    constexpr auto attributes = unpack<Attributes>(A);
    for_each_row<P, Labels>([&](const auto& at) {
      const auto value = static_cast<std::int64_t>(labels.data[at[1]]);
      if ((value < 0 || value >= P::shape[-1]) && !(attributes.ignores != 0 && value == attributes.ignore_index))
        faults.report(value);
    });
  }
  /// What the sum of the losses is divided by.
  template <class Labels>
  static double divisor(Labels all_labels, std::int64_t classes, const Attributes& attributes) {
    if (attributes.reduction != Reduction::mean) return 1;
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < Labels::shape.nelms(); ++row) {
      // Not by class_of: GCC 14 then counts wrongly with AVX-512.
      const auto label = static_cast<std::int64_t>(all_labels.data[row]);
      count += label >= 0 && label < classes && !(attributes.ignores != 0 && label == attributes.ignore_index);
    }
    return static_cast<double>(std::max<std::int64_t>(count, 1));
  }
};

/// The gradient of Nll: inputs (probabilities, labels, dloss).
struct NllGrad : NllOp<NllGrad> {
  static constexpr std::string_view name = "NllGrad";
  static constexpr VertexCost vertex_cost = loop_cost(CostFormula::serial, {4, 1}, {4, 2});
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }

  template <PackedAttributes A, class P, class L, class DLoss, class DP>
  static void compute(P probs, L labels, DLoss dloss, DP dprobs) {
    compute<A>(probs, labels, dloss, labels, dprobs);
  }
  template <PackedAttributes A, class P, class L, class DLoss, class All, class DP>
  static void compute(P probs, L labels, DLoss dloss, All all_labels, DP dprobs) {
    constexpr auto attributes = unpack<Attributes>(A);
    constexpr std::int64_t classes = P::shape[-1];
    const double scale = 1 / divisor(all_labels, classes, attributes);
    for_each_row<P, L, DLoss, DP>([&](const auto& at) {
      std::fill_n(dprobs.data + at[3], classes, typename DP::element(0));
      const auto label = class_of(labels.data[at[1]], classes, attributes);
      if (label < 0) return;
      const double upstream = static_cast<double>(dloss.data[at[2]]) * scale;
      const double p = attributes.log_prob != 0 ? 1
                                                : std::max(static_cast<double>(probs.data[at[0] + label]), smallest_divisor<P>);
      dprobs.data[at[3] + label] = static_cast<typename DP::element>(-upstream / p);
    });
  }
  /// Probabilities below this count as this, so that the loss stays finite.
  template <class P>
  static constexpr double smallest = P::spec.dtype == float16 ? 6.104e-5 : 1e-7;
  /// The gradient's own limit: it goes on where the loss has reached its limit, so that training can leave such states.
  template <class P>
  static constexpr double smallest_divisor = P::spec.dtype == float16 ? 6.104e-5 : 1e-10;
};

/// Negative log-likelihood of labels: -log(p[label]).
struct Nll : NllOp<Nll> {
  static constexpr std::string_view name = "Nll";
  static constexpr VertexCost vertex_cost = loop_cost(CostFormula::serial, {4, 1}, {4, 2}, Confidence::published);
  static constexpr void infer(Inference& op) {
    if (check(op)) op.output(loss_spec(op));
  }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0))
      op.input_gradient(0, apply<NllGrad>({op.input(0), op.input(1), op.output_gradient(0)}, op.attributes<Attributes>()));
  }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int) { return label_fault(operands); }
  template <PackedAttributes A, class P, class L, class... Rest>
  static void compute_checked(Faults faults, P probs, L labels, Rest... rest) {
    check_labels<A>(faults, probs, labels);
    compute<A>(probs, labels, rest...);
  }
  template <PackedAttributes A, class P, class L, class Loss>
  static void compute(P probs, L labels, Loss loss) {
    compute<A>(probs, labels, labels, loss);
  }
  template <PackedAttributes A, class P, class L, class All, class Loss>
  static void compute(P probs, L labels, All all_labels, Loss loss) {
    constexpr auto attributes = unpack<Attributes>(A);
    constexpr std::int64_t classes = P::shape[-1];
    double total = 0;
    for_each_row<P, L, Loss>([&](const auto& at) {
      const auto label = class_of(labels.data[at[1]], classes, attributes);
      double value = 0;
      if (label >= 0) {
        const auto p = static_cast<double>(probs.data[at[0] + label]);
        value = attributes.log_prob != 0 ? -p : -std::log(std::max(p, NllGrad::smallest<P>));
      }
      if constexpr (attributes.reduction == Reduction::none) loss.data[at[2]] = static_cast<typename Loss::element>(value);
      total += value;
    });
    if constexpr (attributes.reduction != Reduction::none)
      loss.data[0] = static_cast<typename Loss::element>(total / divisor(all_labels, classes, attributes));
  }
};

/// The loss of probabilities p = softmax(x) and the gradient of x in one op: inputs (p, labels[, loss_grad]), results
/// (loss, dx) with dx = (p - onehot(label)) loss_grad, divided as the loss is. The loss is not scaled by loss_grad.
struct NllWithSoftmaxGrad : NllOp<NllWithSoftmaxGrad> {
  static constexpr std::string_view name = "NlllWithSoftmaxGradDirect";
  static constexpr VertexCost vertex_cost = loop_cost(CostFormula::serial, {9, 1}, {9, 2}, Confidence::published);
  static constexpr void infer(Inference& op) {
    if (!check(op)) return;
    if (op.input_count() == 3 && (op.input(2).nelms() != 1 || !is_floating_point(op.input(2).dtype)))
      return op.fail("loss_grad ", to_text(op.input(2)), ": one element of floating point expected");
    op.output(loss_spec(op));
    op.output(op.input(0));
  }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int) { return label_fault(operands); }
  template <PackedAttributes A, class P, class L, class... Rest>
  static void compute_checked(Faults faults, P probs, L labels, Rest... rest) {
    check_labels<A>(faults, probs, labels);
    compute<A>(probs, labels, rest...);
  }
  template <PackedAttributes A, class P, class L, class... Rest>
  static void compute(P probs, L labels, Rest... rest) {
    constexpr auto attributes = unpack<Attributes>(A);
    constexpr std::size_t count = sizeof...(Rest);
    constexpr std::int64_t classes = P::shape[-1];
    const std::tuple<L, Rest...> operands(labels, rest...);
    constexpr bool has_all_labels = count > 2 && is_int(std::tuple_element_t<count - 2, std::tuple<L, Rest...>>::spec.dtype);
    const auto all_labels = std::get<has_all_labels ? count - 2 : 0>(operands);
    const auto loss = std::get<count - 1>(operands);
    const auto dx = std::get<count>(operands);
    Nll::compute<A>(probs, labels, all_labels, loss);
    double loss_grad = attributes.loss_grad;
    if constexpr (count == (has_all_labels ? 4 : 3)) loss_grad = static_cast<double>(std::get<1>(operands).data[0]);
    using T = compute_t<typename P::element>;
    using DX = typename decltype(dx)::element;
    const auto scale = static_cast<T>(loss_grad / divisor(all_labels, classes, attributes));
    for_each_row<P, L, std::remove_const_t<decltype(dx)>>([&](const auto& at) {
      const auto label = class_of(labels.data[at[1]], classes, attributes);
      const Line<typename P::element, 1> p{probs.data + at[0]};
      const Line<DX, 1> dx_row{dx.data + at[2]};
      if (label < 0) {
        std::fill_n(dx_row.data, classes, DX(0));
      } else {
        line_assign<classes>([&](const auto& probability) { return probability * scale; }, dx_row, p);
        dx_row.data[label] = static_cast<DX>((static_cast<T>(p.data[label]) - 1) * scale);
      }
    });
  }
};

/// A loss and the gradient of what it was computed from.
struct LossAndGradient {
  Tensor loss, gradient;
};

namespace ops {
/// Negative log-likelihood. probs: (..., classes), float16, bfloat16, float32 or float64; labels: (...), int32 or uint32. Result:
/// a scalar, or
/// (...) without a reduction, in probs' dtype. Probabilities count as at least 1e-7 (6.1e-5 in float16); the gradient is
/// -1 / max(p, 1e-10) (6.1e-5), so not 0 below.
///
/// A label that is `ignore_index` counts for nothing, as in PyTorch: its loss and gradient are 0, and a mean is over the others
/// (0 if there are none, where PyTorch gives NaN). Another label outside [0, classes) is a fault: it counts as ignored, and the
/// session's run throws FaultError when it has ended.
constexpr Tensor nll_loss(Tensor probs, Tensor labels, const NllOptions& options = {}) {
  return apply<Nll>({probs, labels}, nll_attributes(options));
}
/// The loss above for probs = softmax(x), and its gradient with respect to x, times loss_grad. Not differentiable itself.
constexpr LossAndGradient nll_loss_with_softmax_grad(Tensor probs, Tensor labels, double loss_grad = 1,
                                                     const NllOptions& options = {}) {
  const Tensor inputs[] = {probs, labels};
  const auto results = apply_all<NllWithSoftmaxGrad>(probs.ir(), inputs, nll_attributes(options, loss_grad));
  return {at_or_invalid(probs.ir(), results, 0), at_or_invalid(probs.ir(), results, 1)};
}
/// As above with a scalar tensor as loss_grad.
constexpr LossAndGradient nll_loss_with_softmax_grad(Tensor probs, Tensor labels, Tensor loss_grad,
                                                     const NllOptions& options = {}) {
  const Tensor inputs[] = {probs, labels, loss_grad};
  const auto results = apply_all<NllWithSoftmaxGrad>(probs.ir(), inputs, nll_attributes(options));
  return {at_or_invalid(probs.ir(), results, 0), at_or_invalid(probs.ir(), results, 1)};
}
/// softmax over the last axis, then nll_loss.
constexpr Tensor cross_entropy(Tensor logits, Tensor labels, const NllOptions& options = {}) {
  return nll_loss(softmax(logits), labels, options);
}
/// softmax over the last axis, then loss and gradient of the logits; the gradient, not the loss, is times loss_scaling.
constexpr LossAndGradient cross_entropy_with_grad(Tensor logits, Tensor labels, double loss_scaling = 1,
                                                  const NllOptions& options = {}) {
  return nll_loss_with_softmax_grad(softmax(logits), labels, loss_scaling, options);
}
/// As above with a scalar tensor as loss_scaling.
constexpr LossAndGradient cross_entropy_with_grad(Tensor logits, Tensor labels, Tensor loss_scaling,
                                                  const NllOptions& options = {}) {
  return nll_loss_with_softmax_grad(softmax(logits), labels, loss_scaling, options);
}
}  // namespace ops

}  // namespace tilewright
