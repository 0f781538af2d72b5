#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/core/flag.hpp"
#include "tilewright/execute/strict_mode.hpp"
#include "tilewright/session/given_array.hpp"

namespace tilewright {

/// Options of a session.
struct SessionOptions {
  std::uint64_t seed = 42;  ///< seed of the variables' initial values
  int threads = 0;  ///< host threads; 0: the first runs measure which number is fastest, at most one per core
  Flag attach = true;  ///< whether the session starts attached; otherwise a context attaches it
  Flag weights_to_host_on_exit = true;  ///< whether a context copies the variables to the host when it ends
  StrictMode strict{};  ///< true: each run checks the ops, see docs/how-to/proofs.md#strict-mode
  /// Capacity of each worker's event recorder, at most 2^24 events of 40 bytes; 0: runs are not recorded. See
  /// docs/how-it-works/speed.md#where-the-time-goes.
  std::int64_t recorded_events = 0;
  /// Values of variables, by name, in place of those of their initialisers; and the rows of mapped buffers. Arrays of the host
  /// are read by the constructor only. Mapped arrays are used in place, see docs/how-to/arrays-in-files.md#arrays-in-files.
  std::vector<GivenArray> arrays{};
};

}  // namespace tilewright
