#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <tuple>
#include <vector>

#include "tilewright/core/flag.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/optim/schedule.hpp"

/// PyTorch's learning-rate schedulers, with its names of parameters and its defaults. A scheduler is a function object of the
/// step, which counts from 0. The host evaluates it. `lr` is the rate of the optimiser. The rate is a formula of the step, so a
/// run that resumes from a checkpoint needs no scheduler state. PyTorch computes most rates from the previous one, so its
/// rounding differs. A parameter without a default in PyTorch has none here; the scheduler throws if it is missing. Each
/// scheduler throws std::invalid_argument for a step below 0, parameters out of their range, and rates that are not finite.
///
///     const tw::optim::CosineAnnealingLR scheduler{.lr = 0.1, .T_max = 200};
///     session.run("lr"_s = static_cast<float>(scheduler(step)), ...);
///
/// For a scheduler that PyTorch steps once an epoch, pass the epoch: scheduler(step / steps_per_epoch).
namespace tilewright::optim {

namespace detail {
inline constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

inline double finite_rate(std::string_view name, double rate) {
  require_rate(name, rate);
  return rate;
}
inline void require_period(std::string_view name, std::int64_t period) {
  require_schedule(period >= 1, name, period, "1 or more");
}
inline void require_part(std::string_view name, double part) {
  require_schedule(part >= 0 && part <= 1, name, part, "from 0 to 1");
}
inline double divide(std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }
/// Returns the value between `start` and `end` on half a cosine; part: from 0 to 1.
inline double along_cosine(double start, double end, double part) {
  return end + (start - end) / 2 * (1 + __builtin_cos(std::numbers::pi * part));
}
}  // namespace detail

/// Rate lr times lr_lambda(step). lr_lambda is any function of the step, which counts from 0.
template <class Lambda>
struct LambdaLR {
  double lr = 1e-3;  ///< the optimiser's rate
  Lambda lr_lambda{};  ///< factor of lr by step
  double operator()(std::int64_t step) const {
    detail::require_step("LambdaLR: step", step);
    return detail::finite_rate("LambdaLR: a rate of", lr * static_cast<double>(lr_lambda(step)));
  }
};

/// Multiplies the rate by gamma after every `step_size` steps, from lr on.
struct StepLR {
  double lr = 1e-3;  ///< the optimiser's rate
  std::int64_t step_size = 0;  ///< steps with the same rate; at least 1
  double gamma = 0.1;  ///< factor of the rate at each change
  double operator()(std::int64_t step) const {
    detail::require_period("StepLR: step_size", step_size);
    detail::require_step("StepLR: step", step);
    return detail::finite_rate("StepLR: a rate of", lr * __builtin_pow(gamma, static_cast<double>(step / step_size)));
  }
};

/// Multiplies the rate by gamma at each milestone, from lr on. Milestones may be in any order; a repeated one counts each time.
struct MultiStepLR {
  double lr = 1e-3;  ///< the optimiser's rate
  std::vector<std::int64_t> milestones{};  ///< steps at which the rate changes
  double gamma = 0.1;  ///< factor of the rate at each change
  double operator()(std::int64_t step) const {
    detail::require_step("MultiStepLR: step", step);
    double reached = 0;
    for (const std::int64_t milestone : milestones) {
      detail::require_step("MultiStepLR: a milestone of", milestone);
      if (milestone <= step) ++reached;
    }
    return detail::finite_rate("MultiStepLR: a rate of", lr * __builtin_pow(gamma, reached));
  }
};

/// Rate lr times factor for `total_iters` steps, then lr.
struct ConstantLR {
  double lr = 1e-3;  ///< the optimiser's rate
  double factor = 1.0 / 3;  ///< factor of the first steps; from 0 to 1
  std::int64_t total_iters = 5;  ///< steps with the first rate; at least 1
  double operator()(std::int64_t step) const {
    detail::require_part("ConstantLR: factor", factor);
    detail::require_period("ConstantLR: total_iters", total_iters);
    detail::require_step("ConstantLR: step", step);
    return detail::finite_rate("ConstantLR: a rate of", step < total_iters ? lr * factor : lr);
  }
};

/// Changes the rate linearly from lr times start_factor to lr times end_factor over `total_iters` steps. After these steps,
/// the rate is constant.
struct LinearLR {
  double lr = 1e-3;  ///< the optimiser's rate
  double start_factor = 1.0 / 3, end_factor = 1;  ///< factors of lr at step 0 and at the end; each from 0 to 1
  std::int64_t total_iters = 5;  ///< steps from the first to the last rate; at least 1
  double operator()(std::int64_t step) const {
    detail::require_part("LinearLR: start_factor", start_factor);
    detail::require_part("LinearLR: end_factor", end_factor);
    detail::require_period("LinearLR: total_iters", total_iters);
    detail::require_step("LinearLR: step", step);
    const double part = detail::divide((std::min)(step, total_iters), total_iters);
    return detail::finite_rate("LinearLR: a rate of", lr * (start_factor + (end_factor - start_factor) * part));
  }
};

/// Rate lr times gamma^step.
struct ExponentialLR {
  double lr = 1e-3;  ///< the optimiser's rate
  double gamma = detail::not_given;  ///< factor of the rate in each step
  double operator()(std::int64_t step) const {
    detail::require_rate("ExponentialLR: gamma", gamma);
    detail::require_step("ExponentialLR: step", step);
    return detail::finite_rate("ExponentialLR: a rate of", lr * __builtin_pow(gamma, static_cast<double>(step)));
  }
};

/// Rate lr (1 - step / total_iters)^power; 0 from step `total_iters` on.
struct PolynomialLR {
  double lr = 1e-3;  ///< the optimiser's rate
  std::int64_t total_iters = 5;  ///< steps from lr to 0; at least 1
  double power = 1;  ///< exponent; 1: linear
  double operator()(std::int64_t step) const {
    detail::require_period("PolynomialLR: total_iters", total_iters);
    detail::require_rate("PolynomialLR: power", power);
    detail::require_step("PolynomialLR: step", step);
    const double rest = 1 - detail::divide((std::min)(step, total_iters), total_iters);
    return detail::finite_rate("PolynomialLR: a rate of", lr * __builtin_pow(rest, power));
  }
};

/// Lowers the rate from lr to eta_min along half a cosine over `T_max` steps, raises it again over the next T_max steps, and so
/// on ("SGDR: Stochastic Gradient Descent with Warm Restarts", arXiv 1608.03983, without restarts). CosineDecay stays at its end
/// instead.
struct CosineAnnealingLR {
  double lr = 1e-3;  ///< the optimiser's rate
  std::int64_t T_max = 0;  ///< steps from lr to eta_min; at least 1
  double eta_min = 0;  ///< the lowest rate
  double operator()(std::int64_t step) const {
    detail::require_period("CosineAnnealingLR: T_max", T_max);
    detail::require_rate("CosineAnnealingLR: eta_min", eta_min);
    detail::require_step("CosineAnnealingLR: step", step);
    const std::int64_t half = step / T_max, at = step % T_max;
    const double part = detail::divide(half % 2 == 0 ? at : T_max - at, T_max);
    return detail::finite_rate("CosineAnnealingLR: a rate of", detail::along_cosine(lr, eta_min, part));
  }
};

/// Lowers the rate from lr to eta_min along half a cosine over `T_0` steps, then restarts at lr. Each cycle is T_mult times as
/// long as the previous one (arXiv 1608.03983).
struct CosineAnnealingWarmRestarts {
  double lr = 1e-3;  ///< the optimiser's rate
  std::int64_t T_0 = 0,
               T_mult = 1;  ///< steps of the first cycle, and factor of the length of each next cycle; each at least 1
  double eta_min = 0;  ///< the lowest rate
  double operator()(std::int64_t step) const {
    detail::require_period("CosineAnnealingWarmRestarts: T_0", T_0);
    detail::require_period("CosineAnnealingWarmRestarts: T_mult", T_mult);
    detail::require_rate("CosineAnnealingWarmRestarts: eta_min", eta_min);
    detail::require_step("CosineAnnealingWarmRestarts: step", step);
    std::int64_t at = T_mult == 1 ? step % T_0 : step, length = T_0;
    double part = detail::divide(at, length);
    while (at >= length) {
      at -= length;
      // a period that is longer than any number of steps: its first step is as good as any
      if (length > (std::numeric_limits<std::int64_t>::max)() / T_mult) return detail::finite_rate(name, lr);
      length *= T_mult;
      part = detail::divide(at, length);
    }
    return detail::finite_rate(name, detail::along_cosine(lr, eta_min, part));
  }

