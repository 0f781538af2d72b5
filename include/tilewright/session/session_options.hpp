#pragma once
#include <cstdint>

#include "tilewright/execute/strict_mode.hpp"

namespace tilewright {

/// What a session is made with.
struct SessionOptions {
  std::uint64_t seed = 42;               ///< of the variables' initial values
  int threads = 0;                       ///< host threads; 0: as many, up to one a core, as the first runs show to be fastest
  bool attach = true;                    ///< whether the session is attached from the start; else it waits for a context
  bool weights_to_host_on_exit = true;   ///< whether a context that ends copies the variables to the host
  StrictMode strict{};  ///< true checks the plan and the ops in each run: see docs/errors-and-debugging.md#strict-mode
  /// Events of each worker for which there is room, 40 bytes each, at most 2^24; 0: runs are not recorded. See
  /// docs/speed.md#where-the-time-goes.
  std::int64_t recorded_events = 0;
};

}  // namespace tilewright
