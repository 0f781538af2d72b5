#pragma once
#include <cstdint>

namespace tilewright {

/// A small generator for initial values, equal on every platform and standard library: SplitMix64 ("Fast splittable pseudorandom
/// number generators", OOPSLA 2014).
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t bits() {
    const std::uint64_t result = bits_ahead(0);
    skip(1);
    return result;
  }
  /// Returns the result of bits() after `count` other calls. Calls of bits_ahead do not depend on each other.
  constexpr std::uint64_t bits_ahead(std::uint64_t count) const {
    std::uint64_t z = state_ + (count + 1) * increment;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Skips the results of `count` calls of bits().
  constexpr void skip(std::uint64_t count) { state_ += count * increment; }
  /// Returns a uniform number in [0, 1) of 53 random bits.
  constexpr double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
  static constexpr std::uint64_t increment = 0x9e3779b97f4a7c15u;
  std::uint64_t state_;
};

}  // namespace tilewright