 private:
  static constexpr std::string_view name = "CosineAnnealingWarmRestarts: a rate of";
};

enum class AnnealStrategy { cos, linear };

/// Raises the rate from max_lr / div_factor to max_lr in the first `pct_start` of all steps, then lowers it to max_lr /
/// div_factor / final_div_factor. With three_phase, the rate falls in two phases: to max_lr / div_factor over the number of steps
/// in which it rose, and then to the last rate ("Super-Convergence: Very Fast Training of Neural Networks Using Large Learning
/// Rates", arXiv 1708.07120). The number of steps is `total_steps`, or epochs x steps_per_epoch; a step at or above it throws.
struct OneCycleLR {
  double max_lr = detail::not_given;  ///< the highest rate
  std::int64_t total_steps = 0, epochs = 0, steps_per_epoch = 0;  ///< all steps; 0: the product of the other two
  double pct_start = 0.3;  ///< share of all steps in which the rate grows; from 0 to 1
  AnnealStrategy anneal_strategy = AnnealStrategy::cos;  ///< shape of the curve: half a cosine, or a line
  double base_momentum = 0.85, max_momentum = 0.95;  ///< lowest and highest value of momentum()
  /// Ratio of max_lr to the first rate, and of the first rate to the last; each above 0
  double div_factor = 25, final_div_factor = 1e4;
  Flag three_phase = false;  ///< whether the rate falls symmetrically to its growth before it falls to the last rate

