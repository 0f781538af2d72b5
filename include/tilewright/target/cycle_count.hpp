#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/figures/figure.hpp"

namespace tilewright {

/// Cycles of a machine's clock, and how many of them rest on recalled or assumed numbers.
struct CycleCount {
  std::int64_t cycles = 0;
  std::int64_t assumed = 0;  ///< at most `cycles`

  constexpr CycleCount() = default;
  constexpr CycleCount(std::int64_t count, Confidence confidence = Confidence::published)
      : cycles(count), assumed(is_guess(confidence) ? count : 0) {}
  constexpr CycleCount(const Figure& figure) : CycleCount(figure.value, figure.confidence) {}

  constexpr CycleCount& operator+=(const CycleCount& other) {
    cycles += other.cycles;
    assumed += other.assumed;
    return *this;
  }
  friend constexpr CycleCount operator+(CycleCount a, const CycleCount& b) { return a += b; }
  friend constexpr CycleCount operator*(std::int64_t times, CycleCount count) {
    count.cycles *= times;
    count.assumed *= times;
    return count;
  }
  friend constexpr bool operator==(const CycleCount&, const CycleCount&) = default;
};

/// Returns the longer of two activities that run in parallel.
constexpr CycleCount longer(const CycleCount& a, const CycleCount& b) { return a.cycles < b.cycles ? b : a; }

}  // namespace tilewright
