#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>

/// Learning rates as function objects of the step, which counts from 0. The host computes a rate and passes it to a program as a
/// tensor. A decay of 0 steps is its `end`; a WarmUp of 0 steps is its `after`. Throws std::invalid_argument for a negative step
/// or number of steps, an `every` below 1, and rates that are not finite.
///
///     const tw::optim::WarmUp schedule{.steps = 500, .after = tw::optim::CosineDecay{.peak = 1e-3, .steps = 7500}};
///     session.run("lr"_s = static_cast<float>(schedule(step)), ...);
namespace tilewright::optim {

namespace detail {
inline void require_schedule(bool fact, std::string_view found, auto number, std::string_view expected) {
  if (!fact)
    TW_THROW std::invalid_argument(std::string(found) + " " + std::to_string(number) + ": " + std::string(expected) +
                                   " expected");
}
inline void require_rate(std::string_view name, double rate) {
  require_schedule(rate - rate == 0, name, rate, "a finite number");
}
inline void require_step(std::string_view name, std::int64_t step) { require_schedule(step >= 0, name, step, "0 or more"); }
/// Returns the part of a decay that is over: from 0 to 1.
inline double part_of_decay(std::string_view name, std::int64_t step, std::int64_t steps) {
  require_schedule(steps >= 0, name, steps, "0 or more");
  require_step("step", step);
  return step >= steps ? 1 : static_cast<double>(step) / static_cast<double>(steps);
}
}  // namespace detail

/// Multiplies the rate by `factor` after every `every` steps, from `start` on: torch.optim.lr_scheduler.StepLR.
struct StepDecay {
  double start = 1e-3;  ///< first rate: `lr` of PyTorch's optimiser
  std::int64_t every = 1;  ///< steps with the same rate: step_size of StepLR
  double factor = 0.1;  ///< ratio of one rate to the previous one: gamma of StepLR
  double operator()(std::int64_t step) const {
    detail::require_schedule(every >= 1, "StepDecay: every", every, "1 or more");
    detail::require_step("StepDecay: step", step);
    const double rate = start * __builtin_pow(factor, static_cast<double>(step / every));
    detail::require_rate("StepDecay: a rate of", rate);
    return rate;
  }
};

/// Changes the rate linearly from `start` to `end` over `steps`, then stays at `end`: torch.optim.lr_scheduler.LinearLR.
struct LinearDecay {
  double start = 1e-3, end = 0;  ///< first and last rate
  std::int64_t steps = 1;  ///< steps from the first to the last rate: total_iters of LinearLR
  double operator()(std::int64_t step) const {
    detail::require_rate("LinearDecay: start", start);
    detail::require_rate("LinearDecay: end", end);
    const double part = detail::part_of_decay("LinearDecay: steps", step, steps);
    const double rate = part == 1 ? end : start + (end - start) * part;
    detail::require_rate("LinearDecay: a rate of", rate);
    return rate;
  }
};

/// Lowers the rate from `peak` to `end` along half a cosine over `steps`, then stays at `end` ("SGDR: Stochastic Gradient Descent
/// with Warm Restarts", arXiv 1608.03983, without restarts): torch.optim.lr_scheduler.CosineAnnealingLR, up to T_max.
struct CosineDecay {
  double peak = 1e-3, end = 0;  ///< first rate, and last rate: eta_min of CosineAnnealingLR
  std::int64_t steps = 1;  ///< steps from the first to the last rate: T_max of CosineAnnealingLR
  double operator()(std::int64_t step) const {
    detail::require_rate("CosineDecay: peak", peak);
    detail::require_rate("CosineDecay: end", end);
    const double part = detail::part_of_decay("CosineDecay: steps", step, steps);
    const double rate = part == 1 ? end : end + (peak - end) * (1 + __builtin_cos(std::numbers::pi * part)) / 2;
    detail::require_rate("CosineDecay: a rate of", rate);
    return rate;
  }
};

/// Raises the rate linearly over `steps` to the first value of another schedule, `after`, and then follows that schedule from its
/// step 0 on: after(0) (step + 1) / (steps + 1), then after(step - steps). Many language models are trained with a WarmUp before
/// a CosineDecay to a tenth of the peak:
///
///     const tw::optim::WarmUp schedule{.steps = 100, .after = tw::optim::CosineDecay{.peak = 1e-3, .end = 1e-4, .steps = 1900}};
template <class Schedule>
struct WarmUp {
  std::int64_t steps = 1;  ///< steps before `after` begins
  Schedule after{};  ///< schedule that follows
  double operator()(std::int64_t step) const {
    detail::require_schedule(steps >= 0, "WarmUp: steps", steps, "0 or more");
    detail::require_step("WarmUp: step", step);
    if (step >= steps) return after(step - steps);
    return after(0) * static_cast<double>(step + 1) / (static_cast<double>(steps) + 1);
  }
};

}  // namespace tilewright::optim
