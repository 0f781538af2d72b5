#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

/// Learning rates by step, computed on the host and fed to a program as a tensor: a function object of the step, from 0. `every`
/// and `steps` are at least 1; a WarmUp of 0 steps is its `after`.
///
///     const tw::optim::WarmUp schedule{.steps = 500, .after = tw::optim::CosineDecay{.peak = 1e-3, .steps = 7500}};
///     session.run("lr"_s = static_cast<float>(schedule(step)), ...);
namespace tilewright::optim {

/// `start` for the first `every` steps, then `factor` of that, and so on.
struct StepDecay {
  double start = 1e-3;
  std::int64_t every = 1;
  double factor = 0.1;
  double operator()(std::int64_t step) const { return start * std::pow(factor, static_cast<double>(step / every)); }
};

/// From `start` to `end` in equal parts over `steps`, then `end`.
struct LinearDecay {
  double start = 1e-3, end = 0;
  std::int64_t steps = 1;
  double operator()(std::int64_t step) const {
    return start + (end - start) * static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
  }
};

/// From `peak` to `end` along half a cosine over `steps`, then `end` ("SGDR: Stochastic Gradient Descent with Warm Restarts",
/// arXiv 1608.03983, without restarts).
struct CosineDecay {
  double peak = 1e-3, end = 0;
  std::int64_t steps = 1;
  double operator()(std::int64_t step) const {
    const double part = static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
    return end + (peak - end) * (1 + std::cos(std::numbers::pi * part)) / 2;
  }
};

/// Grows in equal parts over `steps` to the first value of `after`, another schedule; then is that schedule, from its step 0 on:
/// after(0) (step + 1) / (steps + 1), then after(step - steps). Before a CosineDecay to a tenth of the peak, it is what many
/// language models are trained with:
///
///     const tw::optim::WarmUp schedule{.steps = 100, .after = tw::optim::CosineDecay{.peak = 1e-3, .end = 1e-4, .steps = 1900}};
template <class Schedule>
struct WarmUp {
  std::int64_t steps = 1;
  Schedule after{};
  double operator()(std::int64_t step) const {
    if (step >= steps) return after(step - steps);
    return after(0) * static_cast<double>(step + 1) / static_cast<double>(steps + 1);
  }
};

}  // namespace tilewright::optim
