#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>

/// Learning rates by step, computed on the host and fed to a program as a tensor: a function object of the step, from 0. A decay
/// of 0 steps is its `end`; a WarmUp of 0 steps is its `after`. Throws std::invalid_argument for a step or fewer steps than 0, an
/// `every` below 1, and rates that are no finite numbers.
///
///     const tw::optim::WarmUp schedule{.steps = 500, .after = tw::optim::CosineDecay{.peak = 1e-3, .steps = 7500}};
///     session.run("lr"_s = static_cast<float>(schedule(step)), ...);
namespace tilewright::optim {

namespace detail {
inline void require_schedule(bool fact, std::string_view found, auto number, std::string_view expected) {
  if (!fact)
    throw std::invalid_argument(std::string(found) + " " + std::to_string(number) + ": " + std::string(expected) + " expected");
}
inline void require_rate(std::string_view name, double rate) {
  require_schedule(rate - rate == 0, name, rate, "a finite number");
}
inline void require_step(std::string_view name, std::int64_t step) { require_schedule(step >= 0, name, step, "0 or more"); }
/// The part of a decay that is over: from 0 to 1.
inline double part_of_decay(std::string_view name, std::int64_t step, std::int64_t steps) {
  require_schedule(steps >= 0, name, steps, "0 or more");
  require_step("step", step);
  return step >= steps ? 1 : static_cast<double>(step) / static_cast<double>(steps);
}
}  // namespace detail

/// `start` for the first `every` steps, then `factor` of that, and so on: torch.optim.lr_scheduler.StepLR.
struct StepDecay {
  double start = 1e-3;  ///< the first rate: `lr` of PyTorch's optimiser
  std::int64_t every = 1;  ///< steps of equal rates: step_size of StepLR
  double factor = 0.1;  ///< of one rate to the one before: gamma of StepLR
  double operator()(std::int64_t step) const {
    detail::require_schedule(every >= 1, "StepDecay: every", every, "1 or more");
    detail::require_step("StepDecay: step", step);
    const double rate = start * std::pow(factor, static_cast<double>(step / every));
    detail::require_rate("StepDecay: a rate of", rate);
    return rate;
  }
};

/// From `start` to `end` in equal parts over `steps`, then `end`: torch.optim.lr_scheduler.LinearLR.
struct LinearDecay {
  double start = 1e-3, end = 0;  ///< the first and the last rate
  std::int64_t steps = 1;  ///< from the first to the last: total_iters of LinearLR
  double operator()(std::int64_t step) const {
    detail::require_rate("LinearDecay: start", start);
    detail::require_rate("LinearDecay: end", end);
    const double part = detail::part_of_decay("LinearDecay: steps", step, steps);
    const double rate = part == 1 ? end : start + (end - start) * part;
    detail::require_rate("LinearDecay: a rate of", rate);
    return rate;
  }
};

/// From `peak` to `end` along half a cosine over `steps`, then `end` ("SGDR: Stochastic Gradient Descent with Warm Restarts",
/// arXiv 1608.03983, without restarts): torch.optim.lr_scheduler.CosineAnnealingLR, up to T_max.
struct CosineDecay {
  double peak = 1e-3, end = 0;  ///< the first rate and the last one, eta_min of CosineAnnealingLR
  std::int64_t steps = 1;  ///< from the first to the last: T_max of CosineAnnealingLR
  double operator()(std::int64_t step) const {
    detail::require_rate("CosineDecay: peak", peak);
    detail::require_rate("CosineDecay: end", end);
    const double part = detail::part_of_decay("CosineDecay: steps", step, steps);
    const double rate = part == 1 ? end : end + (peak - end) * (1 + std::cos(std::numbers::pi * part)) / 2;
    detail::require_rate("CosineDecay: a rate of", rate);
    return rate;
  }
};

/// Grows in equal parts over `steps` to the first value of `after`, another schedule; then is that schedule, from its step 0 on:
/// after(0) (step + 1) / (steps + 1), then after(step - steps). Before a CosineDecay to a tenth of the peak, it is what many
/// language models are trained with:
///
///     const tw::optim::WarmUp schedule{.steps = 100, .after = tw::optim::CosineDecay{.peak = 1e-3, .end = 1e-4, .steps = 1900}};
template <class Schedule>
struct WarmUp {
  std::int64_t steps = 1;  ///< before `after` begins
  Schedule after{};  ///< the schedule that follows
  double operator()(std::int64_t step) const {
    detail::require_schedule(steps >= 0, "WarmUp: steps", steps, "0 or more");
    detail::require_step("WarmUp: step", step);
    if (step >= steps) return after(step - steps);
    return after(0) * static_cast<double>(step + 1) / (static_cast<double>(steps) + 1);
  }
};

}  // namespace tilewright::optim
