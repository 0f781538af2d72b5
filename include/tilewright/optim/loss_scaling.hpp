#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

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

/// How the gradients of float16 are kept from becoming 0: that of the loss is multiplied by a scale, and gradients are divided by
/// it before they are used ("Mixed Precision Training", arXiv 1710.03740). The names and numbers are those of
/// torch.amp.GradScaler.
struct LossScaling {
  double init_scale = 65536;  ///< the first scale
  double growth_factor = 2;  ///< what it is multiplied with after growth_interval steps in a row that were not skipped
  double backoff_factor = 0.5;  ///< what it is multiplied with after a step that was skipped
  std::int64_t growth_interval = 2000;  ///< steps in a row that were not skipped before the scale grows
  bool is_dynamic = true;  ///< false: the scale stays, and no step is skipped
};
/// A scale that stays as it is.
constexpr LossScaling static_loss_scaling(double scale) { return {.init_scale = scale, .is_dynamic = false}; }

/// Scales a loss's gradient, and updates variables by the gradients that came of it:
///
///     tw::optim::LossScaler scaler(ir, {});
///     const auto [loss, gradient] = ops::cross_entropy_with_grad(logits, labels, scaler.scale());
///     ... gradients of variables ...
///     scaler.step(gradients, [&] { ... updates of variables by gradients ... });
///
/// A dynamic scale is the variable `scale` (float32, a scalar); `growth_tracker` (int32, a scalar) counts the steps since it
/// changed last; a scale above 2^126 is not taken. A step whose gradients are not all finite is skipped: its updates change
/// nothing, neither variables nor the state of optimisers. Not yet stable.
class LossScaler {
 public:
  /// `prefix`: of the variables' names, with a dot after it. Errors: a scale or factor that is not above 0, or
  /// above 2^126; an interval below 1, or above 2^31 - 1.
  constexpr LossScaler(Ir& ir, const LossScaling& parameters, std::string_view prefix = "loss_scaling")
      : ir_(ir), parameters_(parameters) {
    const auto check = [&](std::string_view name, double number) {
      if (!(number > 0 && number <= largest))
        ir.fail(text("LossScaler: ", name, " ", number_text(number), ": a number above 0, at most 2^126, expected"));
    };
    check("init_scale", parameters.init_scale);
    check("growth_factor", parameters.growth_factor);
    check("backoff_factor", parameters.backoff_factor);
    if (parameters.growth_interval < 1 || parameters.growth_interval > std::numeric_limits<std::int32_t>::max())
      ir.fail(text("LossScaler: growth_interval ", parameters.growth_interval, ": from 1 to 2147483647 expected"));
    if (ir.failed()) return;
    if (!parameters.is_dynamic) {
      scale_ = ir.constant(parameters.init_scale);
      return;
    }
    scale_ = ir.variable(full(parameters.init_scale), {}, float32, text(prefix, ".scale").view());
    growth_tracker_ = ir.variable(zeros(), {}, int32, text(prefix, ".growth_tracker").view());
  }

  /// What the loss's gradient is to be multiplied with: a float32 scalar of the graph in which the scaler was made.
  constexpr Tensor scale() const { return scale_; }

  /// Replaces scaled gradients, float16, bfloat16 or float32, by the gradients in float32, clipped to a norm as
  /// clip_by_global_norm does (max_norm 0: not clipped); runs updates(), which appends updates of variables by them; changes the
  /// scale. With a dynamic scale the updates are in a scope of only_if, and all gradients must be there before the first: they
  /// are in memory at the same time. If gradients are clipped, it is their norm that must be finite. `skipped`, if it is given,
  /// appends what happens instead of a step that is skipped.
  template <class Updates>
  constexpr void step(std::span<Tensor> gradients, double max_norm, Updates&& updates) {
    step(gradients, max_norm, updates, [] {});
  }
  template <class Updates, class Skipped>
  constexpr void step(std::span<Tensor> gradients, double max_norm, Updates&& updates, Skipped&& skipped) {
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

  /// The sum of 0 x over all elements: NaN if one of them is infinite or NaN.
  static constexpr Tensor zero_if_finite(std::span<const Tensor> gradients) {
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
