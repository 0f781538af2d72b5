#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

namespace tilewright {

/// A small generator for initial values, equal on every platform and standard library.
/// SplitMix64 ("Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1), 53 random bits.
  constexpr double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Mean 0 and standard deviation 1 (Box-Muller transform).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace tilewright