  double operator()(std::int64_t step) const {
    detail::require_rate("OneCycleLR: max_lr", max_lr);
    detail::require_schedule(div_factor > 0, "OneCycleLR: div_factor", div_factor, "above 0");
    detail::require_schedule(final_div_factor > 0, "OneCycleLR: final_div_factor", final_div_factor, "above 0");
    const double initial = max_lr / div_factor;
    return detail::finite_rate("OneCycleLR: a rate of", value(step, initial, max_lr, initial / final_div_factor));
  }
  /// Returns the momentum, or Adam's beta1, that PyTorch sets together with the rate (cycle_momentum). It falls from max_momentum
  /// to base_momentum while the rate grows, then rises again.
  double momentum(std::int64_t step) const {
    detail::require_rate("OneCycleLR: base_momentum", base_momentum);
    detail::require_rate("OneCycleLR: max_momentum", max_momentum);
    return detail::finite_rate("OneCycleLR: a momentum of", value(step, max_momentum, base_momentum, max_momentum));
  }

 private:
  std::int64_t count() const {
    if (total_steps != 0) return total_steps;
    detail::require_period("OneCycleLR: total_steps, or else epochs,", epochs);
    detail::require_period("OneCycleLR: total_steps, or else steps_per_epoch,", steps_per_epoch);
    const std::int64_t most = (std::numeric_limits<std::int64_t>::max)() / steps_per_epoch;
    detail::require_schedule(epochs <= most, "OneCycleLR: epochs " + std::to_string(epochs) + " of steps_per_epoch",
                             steps_per_epoch, "at most 2^63 - 1 steps together");
    return epochs * steps_per_epoch;
  }
  double anneal(double start, double end, double step, double first, double last) const {
    const double part = first == last ? 1 : (step - first) / (last - first);
    return anneal_strategy == AnnealStrategy::cos ? detail::along_cosine(start, end, part) : start + (end - start) * part;
  }
  double value(std::int64_t step, double start, double peak, double end) const {
    const std::int64_t steps = count();
    detail::require_period("OneCycleLR: total_steps", steps);
    detail::require_part("OneCycleLR: pct_start", pct_start);
    detail::require_step("OneCycleLR: step", step);
    detail::require_schedule(step < steps, "OneCycleLR: step", step, "below " + std::to_string(steps));
    const double now = static_cast<double>(step), last = static_cast<double>(steps) - 1;
    const double first_end = pct_start * static_cast<double>(steps) - 1;
    const double second_end = 2 * pct_start * static_cast<double>(steps) - 2;
    if (now <= first_end) return anneal(start, peak, now, 0, first_end);
    if (!three_phase) return anneal(peak, end, now, first_end, last);
    if (now <= second_end) return anneal(peak, start, now, first_end, second_end);
    return anneal(start, end, now, second_end, last);
  }
};

/// Amplitude of a CyclicLR's cycles: constant; halved in each cycle; multiplied by gamma in each step.
enum class CyclicMode { triangular, triangular2, exp_range };

/// Raises the rate linearly from base_lr to max_lr over `step_size_up` steps, lowers it over `step_size_down` steps, and so on
/// ("Cyclical Learning Rates for Training Neural Networks", arXiv 1506.01186).
struct CyclicLR {
  double base_lr = detail::not_given, max_lr = detail::not_given;  ///< the lowest and the highest rate
  std::int64_t step_size_up = 2000;  ///< steps in which the rate grows; at least 1
  std::optional<std::int64_t> step_size_down{};  ///< steps in which the rate falls; nothing: step_size_up
  CyclicMode mode = CyclicMode::triangular;  ///< amplitude of the cycles
  double gamma = 1;  ///< factor of the amplitude in each step, for CyclicMode::exp_range
  double base_momentum = 0.8, max_momentum = 0.9;  ///< lowest and highest value of momentum()

