#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>

namespace tilewright::train {

/// Report of a training loop after each step.
struct Progress {
  std::uint64_t epoch = 1, epochs = 1;  ///< current epoch, from 1, and number of epochs
  std::uint64_t batch = 1, batches = 1;  ///< batch of the step, from 1 in each epoch, and number of batches in an epoch
  float loss = 0;  ///< loss of the batch: the mean over its replicas and micro-batches; NaN if the program has no stream "loss"
  std::uint64_t step = 1;  ///< number of steps of the run so far, those before a resume included

  /// Returns whether the step is the last one of its epoch, which is the time to validate.
  bool ends_epoch() const { return batch == batches; }
  /// Returns whether the step is the last one of the loop.
  bool is_last() const { return ends_epoch() && epoch == epochs; }
};

}  // namespace tilewright::train
