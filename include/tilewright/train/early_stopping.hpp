#pragma once
#include "tilewright/core/requirements.hpp"

#include <boost/hana/adapt_struct.hpp>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tilewright::train {

/// Whether lower or higher values of a metric are better.
enum class MetricMode { min, max };

/// Options of EarlyStopping, with the names of Keras and PyTorch Lightning.
struct EarlyStoppingOptions {
  std::uint64_t patience = 3;  ///< values in a row without improvement after which training ends; 0 is as 1
  double min_delta = 0;  ///< smallest difference to the best value that is an improvement; at least 0
  MetricMode mode = MetricMode::min;  ///< whether lower or higher values are better
};

/// State of an EarlyStopping, for checkpoints.
struct EarlyStoppingState {
  bool has_best = false;  ///< whether there was a value that is a number
  double best = 0;  ///< best value so far
  std::uint64_t epoch = 0;  ///< number of values so far
  std::uint64_t best_epoch = 0;  ///< number of the best value, from 1
  bool operator==(const EarlyStoppingState&) const = default;
};

/// Ends a training whose metric no longer improves. NaN is never an improvement.
///
///     tw::train::EarlyStopping stopping({.patience = 3, .mode = tw::train::MetricMode::max});
///     tw::train::run_epochs(session, loader, {.epochs = 100}, [&](const tw::train::Progress& progress) {
///       return !progress.ends_epoch() || !stopping.stops(validation_accuracy());
///     });
class EarlyStopping {
 public:
  /// Throws std::invalid_argument for a `min_delta` that is negative, infinite or NaN.
  explicit EarlyStopping(const EarlyStoppingOptions& options = {}) : options_(options) {
    if (!(options.min_delta >= 0) || std::isinf(options.min_delta))
      throw std::invalid_argument("EarlyStopping: min_delta " + std::to_string(options.min_delta) +
                                  ": a finite number, 0 or above, expected");
  }

  /// Takes the next value of the metric. Returns whether training should end: the last `patience` values, and at least one, were
  /// no improvement.
  bool stops(double value) {
    ++state_.epoch;
    if (is_better(value)) {
      state_.has_best = true;
      state_.best = value;
      state_.best_epoch = state_.epoch;
      return false;
    }
    return state_.epoch - state_.best_epoch >= options_.patience;
  }
  /// Returns whether the last value was the best so far, which is the time to save it.
  bool improved() const { return state_.epoch > 0 && state_.best_epoch == state_.epoch; }

  /// Returns what a resumed run needs: store it in the metadata of a checkpoint.
  const EarlyStoppingState& state() const { return state_; }
  /// Continues from a state.
  void resume(const EarlyStoppingState& state) { state_ = state; }

 private:
  bool is_better(double value) const {
    if (std::isnan(value)) return false;
    if (!state_.has_best) return true;
    return options_.mode == MetricMode::min ? value < state_.best - options_.min_delta : value > state_.best + options_.min_delta;
  }

  EarlyStoppingOptions options_;
  EarlyStoppingState state_{};
};

}  // namespace tilewright::train

BOOST_HANA_ADAPT_STRUCT(tilewright::train::EarlyStoppingState, has_best, best, epoch, best_epoch);
