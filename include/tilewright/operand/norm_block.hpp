#pragma once
#include <cstdint>

namespace tilewright::kernel {

/// A block of memory that is normalised: groups of channels. The elements of a channel share one weight and one bias.
struct NormBlock {
  std::int64_t groups = 1;    ///< each has its own mean and deviation
  std::int64_t channels = 1;  ///< of a group
  std::int64_t spatial = 1;   ///< elements of a channel, next to each other
};

}  // namespace tilewright::kernel
