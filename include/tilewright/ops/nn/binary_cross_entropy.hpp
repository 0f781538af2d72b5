#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/ops/elementwise/activation.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/logical.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/nn/class_loss.hpp"
#include "tilewright/ops/reduce/mean.hpp"

namespace tilewright {

namespace detail {
/// Checks that the input and the target of an elementwise loss can be compared; fails if not.
constexpr bool check_loss(std::string_view loss, Tensor input, Tensor target) {
  if (!input.is_usable() || !target.is_usable()) return false;
  if (!is_floating_point(input.dtype()) || !has_arithmetic(input.dtype()))
    return input.ir().fail(text(loss, ": input ", to_text(input.spec()), ": ", floating_point_dtypes(), " expected")), false;
  if (input.spec() == target.spec()) return true;
  input.ir().fail(text(loss, ": target ", to_text(target.spec()), " for input ", to_text(input.spec()),
                       ": equal shapes and dtypes expected"));
  return false;
}
/// Casts half precision to float32, the dtype in which losses are computed.
constexpr Tensor widened(Tensor x) { return is_half(x.dtype()) ? ops::cast(x, float32) : x; }
/// Reduces the losses of elements or rows to the result, in the input's dtype.
constexpr Tensor reduced(Tensor losses, Reduction reduction, DType dtype) {
  if (reduction == Reduction::mean) losses = ops::mean(losses);
  else if (reduction == Reduction::sum) losses = ops::sum(losses);
  return ops::cast(losses, dtype);
}
/// Returns factor x, and 0 where the factor is 0 and x infinite.
constexpr Tensor product_or_zero(Tensor factor, Tensor x) {
  return ops::where(ops::equal(factor, 0) & ops::isinf(x), 0, factor * x);
}

/// max(x, 0) + rest and max(-x, 0) + rest with rest = log(1 + exp(-|x|)): log(1 + exp(x)) and log(1 + exp(-x)) without
/// cancellation. log(1 + u) is computed as log(w) + (u - (w - 1)) / w with w = 1 + u rounded.
template <class X>
struct SoftplusPair {
  X of_x, of_minus_x;
};
template <class X>
inline SoftplusPair<X> softplus_pair(X x) {
  const X zero = math::number<X>(0), one = math::number<X>(1);
  const X u = math::exp(-math::abs(x)), w = one + u;
  const X rest = math::log(w) + math::divide(u - (w - one), w);
  return {(math::max)(zero, x) + rest, (math::max)(zero, -x) + rest};
}
/// Returns factor x, or 0 where the factor is 0.
template <class X>
inline X product_or_zero_of(X factor, X x) {
  return math::select(factor == math::number<X>(0), math::number<X>(0), factor * x);
}
}  // namespace detail

/// The gradient of a logit: inputs (x, target, dy[, pos_weight]).
struct BinaryCrossEntropyGrad : Elementwise<BinaryCrossEntropyGrad> {
  static constexpr std::string_view name = "BinaryCrossEntropyGrad";
  constexpr operator VertexCost() const { return binary_map_cost({26, 2}, {16, 4}); }
  template <class X>
  static X forward(X x, X target, X dy) {
    return forward(x, target, dy, math::number<X>(1));
  }
  template <class X>
  static X forward(X x, X target, X dy, X pos_weight) {
    const X one = math::number<X>(1);
    return dy * math::fma(one - target, math::sigmoid(x), -(pos_weight * target * math::sigmoid(-x)));
  }
  static constexpr void gradient(GradientContext& op) {
    const bool has_weight = op.input_count() > 3;
    const Tensor x = op.input(0), target = op.input(1), of_dx = op.output_gradient(0), dy = of_dx * op.input(2);
    const Tensor above = ops::sigmoid(x), below = ops::sigmoid(-x);
    const auto weighted = [&](Tensor t) { return has_weight ? t * op.input(3) : t; };
    if (op.needs(0)) op.input_gradient(0, dy * above * below * (1 - target + weighted(target)));
    if (op.needs(1)) op.input_gradient(1, -(dy * (above + weighted(below))));
    if (op.needs(2))
      op.input_gradient(2, has_weight ? apply<BinaryCrossEntropyGrad>({x, target, of_dx, op.input(3)})
                                      : apply<BinaryCrossEntropyGrad>({x, target, of_dx}));
    if (has_weight && op.needs(3)) op.input_gradient(3, -ops::sum_to(dy * target * below, op.input_spec(3).shape));
  }
};

/// The binary cross entropy of logits x and targets t, with a weight p of positive targets: p t log(1 + exp(-x)) + (1 - t) log(1
/// + exp(x)). Inputs (x, target[, pos_weight]).
struct BinaryCrossEntropy : Elementwise<BinaryCrossEntropy> {
  static constexpr std::string_view name = "BinaryCrossEntropy";
  constexpr operator VertexCost() const { return binary_map_cost({34, 2}, {20, 4}); }
  static constexpr bool check_dtypes(Inference& op) { return op.require_floating_point(0) && equal_dtypes(op); }
  template <class X>
  static X forward(X x, X target) {
    return forward(x, target, math::number<X>(1));
  }
  template <class X>
  static X forward(X x, X target, X pos_weight) {
    const auto [of_x, of_minus_x] = detail::softplus_pair(x);
    return detail::product_or_zero_of(pos_weight * target, of_minus_x) +
           detail::product_or_zero_of(math::number<X>(1) - target, of_x);
  }
  static constexpr void gradient(GradientContext& op) {
    const bool has_weight = op.input_count() > 2;
    const Tensor x = op.input(0), target = op.input(1), dy = op.output_gradient(0);
    if (op.needs(0))
      op.input_gradient(0, has_weight ? apply<BinaryCrossEntropyGrad>({x, target, dy, op.input(2)})
                                      : apply<BinaryCrossEntropyGrad>({x, target, dy}));
    if (op.needs(1)) {  // p log(1 + exp(-x)) - log(1 + exp(x)) = (p - 1) log(1 + exp(-x)) - x
      const Tensor slope = has_weight ? (op.input(2) - 1) * ops::softplus(-x) - x : -x;
      op.input_gradient(1, detail::product_or_zero(dy, slope));
    }
    if (has_weight && op.needs(2)) {
      const Tensor slope = detail::product_or_zero(target, ops::softplus(-x));
      op.input_gradient(2, ops::sum_to(dy * slope, op.input_spec(2).shape));
    }
  }
};

struct BinaryCrossEntropyOptions {
  Tensor weight{};  ///< factor of each element's loss, of a shape that broadcasts to the input's; none: 1
  Tensor
      pos_weight{};  ///< factor of the positive part; it broadcasts like `weight`: 3 for three negative examples per positive one
  Reduction reduction = Reduction::mean;  ///< mean divides by the number of elements, regardless of their weights
};

namespace ops {
/// Returns the binary cross entropy of logits x and targets t from 0 to 1: w (p t log(1 + exp(-x)) + (1 - t) log(1 + exp(x))),
/// where w and p are the options' weight and pos_weight. The loss is limited only by the range of its dtype. input: any shape,
/// float16, bfloat16, float32 or float64; target: the same shape and dtype; weight and pos_weight: of the input's dtype, of
/// shapes that broadcast to it, such as one number per column. Result: a scalar, or the input's shape without a reduction, in its
/// dtype; half precision is computed in float32 and rounded once. A factor of 0 gives 0, even for an infinite logit. Gradients:
/// of input w ((1 - t) sigmoid(x) - p t sigmoid(-x)), of target w ((p - 1) log(1 + exp(-x)) - x), and of the weights.
[[nodiscard]] constexpr Tensor binary_cross_entropy_with_logits(Tensor input, Tensor target,
                                                                const BinaryCrossEntropyOptions& options = {}) {
  constexpr std::string_view loss = "binary_cross_entropy_with_logits";
  if (!detail::check_loss(loss, input, target)) return Tensor::invalid(input.ir());
  const TensorSpec spec = input.spec();
  const auto is_factor = [&](std::string_view name, Tensor factor) {
    if (!factor.valid()) return true;
    if (factor.dtype() == spec.dtype && broadcast(factor.shape(), spec.shape) == spec.shape) return true;
    input.ir().fail(text(loss, ": ", name, " ", to_text(factor.spec()), " for input ", to_text(spec),
                         ": a shape that broadcasts to ", to_text(spec.shape), ", in ", to_text(spec.dtype), ", expected"));
    return false;
  };
  if (!is_factor("weight", options.weight) || !is_factor("pos_weight", options.pos_weight)) return Tensor::invalid(input.ir());
  const Tensor x = detail::widened(input), t = detail::widened(target);
  Tensor losses = options.pos_weight.valid() ? apply<BinaryCrossEntropy>({x, t, detail::widened(options.pos_weight)})
                                             : apply<BinaryCrossEntropy>({x, t});
  if (options.weight.valid()) losses = detail::product_or_zero(detail::widened(options.weight), losses);
  return detail::reduced(losses, options.reduction, spec.dtype);
}
}  // namespace ops

}  // namespace tilewright
