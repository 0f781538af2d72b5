#pragma once
#include "tilewright/ops/nn/class_loss.hpp"
#include "tilewright/ops/nn/softmax.hpp"

namespace tilewright {

namespace detail {

/// Checks losses of logits, in addition to the checks of all losses.
template <class D>
constexpr bool check_cross_entropy(Inference& op) {
  if (!ClassLossOp<D>::validate(op)) return false;
  if (op.attributes<NllAttributes>().log_prob == 0) return true;
  return op.fail("log_prob is an option of nll_loss: logits expected, not logarithms of probabilities"), false;
}
/// Passes the gradient of the logits, input 0 of an op whose rows are factor softmax(logits) and terms without logits. factors:
/// one for each label.
constexpr void differentiate_softmax_rows(GradientContext& op, Tensor factors) {
  const TensorSpec logits = op.input_spec(0);
  const DType computed = computed_dtype(logits.dtype);
  const AxisAttributes last{logits.shape.rank - 1};
  const Tensor y = apply<Softmax>({op.input(0).cast(computed)}, last);
  const Tensor dx = apply<SoftmaxGrad>({y, op.output_gradient(0).cast(computed)}, last);
  Shape rows = logits.shape;
  rows[-1] = 1;
  op.input_gradient(0, (dx * ops::reshape(factors, rows)).cast(logits.dtype));
}
}  // namespace detail

/// A loss of logits, and their gradient.
struct CrossEntropyWithGrad : ClassLossWithGrad<CrossEntropyWithGrad> {
  static constexpr std::string_view name = "CrossEntropyWithGrad";
  static constexpr std::string_view rows_are = "logits", factor_name = "loss_scaling";
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::softmax}; }
  /// The loops of Softmax, and one over the result.
  constexpr operator VertexCost() const { return line_cost(6, {18, 2}, {16, 4}); }
  static constexpr bool validate(Inference& op) { return detail::check_cross_entropy<CrossEntropyWithGrad>(op); }
  template <PackedAttributes, class X, class... V>
  static constexpr std::int64_t stack_bytes();

  template <std::int64_t classes, PackedAttributes, class X, class DX>
  static double row_loss_and_gradient(X logits, std::int64_t label, double factor, DX dx);
};

/// The gradient of CrossEntropy.
struct CrossEntropyGrad : ClassLossGrad<CrossEntropyGrad> {
  static constexpr std::string_view name = "CrossEntropyGrad";
  static constexpr std::string_view rows_are = "logits";
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::softmax}; }
  constexpr operator VertexCost() const { return CrossEntropyWithGrad{}; }
  static constexpr void gradient(GradientContext& op) {
    detail::differentiate_dloss<CrossEntropyGrad>(op);
    if (!op.needs(0)) return;
    const auto attributes = op.attributes<Attributes>();
    const Tensor counted = detail::counted_labels(op.input(1), attributes, computed_dtype(op.input_spec(0).dtype));
    const Tensor dloss = detail::gradient_of_rows(op.input(2), counted, attributes.reduction);
    detail::differentiate_softmax_rows(op, dloss * counted);
  }
  template <PackedAttributes, class X, class... V>
  static constexpr std::int64_t stack_bytes();

  template <std::int64_t classes, PackedAttributes A, class X, class DX>
  static void row_gradient(X logits, std::int64_t label, double factor, DX dx);
};

/// Negative log-likelihood of labels, from logits.
struct CrossEntropy : ClassLoss<CrossEntropy> {
  static constexpr std::string_view name = "CrossEntropy";
  static constexpr std::string_view rows_are = "logits";
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::softmax}; }
  constexpr operator VertexCost() const { return line_cost(2, {10, 2}, {9, 4}); }
  static constexpr bool validate(Inference& op) { return detail::check_cross_entropy<CrossEntropy>(op); }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0))
      op.input_gradient(0,
                        apply<CrossEntropyGrad>({op.input(0), op.input(1), op.output_gradient(0)}, op.attributes<Attributes>()));
  }
  template <std::int64_t classes, PackedAttributes, class X>
  static double row_loss(X logits, std::int64_t label);
};

namespace ops {
/// Returns the negative log-likelihood of labels from logits: log(sum(exp(x))) - x[label], over the last axis. logits: (...,
/// classes), float16, bfloat16, float32 or float64; labels: (...), int32 or uint32. Result: a scalar, or (...) without a
/// reduction, in logits' dtype; computed in float32, or float64 for logits of float64. The loss is limited only by the range of
/// its dtype. The gradient, also by autodiff, is (softmax(x) - onehot(label)) dloss, rounded once. Ignored labels and labels that
/// are not a class follow the rules of nll_loss.
[[nodiscard]] constexpr Tensor cross_entropy(Tensor logits, Tensor labels, const NllOptions& options = {}) {
  return apply<CrossEntropy>({logits, labels}, nll_attributes(options));
}
/// Returns the loss of cross_entropy, a scalar, and the gradient of the logits, of their shape and dtype, from one op.
/// loss_scaling multiplies the gradient, not the loss.
[[nodiscard]] constexpr LossAndGradient cross_entropy_with_grad(Tensor logits, Tensor labels, double loss_scaling = 1,
                                                                const NllOptions& options = {}) {
  return detail::loss_and_gradient<CrossEntropyWithGrad>(std::array{logits, labels}, nll_attributes(options, loss_scaling));
}
/// Returns the loss of cross_entropy and the gradient of the logits from one op, with a scalar tensor as loss_scaling.
/// loss_scaling multiplies the gradient, not the loss.
[[nodiscard]] constexpr LossAndGradient cross_entropy_with_grad(Tensor logits, Tensor labels, Tensor loss_scaling,
                                                                const NllOptions& options = {}) {
  return detail::loss_and_gradient<CrossEntropyWithGrad>(std::array{logits, labels, loss_scaling}, nll_attributes(options));
}
}  // namespace ops

}  // namespace tilewright
