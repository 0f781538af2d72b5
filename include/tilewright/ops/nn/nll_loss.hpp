#pragma once
#include <limits>

#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/nn/class_loss.hpp"

namespace tilewright {

namespace detail {
/// Lower limit of probabilities, which keeps the loss finite.
template <class T>
inline constexpr double smallest_probability = std::is_same_v<T, float16_t> ? 6.104e-5 : 1e-7;
/// Lower limit of the gradient's divisor. The gradient is not 0 where the loss has reached its limit, so that training can leave
/// such states.
template <class T>
inline constexpr double smallest_divisor = std::is_same_v<T, float16_t> ? 6.104e-5 : 1e-10;
/// Returns dy where x is at least a limit, otherwise 0.
constexpr Tensor clipped_gradient(Tensor x, Tensor dy, double limit) {
  return apply<UnaryGrad<Clip>>({x, dy}, {limit, std::numeric_limits<double>::infinity()});
}
}  // namespace detail

/// The gradient of Nll.
struct NllGrad : ClassLossGrad<NllGrad> {
  static constexpr std::string_view name = "NllGrad";
  static constexpr std::string_view rows_are = "probabilities";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::serial, {4, 1}, {4, 2}); }
  static constexpr void gradient(GradientContext& op) {
    detail::differentiate_dloss<NllGrad>(op);
    if (!op.needs(0) || op.attributes<Attributes>().log_prob != 0) return;
    const TensorSpec probs = op.input_spec(0);
    const DType computed = computed_dtype(probs.dtype);
    const double least = probs.dtype == float16 ? detail::smallest_divisor<float16_t> : detail::smallest_divisor<float>;
    const Tensor p = op.input(0).cast(computed), dp = op.output(0).cast(computed) * op.output_gradient(0).cast(computed);
    op.input_gradient(0, detail::clipped_gradient(p, -(dp / ops::clip(p, least)), least).cast(probs.dtype));
  }

  template <std::int64_t classes, PackedAttributes A, class P, class DP>
  static void row_gradient(P probs, std::int64_t label, double factor, DP dprobs);
};

/// Negative log-likelihood of labels: -log(p[label]).
struct Nll : ClassLoss<Nll> {
  static constexpr std::string_view name = "Nll";
  static constexpr std::string_view rows_are = "probabilities";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::serial, {4, 1}, {4, 2}, Confidence::published); }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0))
      op.input_gradient(0, apply<NllGrad>({op.input(0), op.input(1), op.output_gradient(0)}, op.attributes<Attributes>()));
  }
  template <std::int64_t, PackedAttributes A, class P>
  static double row_loss(P probs, std::int64_t label);
};

/// The loss of probabilities p = softmax(x), and the gradient of x: p - onehot(label).
struct NllWithSoftmaxGrad : ClassLossWithGrad<NllWithSoftmaxGrad> {
  static constexpr std::string_view name = "NlllWithSoftmaxGradDirect";
  static constexpr std::string_view rows_are = "probabilities", factor_name = "loss_grad";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::serial, {9, 1}, {9, 2}, Confidence::published); }

  template <std::int64_t classes, PackedAttributes A, class P, class DX>
  static double row_loss_and_gradient(P probs, std::int64_t label, double factor, DX dx);
};

namespace ops {
/// Returns the negative log-likelihood of labels from probabilities. For logits, use cross_entropy, whose loss has no limit.
/// probs: (..., classes), float16, bfloat16, float32 or float64; labels: (...), int32 or uint32. Result: a scalar, or (...)
/// without a reduction, in probs' dtype. Probabilities count as at least 1e-7 (6.1e-5 in float16). The gradient is -1 / max(p,
/// 1e-10), or -1 / max(p, 6.1e-5) in float16, so it is not 0 below the limit.
///
/// A label equal to `ignore_index` has the loss 0 and the gradient 0, as in PyTorch, and means do not count it. If no label
/// counts, the mean is 0, where PyTorch gives NaN. Another label outside of [0, classes) is a fault: it counts as ignored, and
/// the session's run throws FaultError when it ends.
[[nodiscard]] constexpr Tensor nll_loss(Tensor probs, Tensor labels, const NllOptions& options = {}) {
  return apply<Nll>({probs, labels}, nll_attributes(options));
}
/// Returns the loss of nll_loss for probs = softmax(x), and its gradient with respect to x, times loss_grad. Not differentiable.
/// For logits, cross_entropy_with_grad is better, because its loss has no limit.
[[nodiscard]] constexpr LossAndGradient nll_loss_with_softmax_grad(Tensor probs, Tensor labels, double loss_grad = 1,
                                                                   const NllOptions& options = {}) {
  return detail::loss_and_gradient<NllWithSoftmaxGrad>(std::array{probs, labels}, nll_attributes(options, loss_grad));
}
/// Returns the loss of nll_loss for probs = softmax(x), and its gradient with respect to x, times loss_grad, a scalar tensor. Not
/// differentiable.
[[nodiscard]] constexpr LossAndGradient nll_loss_with_softmax_grad(Tensor probs, Tensor labels, Tensor loss_grad,
                                                                   const NllOptions& options = {}) {
  return detail::loss_and_gradient<NllWithSoftmaxGrad>(std::array{probs, labels, loss_grad}, nll_attributes(options));
}
}  // namespace ops

}  // namespace tilewright
