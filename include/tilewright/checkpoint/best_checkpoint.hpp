#pragma once
#include "tilewright/core/requirements.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tilewright/checkpoint/checkpoints.hpp"
#include "tilewright/train/early_stopping.hpp"

namespace tilewright {

/// Options of BestCheckpoint.
struct BestCheckpointOptions {
  train::MetricMode mode = train::MetricMode::min;  ///< whether lower or higher values are better
};

/// A folder with the one checkpoint of a run whose metric is the best. The metric is part of the file's metadata, so a resumed
/// run keeps an earlier best checkpoint.
///
///     tw::BestCheckpoint best("run1/best", {.mode = tw::train::MetricMode::max});
///     best.save_if_better(progress.step, validation_accuracy, session.host_tensors());
///     test.load_tensors(best.load().file, {.allow_extra = true});
class BestCheckpoint {
 public:
  /// The folder need not exist. Throws std::invalid_argument for an empty path, and LoadError if the folder has checkpoints that
  /// are damaged or were not saved by a BestCheckpoint.
  explicit BestCheckpoint(std::filesystem::path folder, const BestCheckpointOptions& options = {})
      : checkpoints_(std::move(folder), {.keep = 1}), options_(options) {
    const auto last = checkpoints_.newest();
    if (!last) return;
    value_ = last->file.metadata<double>(metric_key);
    step_ = last->step;
    for (const std::uint64_t step : checkpoints_.steps()) {  // a killed process may have left a worse one of a later step
      if (step >= last->step) break;
      try {
        const auto value = checkpoints_.load(step).file.metadata<double>(metric_key);
        if (!is_better(value)) continue;
        value_ = value;
        step_ = step;
      } catch (const LoadError&) {  // damaged, or removed by another process
      }
    }
  }

  /// Saves the tensors if `value` is better than that of the saved checkpoint, or if there is none. NaN is never better. Returns
  /// whether it saved. Throws the exceptions of Checkpoints::save.
  bool save_if_better(std::uint64_t step, double value, std::span<const HostTensor> tensors, Metadata metadata = {}) {
    if (!is_better(value)) return false;
    metadata.set(std::string(metric_key), value);
    checkpoints_.save(step, tensors, std::move(metadata));
    if (step_ && *step_ > step) std::filesystem::remove(checkpoints_.path_of(*step_));
    value_ = value;
    step_ = step;
    return true;
  }
  /// Returns the metric of the saved checkpoint; nothing if there is none.
  std::optional<double> value() const { return value_; }
  /// Returns the step of the saved checkpoint; nothing if there is none.
  std::optional<std::uint64_t> step() const { return step_; }
  /// Loads the saved checkpoint. Throws std::logic_error if there is none, and LoadError if it is damaged.
  Checkpoint load() const {
    if (!step_) throw std::logic_error("BestCheckpoint: nothing was saved: a metric that is a number expected before load()");
    return checkpoints_.load(*step_);
  }

 private:
  static constexpr std::string_view metric_key = "tilewright.metric";

  bool is_better(double value) const {
    if (std::isnan(value)) return false;
    if (!value_) return true;
    return options_.mode == train::MetricMode::min ? value < *value_ : value > *value_;
  }

  Checkpoints checkpoints_;
  BestCheckpointOptions options_;
  std::optional<double> value_{};
  std::optional<std::uint64_t> step_{};
};

}  // namespace tilewright
