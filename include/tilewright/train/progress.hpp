#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>

namespace tilewright::train {

/// Report of a training loop after each step. Not yet stable.
struct Progress {
  std::uint64_t epoch = 1, epochs = 1;  ///< current epoch, from 1, and number of epochs
  std::uint64_t batch = 1, batches = 1;  ///< batch of the step, from 1 in each epoch, and number of batches in an epoch
  float loss = 0;  ///< loss of the batch: the mean over its replicas and micro-batches
};

}  // namespace tilewright::train
