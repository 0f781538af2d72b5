#pragma once
#include <cmath>
#include <compare>
#include <cstdint>

namespace tilewright::detail {

/// A number in steps of 2^-16, for results that must be equal on every machine and with every compiler option:
/// floating point depends on both (fused multiply-adds, -ffast-math). Good for magnitudes below 2^15.
struct Fixed {
  std::int64_t steps = 0;

  constexpr Fixed() = default;
  /// The nearest one. (Scaling by a power of two is exact: this is the same everywhere.)
  constexpr Fixed(double value) : steps(static_cast<std::int64_t>(value * one + (value < 0 ? -0.5 : 0.5))) {}
  static constexpr Fixed from_steps(std::int64_t steps_of_result) {
    Fixed result;
    result.steps = steps_of_result;
    return result;
  }

  constexpr int floor() const { return static_cast<int>(steps >> 16); }
  constexpr int ceil() const { return -(-*this).floor(); }

  constexpr Fixed operator-() const { return from_steps(-steps); }
  friend constexpr Fixed operator+(Fixed a, Fixed b) { return from_steps(a.steps + b.steps); }
  friend constexpr Fixed operator-(Fixed a, Fixed b) { return from_steps(a.steps - b.steps); }
  friend constexpr Fixed operator*(Fixed a, Fixed b) { return from_steps((a.steps * b.steps) >> 16); }
  friend constexpr Fixed operator/(Fixed a, Fixed b) { return from_steps(a.steps * one / b.steps); }
  constexpr auto operator<=>(const Fixed&) const = default;

  /// IEEE 754 rounds square roots correctly, and the operand, below 2^52, is exact.
  friend Fixed sqrt(Fixed a) {
    return from_steps(static_cast<std::int64_t>(std::sqrt(static_cast<double>(a.steps * one))));
  }

 private:
  static constexpr std::int64_t one = 1 << 16;
};

}  // namespace tilewright::detail
