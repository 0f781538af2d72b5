#pragma once
#include "tilewright/core/pair.hpp"
#include "tilewright/ops/collective/differs_by_replica.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/reduce/mean.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright {

/// Base of y = (x - mean) inverse scale + bias, where inverse is 1 / the standard deviation: inputs (x, scale, bias, mean,
/// inverse), broadcast to x. Mean and inverse have the dtype in which x is computed.
template <class D>
struct BatchNormOp : Elementwise<D> {
  static constexpr std::string_view name = "BatchNormalization";
  constexpr operator VertexCost() const { return binary_map_cost({8, 2}, {8, 4}); }
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }  // ops::batch_norm has checked them
  template <class X>
  static X forward(X x, X scale, X bias, X mean, X inverse) {
    return math::fma(x - mean, inverse * scale, bias);
  }

 protected:
  /// Passes a gradient to input i: sums it over the axes along which the input was broadcast, in its dtype.
  static constexpr void give(GradientContext& op, int i, Tensor gradient) {
    if (op.needs(i)) op.input_gradient(i, ops::cast(ops::sum_to(gradient, op.input_spec(i).shape), op.input_spec(i).dtype));
  }
};

/// Normalisation with a mean and deviation that do not depend on x.
struct BatchNormInference : BatchNormOp<BatchNormInference> {
  static constexpr void gradient(GradientContext& op) {
    const DType dtype = op.input_spec(3).dtype;
    const Tensor dy = ops::cast(op.output_gradient(0), dtype), inverse = op.input(4);
    const auto factor = [&] { return ops::cast(op.input(1), dtype) * inverse; };
    const auto distance = [&] {
      const Tensor x = ops::cast(op.input(0), dtype);
      return x - op.input(3);
    };
    if (op.needs(0)) give(op, 0, dy * factor());
    if (op.needs(1)) give(op, 1, dy * distance() * inverse);
    if (op.needs(2)) give(op, 2, dy);
    if (op.needs(3)) {
      const Tensor negated = -dy;
      give(op, 3, negated * factor());
    }
    if (op.needs(4)) {
      const Tensor scaled = dy * distance();
      give(op, 4, scaled * ops::cast(op.input(1), dtype));
    }
  }
};
/// Normalisation with the mean and deviation of x itself. The gradient of x includes the paths through them; they have no
/// gradients of their own. With z = (x - mean) inverse: dbias = sum(dy), dscale = sum(dy z), dx = (dy - mean(dy) - z mean(dy z))
/// inverse scale.
struct BatchNormTraining : BatchNormOp<BatchNormTraining> {
  static constexpr void gradient(GradientContext& op) {
    const TensorSpec x = op.input_spec(0), channels = op.input_spec(3);
    const Tensor dy = ops::cast(op.output_gradient(0), channels.dtype);
    if (!op.needs(0) && !op.needs(1)) return give(op, 2, dy);
    const Tensor given = ops::cast(op.input(0), channels.dtype), distance = given - op.input(3), z = distance * op.input(4);
    const Tensor dbias = ops::sum_to(dy, channels.shape), dscale = ops::sum_to(dy * z, channels.shape);
    give(op, 1, dscale);
    give(op, 2, dbias);
    if (!op.needs(0)) return;
    const double part = static_cast<double>(channels.nelms()) / static_cast<double>(x.nelms());
    const Tensor scale = ops::cast(op.input(1), channels.dtype), factor = scale * op.input(4), rest = dy - dbias * part;
    give(op, 0, (rest - z * (dscale * part)) * factor);
  }
};

/// t = (1 - momentum) t + momentum x, for statistics on which no gradient depends. A graph that contains it can be
/// differentiated, but not recomputed.
struct RunningStatistic : Elementwise<RunningStatistic> {
  static constexpr std::string_view name = "RunningStatistic";
  constexpr operator VertexCost() const { return binary_map_cost({6, 2}, {6, 4}); }
  constexpr operator Effects() const { return Effects{.modifies = 0, .has_side_effect = true}; }
  static constexpr Differentiation differentiation = Differentiation::stops;
  struct Attributes {
    double momentum = 0;
  };
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  template <class T, class X>
  static T forward(T t, X x, Attributes attributes) {
    const T momentum = math::number<T>(attributes.momentum), rest = math::number<T>(1 - attributes.momentum);
    return math::fma(momentum, T(x), rest * t);
  }
};

/// Options of a batch normalisation for training.
struct BatchNormOptions {
  double momentum = 0.1;  ///< weight of the batch in the running statistics
  double eps = 1e-5;  ///< added to the variance
};

