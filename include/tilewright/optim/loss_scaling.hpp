#pragma once
#include <cstdint>
#include <limits>
#include <string_view>

#include "tilewright/core/span.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/logical.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/reduce/sum.hpp"
#include "tilewright/ops/update/var_updates.hpp"
#include "tilewright/optim/clip.hpp"
#include "tilewright/program/only_if.hpp"

namespace tilewright::optim {

/// Options of loss scaling, which keeps small float16 gradients from becoming 0. The gradient of the loss is multiplied by a
/// scale, and the gradients of variables are divided by it before they are used ("Mixed Precision Training", arXiv 1710.03740).
/// Names and numbers are those of torch.amp.GradScaler.
struct LossScaling {
  double init_scale = 65536;  ///< initial scale
  double growth_factor = 2;  ///< factor of the scale after growth_interval steps in a row without a skipped step
  double backoff_factor = 0.5;  ///< factor of the scale after a skipped step
  std::int64_t growth_interval = 2000;  ///< steps in a row without a skipped step before the scale grows
  Flag is_dynamic = true;  ///< false: the scale is constant, and no step is skipped
};
/// Returns options for a constant scale.
[[nodiscard]] constexpr LossScaling static_loss_scaling(double scale) { return {.init_scale = scale, .is_dynamic = false}; }

/// Scales the gradient of a loss, and updates variables by the gradients computed from it:
///
///     tw::optim::LossScaler scaler(ir, {});
///     const auto [loss, gradient] = ops::cross_entropy_with_grad(logits, labels, scaler.scale());
///     ... gradients of variables ...
///     scaler.step(gradients, [&] { ... updates of variables by gradients ... });
///
/// A dynamic scale is the variable `scale`, a float32 scalar; it never grows above 2^126. `growth_tracker`, an int32 scalar,
/// counts the steps since the scale last changed. If a gradient is infinite or NaN, the step is skipped: its updates are a no-op
/// for variables and for the state of optimisers.
class LossScaler {
 public:
  /// `prefix`: prefix of the variables' names; a dot follows it. Errors: a scale or factor that is not above 0, or above 2^126;
  /// a backoff_factor above 1; an interval below 1, or above 2^31 - 1.
  constexpr LossScaler(Ir& ir, const LossScaling& parameters, std::string_view prefix = "loss_scaling")
      : ir_(ir), parameters_(parameters) {
    const auto validate = [&](std::string_view name, double number, bool is_below, std::string_view most) {
      if (!(number > 0 && is_below))
        ir.fail(text("LossScaler: ", name, " ", number_text(number), ": a number above 0, at most ", most, ", expected"));
    };
    validate("init_scale", parameters.init_scale, parameters.init_scale <= largest, "2^126");
    validate("growth_factor", parameters.growth_factor, parameters.growth_factor <= largest, "2^126");
    validate("backoff_factor", parameters.backoff_factor, parameters.backoff_factor <= 1, "1");
    if (parameters.growth_interval < 1 || parameters.growth_interval > (std::numeric_limits<std::int32_t>::max)())
      ir.fail(text("LossScaler: growth_interval ", parameters.growth_interval, ": from 1 to 2147483647 expected"));
    if (ir.failed()) return;
    if (!parameters.is_dynamic) {
      scale_ = ir.constant(parameters.init_scale);
      return;
    }
    scale_ = ir.variable(full(parameters.init_scale), {}, float32, text(prefix, ".scale").view());
    growth_tracker_ = ir.variable(zeros(), {}, int32, text(prefix, ".growth_tracker").view());
  }

  /// Returns the factor for the gradient of the loss: a float32 scalar of the graph in which the scaler was created.
  constexpr Tensor scale() const { return scale_; }

  /// Divides gradients by the scale, calls updates(), which appends updates of variables, and then updates the scale. gradients:
  /// float16, bfloat16 or float32; the call replaces them by unscaled ones in float32, clipped as by clip_by_global_norm
  /// (max_norm 0: no clipping). With a dynamic scale, the updates are in an only_if scope. All gradients must be computed before
  /// the first update, so all are in memory at the same time. If gradients are clipped, the check for infinite and NaN values
  /// tests their norm. `skipped`, if given, appends ops that run instead of a skipped step.
  template <class Updates>
  constexpr void step(Span<Tensor> gradients, double max_norm, Updates&& updates) {
    step(gradients, max_norm, updates, [] {});
  }
  template <class Updates, class Skipped>
  constexpr void step(Span<Tensor> gradients, double max_norm, Updates&& updates, Skipped&& skipped) {
    if (ir_.failed() || (max_norm != 0 && !detail::check_clip(gradients, max_norm))) return;
    Tensor check, factor = 1 / scale_;  // check: a number that is finite if all gradients are
    if (max_norm != 0) {
      check = detail::global_norm(gradients) * factor;
      factor = detail::clip_factor(check, max_norm) * factor;
    } else if (parameters_.is_dynamic) {
      check = zero_if_finite(gradients);
    }
    const auto update = [&] {
      for (Tensor& gradient : gradients) gradient = ops::cast(gradient, float32) * factor;
      updates();
    };
    if (!parameters_.is_dynamic) return update();
    const Tensor is_finite = ops::isfinite(check);
    {
      const OnlyIf scope = only_if(is_finite);
      update();
    }
    {
      const OnlyIf scope = only_if(ops::logical_not(is_finite));
      skipped();
    }
    update_scale(is_finite);
  }

 private:
  static constexpr double largest = 0x1p126;  // 1 / scale is no denormal number, which counts as 0

  /// Returns the sum of 0 x over all elements: NaN if an element is infinite or NaN.
  static constexpr Tensor zero_if_finite(Span<const Tensor> gradients) {
    Tensor sum;
    for (const Tensor& gradient : gradients) {
      const Tensor zero = ops::sum(ops::cast(gradient, float32) * 0);
      sum = sum.valid() ? sum + zero : zero;
    }
    return sum;
  }
  constexpr void update_scale(Tensor is_finite) {
    const Tensor steps = growth_tracker_ + 1, grown = scale_ * parameters_.growth_factor;
    const Tensor is_due = ops::equal(steps, static_cast<std::int32_t>(parameters_.growth_interval));
    const Tensor may_grow = ops::logical_and(is_due, ops::less_equal(grown, largest));
    const Tensor kept = ops::where(may_grow, grown, scale_);
    const Tensor next = ops::where(is_finite, kept, scale_ * parameters_.backoff_factor);
    const Tensor count = ops::where(ops::logical_and(is_finite, ops::logical_not(is_due)), steps, 0);
    ops::copy_var_update_(scale_, next);
    ops::copy_var_update_(growth_tracker_, count);
  }

  Ir& ir_;
  LossScaling parameters_;
  Tensor scale_, growth_tracker_;
};

}  // namespace tilewright::optim
