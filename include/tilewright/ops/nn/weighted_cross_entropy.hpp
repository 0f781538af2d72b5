#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/nn/cross_entropy.hpp"

namespace tilewright {

struct CrossEntropyOptions {
  std::optional<std::int64_t> ignore_index{};  ///< labels of this value are ignored
  Reduction reduction = Reduction::mean;  ///< mean divides by the sum of the weights of the labels that are not ignored
  double label_smoothing = 0;  ///< from 0 to 1: part of a label's probability that all classes share
  Tensor weight{};  ///< (classes,), the weight of each class; none: 1 each
};

namespace detail {
struct WeightedCrossEntropyAttributes {
  Reduction reduction = Reduction::mean;
  std::int64_t ignores = 0;
  std::int64_t ignore_index = 0;
  std::int64_t has_weight = 0;
  double label_smoothing = 0;
};

}  // namespace detail

/// Base of WeightedCrossEntropy and its gradient.
template <class D>
struct WeightedCrossEntropyOp : ClassLossOp<D, detail::WeightedCrossEntropyAttributes> {
  using Base = ClassLossOp<D, detail::WeightedCrossEntropyAttributes>;
  using typename Base::Attributes;
  static constexpr std::string_view rows_are = "logits";
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::softmax}; }

  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    return Base::rows_work(operands, input_count, packed, unpack<Attributes>(packed).has_weight != 0 ? D::weight_input : -1);
  }
  /// Returns the divisor of the sum of the losses: the sum of the weights of all labels that are not ignored, or 1 if that sum is
  /// 0.
  template <class Labels, class W>
  static double divisor(Labels all_labels, W weight, std::int64_t classes, const Attributes& attributes) {
    if (attributes.reduction != Reduction::mean) return 1;
    double total = 0;
    for (std::int64_t row = 0; row < Labels::shape.nelms(); ++row) {
      // Not by class_of: GCC 14 then counts wrongly with AVX-512.
      const auto label = static_cast<std::int64_t>(all_labels.data[row]);
      if (label < 0 || label >= classes || (attributes.ignores != 0 && label == attributes.ignore_index)) continue;
      if (attributes.has_weight != 0) total += static_cast<double>(weight.data[label]);
      else total += 1;
    }
    return total == 0 ? 1 : total;
  }
};

/// The gradient of WeightedCrossEntropy: inputs (logits, labels, dloss[, weight]).
struct WeightedCrossEntropyGrad : WeightedCrossEntropyOp<WeightedCrossEntropyGrad> {
  static constexpr std::string_view name = "WeightedCrossEntropyGrad";
  static constexpr int weight_input = 3;
  /// The loops of Softmax, and one over the result.
  constexpr operator VertexCost() const { return line_cost(7, {22, 2}, {20, 4}); }
  template <PackedAttributes, class X, class... V>
  static constexpr std::int64_t stack_bytes();
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr void gradient(GradientContext& op) {
    detail::differentiate_dloss<WeightedCrossEntropyGrad>(op);
    if (!op.needs(0)) return;
    const auto attributes = op.attributes<Attributes>();
    const Shape logits = op.input_spec(0).shape;
    const DType computed = computed_dtype(op.input_spec(0).dtype);
    const double smoothing = attributes.label_smoothing, classes = static_cast<double>(logits[-1]);
    const Tensor counted = detail::counted_labels(op.input(1), attributes, computed);
    Tensor weights = counted, all_weights = op.ir().constant(classes, computed);  // of the labels; of all classes
    if (attributes.has_weight != 0) {
      const Tensor weight = op.input(weight_input).cast(computed);
      weights = counted * ops::gather(weight, op.input(1), 0, {.zero_OOR = true});
      all_weights = ops::sum(weight);
    }
    const Tensor dloss = detail::gradient_of_rows(op.input(2), weights, attributes.reduction);
    const Tensor of_all = counted * all_weights * (smoothing / classes);
    detail::differentiate_softmax_rows(op, dloss * (weights * (1 - smoothing) + of_all));
  }

  template <PackedAttributes A, class X, class L, class DLoss, class... Rest>
  static void compute(X x, L labels, DLoss dloss, Rest... rest);
};