namespace detail {
/// Checks that x has channels and that the other tensors, (channels,), fit it. Fails with what is wrong if not.
constexpr bool check_batch_norm(std::string_view name, Tensor x, std::initializer_list<Pair<std::string_view, Tensor>> others) {
  if (!x.valid()) return false;
  Ir& ir = x.ir();
  const auto fail = [&](const Text& message) { return ir.fail(text(name, ": ", message)), false; };
  if (!is_floating_point(x.dtype())) return fail(text(to_text(x.spec()), ": ", floating_point_dtypes(), " expected"));
  if (x.rank() < 2) return fail(text(to_text(x.spec()), ": at least 2 axes, for samples and channels, expected"));
  for (const auto& [what, tensor] : others) {
    if (!tensor.valid()) return false;
    const bool is_statistic = what.ends_with("mean") || what.ends_with("var");
    const bool dtype_fits = tensor.dtype() == x.dtype() || (is_statistic && is_half(x.dtype()) && tensor.dtype() == float32);
    if (tensor.shape() != Shape{x.shape(1)} || !dtype_fits)
      return fail(text(what, " ", to_text(tensor.spec()), " for ", to_text(x.spec()), ": ",
                       to_text(TensorSpec{{x.shape(1)}, x.dtype()}), is_statistic && is_half(x.dtype()) ? ", or float32," : "",
                       " expected"));
  }
  return true;
}
/// Reshapes (channels,) so that it broadcasts to x.
constexpr Tensor along_channels(Tensor t, Tensor x) {
  Shape shape{x.shape(1)};
  for (int axis = 2; axis < x.rank(); ++axis) shape.push_back(1);
  return ops::reshape(t, shape);
}
constexpr DType statistics_dtype(Tensor x) { return computed_dtype(x.dtype()); }
/// Returns 1 / sqrt(variance + eps), in the dtype of statistics.
constexpr Tensor inverse_deviation(Tensor variance, double eps) { return 1 / ops::sqrt(variance + eps); }
}  // namespace detail

namespace ops {
/// Batch normalisation with given statistics: (x - mean) / sqrt(var + eps) * scale + bias for each channel. x: (N, C, ...),
/// float16, bfloat16, float32 or float64; scale, bias: (C,), the same dtype; mean, var: (C,), the same dtype, or float32 for
/// float16. The result has x's shape and dtype. Half precision is computed in float32. Gradients: of all five tensors.
/// `momentum`, a parameter of PopXL, has no effect. Errors: x without channels; other tensors of another shape or dtype.
///
///     y = ops::batch_norm_inference(x, scale, bias, mean, var);
[[nodiscard]] constexpr Tensor batch_norm_inference(Tensor x, Tensor scale, Tensor bias, Tensor mean, Tensor var,
                                                    double eps = 1e-5, double /*momentum*/ = 0.9) {
  if (!detail::check_batch_norm("batch_norm_inference", x, {{"scale", scale}, {"bias", bias}, {"mean", mean}, {"var", var}}))
    return Tensor::invalid(x.ir());
  if (!detail::check_parameter(x.ir(), "batch_norm_inference", "eps", eps)) return Tensor::invalid(x.ir());
  const DType dtype = detail::statistics_dtype(x);
  const Tensor inverse = detail::inverse_deviation(cast(var, dtype), eps);
  return apply<BatchNormInference>({x, detail::along_channels(scale, x), detail::along_channels(bias, x),
                                    detail::along_channels(cast(mean, dtype), x), detail::along_channels(inverse, x)});
}
/// Batch normalisation for training, as PyTorch's: normalises each channel with the mean and variance of x over all axes except
/// the second; the variance is divided by the number of elements. x, scale, bias and the result are those of
/// batch_norm_inference. running_mean, running_var: (C,), variables of x's dtype, or float32 for float16, or tensors by
/// reference. They become (1 - momentum) running + momentum batch, in place, with the variance divided by the number of elements
/// less 1. With several replicas, each has the statistics of its own batches, and the host gets those of the first one
/// (docs/how-to/replication.md, What stays equal). Gradients: of x, scale and bias. A graph with this op can be differentiated
/// although it changes the statistics, but it cannot be recomputed (recompute_graph). Errors: those of batch_norm_inference, and
/// channels of one element.
///
///     y = ops::batch_norm(x, scale, bias, running_mean, running_var, {.momentum = 0.01});
constexpr Tensor batch_norm(Tensor x, Tensor scale, Tensor bias, Tensor running_mean, Tensor running_var,
                            const BatchNormOptions& options = {}) {
  if (!detail::check_batch_norm("batch_norm", x,
                                {{"scale", scale}, {"bias", bias}, {"running_mean", running_mean}, {"running_var", running_var}}))
    return Tensor::invalid(x.ir());
  if (!detail::check_parameter(x.ir(), "batch_norm", "eps", options.eps) ||
      !detail::check_parameter(x.ir(), "batch_norm", "momentum", options.momentum))
    return Tensor::invalid(x.ir());
  const std::int64_t count = x.nelms() / x.shape(1);
  if (count < 2) return x.ir().fail(text("batch_norm: ", to_text(x.spec()), ": at least two elements for each channel expected"));
  Axes axes(0);
  for (int axis = 2; axis < x.rank(); ++axis) axes.list.push_back(axis);
  const Tensor wide = cast(x, detail::statistics_dtype(x)), batch_mean = mean(wide, axes);
  const Tensor distance = wide - detail::along_channels(batch_mean, x), variance = mean(distance * distance, axes);
  const double correction = static_cast<double>(count) / static_cast<double>(count - 1);
  apply<RunningStatistic>({differs_by_replica(running_mean), batch_mean}, {options.momentum});
  apply<RunningStatistic>({differs_by_replica(running_var), variance * correction}, {options.momentum});
  return apply<BatchNormTraining>({x, detail::along_channels(scale, x), detail::along_channels(bias, x),
                                   detail::along_channels(batch_mean, x),
                                   detail::along_channels(detail::inverse_deviation(variance, options.eps), x)});
}
}  // namespace ops

}  // namespace tilewright
