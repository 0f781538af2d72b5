#pragma once
#include <cmath>
#include <cstdint>

#include "tilewright/train/log.hpp"

namespace synthetic {

/// A training of 120 steps whose loss falls, and is infinite once; every 20 steps it is validated.
inline tilewright::train::Log trained() {
  tilewright::train::Log log({"training_loss", "validation_loss", "accuracy"});
  for (std::uint64_t step = 1; step <= 120; ++step) {
    const double loss = 0.25 + 2 / std::sqrt(static_cast<double>(step));
    if (step % 20 == 0) log.add(step, {{"training_loss", loss}, {"validation_loss", loss + 0.125}, {"accuracy", 1 - loss / 3}});
    else log.add(step, {{"training_loss", step == 50 ? INFINITY : loss}});
  }
  return log;
}

}  // namespace synthetic
