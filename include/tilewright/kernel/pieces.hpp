#pragma once
#include <cstdint>

namespace tilewright::kernel {

/// Consecutive pieces of a vertex, which a kernel computes together: `first` to `last` - 1 of `count`. A kernel divides its own
/// units evenly, such as strips of columns, so a piece may have none of them.
struct Pieces {
  std::int64_t first = 0, last = 1, count = 1;
  /// Return the range of the pieces' units: begin(units) to end(units) - 1.
  constexpr std::int64_t begin(std::int64_t units) const { return units * first / count; }
  constexpr std::int64_t end(std::int64_t units) const { return units * last / count; }
};

}  // namespace tilewright::kernel