/// Negative log-likelihood of smoothed labels with weights of classes, from logits: inputs (logits, labels[, weight]).
struct WeightedCrossEntropy : WeightedCrossEntropyOp<WeightedCrossEntropy> {
  static constexpr std::string_view name = "WeightedCrossEntropy";
  static constexpr int weight_input = 2;
  constexpr operator VertexCost() const { return line_cost(3, {14, 2}, {13, 4}); }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return label_fault(operands);
  }
  static constexpr void infer(Inference& op) {
    if (!validate(op)) return;
    const auto attributes = op.attributes<Attributes>();
    if (!(attributes.label_smoothing >= 0 && attributes.label_smoothing <= 1))
      return op.fail("label_smoothing ", number_text(attributes.label_smoothing), ": a number from 0 to 1 expected");
    if (attributes.has_weight != 0) {
      const TensorSpec &logits = op.input(0), &weight = op.input(2);
      const Shape expected{logits.shape[-1]};
      if (weight.shape != expected || (weight.dtype != logits.dtype && !(is_half(logits.dtype) && weight.dtype == float32)))
        return op.fail("weight ", to_text(weight), " for logits ", to_text(logits), ": ", to_text(expected), " ",
                       to_text(logits.dtype), is_half(logits.dtype) ? " or float32" : "", " expected");
    }
    op.output(loss_spec(op));
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const Tensor logits = op.input(0), labels = op.input(1), dloss = op.output_gradient(0);
    const auto attributes = op.attributes<Attributes>();
    op.input_gradient(0, attributes.has_weight != 0
                             ? apply<WeightedCrossEntropyGrad>({logits, labels, dloss, op.input(weight_input)}, attributes)
                             : apply<WeightedCrossEntropyGrad>({logits, labels, dloss}, attributes));
  }

  template <PackedAttributes A, class X, class L, class... Rest>
  static void compute_checked(Faults faults, X x, L labels, Rest... rest);
  template <PackedAttributes A, class X, class L, class... Rest>
  static void compute(X x, L labels, Rest... rest);
};

namespace ops {
/// Returns the cross entropy of smoothed labels with weights of classes, as PyTorch. logits: (..., classes), float16, bfloat16,
/// float32 or float64; labels: (...), int32 or uint32; weight: (classes,), of the logits' dtype, or float32 for half precision.
/// Result: a scalar, or (...) without a reduction, in logits' dtype. With s = log(sum(exp(x))), y the label, w the weights, C the
/// number of classes and e the label smoothing, a row's loss is (1 - e) w[y] (s - x[y]) + e / C sum over c of w[c] (s - x[c]). A
/// mean divides the sum of the rows by the sum of w[y], or by 1 if that is 0. A term with a weight of 0 is 0, even if its loss is
/// infinite. Ignored labels and labels that are not a class follow the rules of nll_loss. Gradient of the logits, rounded once:
/// dloss times (softmax(x) ((1 - e) w[y] + e / C sum(w)) - (1 - e) w[y] onehot(y) - e / C w), divided by the divisor of the mean;
/// none for the weight.
///
///     loss = ops::cross_entropy(logits, labels, {.label_smoothing = 0.1});
template <std::same_as<CrossEntropyOptions> Options = CrossEntropyOptions>
[[nodiscard]] constexpr Tensor cross_entropy(Tensor logits, Tensor labels, const Options& options) {
  const bool has_weight = options.weight.valid();
  if (!has_weight && options.label_smoothing == 0)
    return cross_entropy(logits, labels, NllOptions{.ignore_index = options.ignore_index, .reduction = options.reduction});
  const detail::WeightedCrossEntropyAttributes attributes{options.reduction, options.ignore_index.has_value(),
                                                          options.ignore_index.value_or(0), has_weight, options.label_smoothing};
  if (!has_weight) return apply<WeightedCrossEntropy>({logits, labels}, attributes);
  return apply<WeightedCrossEntropy>({logits, labels, options.weight}, attributes);
}
}  // namespace ops

}  // namespace tilewright
