#pragma once
#include <cstdint>

namespace tilewright::kernel {

/// Neighbouring pieces of a vertex, which a kernel computes in one go: those from `first` to before `last`, of `count`. A kernel
/// divides its own units evenly, such as strips of columns: a piece may have none of them.
struct Pieces {
  std::int64_t first = 0, last = 1, count = 1;
  /// The units from begin(units) to before end(units) are those of the pieces.
  constexpr std::int64_t begin(std::int64_t units) const { return units * first / count; }
  constexpr std::int64_t end(std::int64_t units) const { return units * last / count; }
};

}  // namespace tilewright::kernel
