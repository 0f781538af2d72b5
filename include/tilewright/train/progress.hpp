#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>

namespace tilewright::train {

/// What a training loop reports after each step. Not yet stable.
struct Progress {
  std::uint64_t epoch = 1, epochs = 1;   ///< the current one, from 1; how many there will be
  std::uint64_t batch = 1, batches = 1;  ///< the one that was trained on, from 1 in each epoch; how many an epoch has
  float loss = 0;                        ///< the batch's: the mean over its replicas and micro-batches
};

}  // namespace tilewright::train