  double operator()(std::int64_t step) const {
    detail::require_rate("CyclicLR: base_lr", base_lr);
    detail::require_rate("CyclicLR: max_lr", max_lr);
    return detail::finite_rate("CyclicLR: a rate of", base_lr + (max_lr - base_lr) * height(step));
  }
  /// Returns the momentum that PyTorch sets together with the rate (cycle_momentum). It falls from max_momentum to base_momentum
  /// while the rate grows, then rises again.
  double momentum(std::int64_t step) const {
    detail::require_rate("CyclicLR: base_momentum", base_momentum);
    detail::require_rate("CyclicLR: max_momentum", max_momentum);
    return detail::finite_rate("CyclicLR: a momentum of", max_momentum - (max_momentum - base_momentum) * height(step));
  }

 private:
  double height(std::int64_t step) const {
    const std::int64_t up = step_size_up, down = step_size_down.value_or(up);
    detail::require_period("CyclicLR: step_size_up", up);
    detail::require_step("CyclicLR: step_size_down", down);
    detail::require_step("CyclicLR: step", step);
    // unsigned: the sum of two steps of int64
    const std::uint64_t all = static_cast<std::uint64_t>(up) + static_cast<std::uint64_t>(down);
    const auto at = static_cast<std::int64_t>(static_cast<std::uint64_t>(step) % all);
    const std::uint64_t cycle = static_cast<std::uint64_t>(step) / all;
    const double part = at <= up ? detail::divide(at, up) : 1 - detail::divide(at - up, down);
    if (mode == CyclicMode::triangular2) return part / __builtin_pow(2., static_cast<double>(cycle));
    if (mode == CyclicMode::exp_range) return part * __builtin_pow(gamma, static_cast<double>(step));
    return part;
  }
};

/// Runs several schedulers in sequence: the first up to the first milestone, then the second from its step 0 on, and so on. There
/// is one milestone fewer than schedulers. Milestones are at least 1 and do not decrease. Schedules such as WarmUp can be among
/// the schedulers.
///
///     const tw::optim::LinearLR warm_up{.lr = 0.1, .total_iters = 500};
///     const tw::optim::CosineAnnealingLR decay{.lr = 0.1, .T_max = 7000};
///     const tw::optim::SequentialLR scheduler{.schedulers = std::tuple{warm_up, decay}, .milestones = {500}};
template <class... Schedulers>
struct SequentialLR {
  std::tuple<Schedulers...> schedulers;  ///< schedulers in their order
  std::vector<std::int64_t> milestones{};  ///< steps at which the next scheduler starts
  double operator()(std::int64_t step) const {
    detail::require_schedule(milestones.size() + 1 == sizeof...(Schedulers), "SequentialLR: milestones", milestones.size(),
                             std::to_string(sizeof...(Schedulers) - 1) + ", one fewer than schedulers,");
    detail::require_step("SequentialLR: step", step);
    std::int64_t start = 0;
    std::size_t found = 0;
    for (std::int64_t before = 1; const std::int64_t milestone : milestones) {
      detail::require_schedule(milestone >= before, "SequentialLR: a milestone of", milestone,
                               std::to_string(before) + " or more");
      before = milestone;
      if (step >= milestone) start = milestone, ++found;
    }
    double rate = 0;
    std::apply(
        [&](const auto&... scheduler) {
          std::size_t i = 0;
          ((i++ == found ? void(rate = scheduler(step - start)) : void()), ...);
        },
        schedulers);
    return rate;
  }
};

enum class PlateauMode { min, max };
enum class ThresholdMode { rel, abs };

/// Multiplies the rate by factor if the metric has not improved for more than `patience` epochs. The rate is a function of all
/// metrics so far, one for each epoch, such as validation losses; without metrics it is lr. A metric improves if it is below
/// `best - threshold |best|`, or for ThresholdMode::abs below `best - threshold`. For PlateauMode::max it improves above
/// `best + threshold |best|` or `best + threshold`. (PyTorch has best without | |, and takes negative metrics that become worse
/// for improvements.) NaN is no improvement. After each change, `cooldown` epochs do not count. Changes of eps or less are not
/// made.
///
///     std::vector<double> losses;  // of validation
///     const tw::optim::ReduceLROnPlateau scheduler{.lr = 0.1, .patience = 3};
///     losses.push_back(validation_loss), rate = scheduler(losses);  // after each epoch
struct ReduceLROnPlateau {
  double lr = 1e-3;  ///< the optimiser's rate
  PlateauMode mode = PlateauMode::min;  ///< whether lower or higher metrics are better
  double factor = 0.1;  ///< factor of the rate at each change; at least 0, below 1
  std::int64_t patience = 10;  ///< epochs without improvement before the rate changes
  double threshold = 1e-4;  ///< smallest improvement that counts
  ThresholdMode threshold_mode = ThresholdMode::rel;  ///< whether the threshold is relative to the best metric
  std::int64_t cooldown = 0;  ///< epochs after a change that do not count
  double min_lr = 0, eps = 1e-8;  ///< lowest rate, and smallest change

