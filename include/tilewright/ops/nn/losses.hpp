#pragma once
#include "tilewright/core/requirements.hpp"

#include <limits>

// Losses by PyTorch's names, beside those of tilewright.hpp. A program that calls one includes this header.
#include "tilewright/ops/elementwise/pow.hpp"
#include "tilewright/ops/nn/binary_cross_entropy.hpp"
#include "tilewright/ops/nn/weighted_cross_entropy.hpp"
#include "tilewright/ops/reduce/reductions.hpp"

namespace tilewright {

/// x^2 / 2 where |x| is at most `delta`, otherwise delta (|x| - delta / 2); divided by delta if `is_relative` is not 0.
struct Huber : UnaryOp<Huber> {
  static constexpr std::string_view name = "Huber";
  constexpr operator VertexCost() const { return map_cost({14, 2}, {14, 4}); }
  struct Attributes {
    double delta = 1;
    std::int64_t is_relative = 0;
  };
  template <class X>
  static X scaled(X x, Attributes attributes) {
    return attributes.is_relative != 0 ? math::divide(x, math::number<X>(attributes.delta)) : x;
  }
  template <class X>
  static X forward(X x, Attributes attributes) {  // |x| stands last, so that NaN stays
    const X size = math::abs(x), part = (math::min)(math::number<X>(attributes.delta), size);
    return scaled(part, attributes) * math::fma(math::number<X>(-0.5), part, size);
  }
  template <class X>
  static X backward(X x, X dy, Attributes attributes) {
    const X delta = math::number<X>(attributes.delta);
    return dy * scaled((math::min)(delta, (math::max)(-delta, x)), attributes);
  }
  static constexpr Tensor gradient_of_slope(Tensor x, Tensor dy, Tensor gradient, const Attributes& attributes) {
    const double delta = attributes.delta;
    const Tensor inside = apply<UnaryGrad<Clip>>({x, gradient * dy}, {-delta, delta});
    return attributes.is_relative != 0 ? inside * (1 / delta) : inside;
  }
};

struct LossOptions {
  Reduction reduction = Reduction::mean;  ///< mean divides by the number of elements
};
struct SmoothL1Options {
  double beta = 1;  ///< at least 0: the difference at which the square becomes a line; 0 gives l1_loss
  Reduction reduction = Reduction::mean;  ///< mean divides by the number of elements
};
struct HuberOptions {
  double delta = 1;  ///< above 0: the difference at which the square becomes a line
  Reduction reduction = Reduction::mean;  ///< mean divides by the number of elements
};
struct KlDivOptions {
  Flag log_target = false;  ///< whether the target also holds logarithms
  Reduction reduction = Reduction::mean;  ///< mean divides by the number of elements
};
struct CosineEmbeddingOptions {
  double margin = 0;  ///< from -1 to 1: vectors with the target -1 have no loss up to this cosine
  Reduction reduction = Reduction::mean;  ///< mean divides by the number of rows
};

namespace detail {
/// Returns the loss f(difference) of elements.
template <class F>
constexpr Tensor loss_of_difference(std::string_view loss, Tensor input, Tensor target, Reduction reduction, F f) {
  if (!check_loss(loss, input, target)) return Tensor::invalid(input.ir());
  return reduced(f(widened(input) - widened(target)), reduction, input.dtype());
}
constexpr Tensor squared(Tensor x) { return ops::pow(x, 2); }
}  // namespace detail

namespace ops {
/// Returns the squared error (x - t)^2. input: any shape, float16, bfloat16, float32 or float64; target: the same shape and
/// dtype. Result: a scalar, or the input's shape without a reduction, in its dtype; half precision is computed in float32 and
/// rounded once. Input and target have gradients.
[[nodiscard]] constexpr Tensor mse_loss(Tensor input, Tensor target, const LossOptions& options = {}) {
  return detail::loss_of_difference("mse_loss", input, target, options.reduction, detail::squared);
}
/// Returns the absolute error |x - t|. Operands and result are those of mse_loss. The gradient is 0 where both are equal.
[[nodiscard]] constexpr Tensor l1_loss(Tensor input, Tensor target, const LossOptions& options = {}) {
  return detail::loss_of_difference("l1_loss", input, target, options.reduction, abs);
}
/// Returns (x - t)^2 / (2 beta) where |x - t| < beta, otherwise |x - t| - beta / 2. Operands and result are those of mse_loss.
[[nodiscard]] constexpr Tensor smooth_l1_loss(Tensor input, Tensor target, const SmoothL1Options& options = {}) {
  const double beta = options.beta;
  if (!(beta >= 0 && beta <= (std::numeric_limits<float>::max)()) && detail::check_loss("smooth_l1_loss", input, target))
    return input.ir().fail(text("smooth_l1_loss: beta ", number_text(beta), ": a number of float32 of at least 0 expected"));
  return detail::loss_of_difference("smooth_l1_loss", input, target, options.reduction, [&](Tensor d) {
    // below the normal numbers half of beta is nothing beside |x - t|
    return beta < (std::numeric_limits<float>::min)() ? abs(d) : apply<Huber>({d}, {beta, 1});
  });
}
/// Returns (x - t)^2 / 2 where |x - t| <= delta, otherwise delta (|x - t| - delta / 2). Operands and result are those of
/// mse_loss.
[[nodiscard]] constexpr Tensor huber_loss(Tensor input, Tensor target, const HuberOptions& options = {}) {
  const double delta = options.delta;
  if (!(delta > 0 && delta <= (std::numeric_limits<float>::max)()) && detail::check_loss("huber_loss", input, target))
    return input.ir().fail(text("huber_loss: delta ", number_text(delta), ": a number of float32 above 0 expected"));
  return detail::loss_of_difference("huber_loss", input, target, options.reduction,
                                    [&](Tensor d) { return apply<Huber>({d}, {delta, 0}); });
}
/// Returns the Kullback-Leibler divergence of probabilities t from the probabilities whose logarithms are the input x: t (log(t)
/// - x), or exp(t) (t - x) with `log_target`. Where t, or exp(t), is 0, the loss and its gradients are 0. PyTorch's "batchmean"
/// is the sum divided by the first extent. Operands and result are those of mse_loss.
[[nodiscard]] constexpr Tensor kl_div(Tensor input, Tensor target, const KlDivOptions& options = {}) {
  if (!detail::check_loss("kl_div", input, target)) return Tensor::invalid(input.ir());
  const Tensor x = detail::widened(input), t = detail::widened(target);
  const Tensor p = options.log_target ? exp(t) : t, is_zero = equal(p, 0);
  const Tensor log_p = options.log_target ? t : log(where(is_zero, 1, t));
  return detail::reduced(p * where(is_zero, 0, log_p - x), options.reduction, input.dtype());
}
/// Returns the loss of the cosine c of two vectors: 1 - c for the target 1, max(c - margin, 0) for -1, and 0 for another number.
/// input1, input2: (..., width) of one shape and dtype; target: (...), any dtype except bool. Result: a scalar, or (...) without
/// a reduction. c = a b / sqrt((a a + 1e-12) (b b + 1e-12)). The target has no gradient.
[[nodiscard]] constexpr Tensor cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target,
                                                     const CosineEmbeddingOptions& options = {}) {
  if (!detail::check_loss("cosine_embedding_loss", input1, input2) || !target.is_usable()) return Tensor::invalid(input1.ir());
  const auto fail = [&](const auto&... message) { return input1.ir().fail(text("cosine_embedding_loss: ", message...)); };
  Shape rows = input1.shape();
  if (rows.rank == 0) return fail("input ", to_text(input1.spec()), ": at least one axis expected");
  rows.extents[--rows.rank] = 0;
  if (target.shape() != rows || target.dtype() == boolean)
    return fail("target ", to_text(target.spec()), " for inputs ", to_text(input1.spec()), ": ", to_text(rows),
                " of numbers expected");
  if (!(options.margin >= -1 && options.margin <= 1))
    return fail("margin ", number_text(options.margin), ": a number from -1 to 1 expected");
  const Tensor a = detail::widened(input1), b = detail::widened(input2);
  const auto length = [](Tensor x) { return sqrt(sumsquare(x, -1) + 1e-12); };
  const Tensor cosine = sum(a * b, -1) / (length(a) * length(b));
  const Tensor of_other = where(equal(target, -1), clip(cosine - options.margin, 0), 0);
  return detail::reduced(where(equal(target, 1), 1 - cosine, of_other), options.reduction, input1.dtype());
}
}  // namespace ops

}  // namespace tilewright
