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

/// A part of sums that a kernel makes. `number` counts parts from 0. -1: the kernel stores the part. Otherwise it adds the part
/// to the sum of the parts before it, in the memory of part 0.
struct SumPart {
  std::int64_t number = -1;
  constexpr bool is_added() const { return number >= 0; }
};

}  // namespace tilewright::kernel