  double operator()(Span<const double> metrics) const {
    validate();
    double rate = lr, best = mode == PlateauMode::min ? inf : -inf;
    std::int64_t bad_epochs = 0, cooldown_epochs = 0;
    for (const double metric : metrics) {
      ++bad_epochs;
      if (is_better(metric, best)) best = metric, bad_epochs = 0;
      if (cooldown_epochs > 0) --cooldown_epochs, bad_epochs = 0;
      if (bad_epochs <= patience) continue;
      if (const double next = (std::max)(rate * factor, min_lr); rate - next > eps) rate = next;
      cooldown_epochs = cooldown;
      bad_epochs = 0;
    }
    return rate;
  }

 private:
  static constexpr double inf = std::numeric_limits<double>::infinity();
  void validate() const {
    detail::require_rate("ReduceLROnPlateau: lr", lr);
    detail::require_schedule(factor >= 0 && factor < 1, "ReduceLROnPlateau: factor", factor, "at least 0, and below 1,");
    detail::require_step("ReduceLROnPlateau: patience", patience);
    detail::require_rate("ReduceLROnPlateau: threshold", threshold);
    detail::require_step("ReduceLROnPlateau: cooldown", cooldown);
    detail::require_rate("ReduceLROnPlateau: min_lr", min_lr);
    detail::require_rate("ReduceLROnPlateau: eps", eps);
  }
  bool is_better(double metric, double best) const {
    const double margin = threshold_mode == ThresholdMode::abs || __builtin_isinf(best) ? threshold
                                                                                        : threshold * __builtin_fabs(best);
    return mode == PlateauMode::min ? metric < best - margin : metric > best + margin;
  }
};

}  // namespace tilewright::optim
