#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tilewright {

/// A floating-point number of 16 bits: the first half of a float, with all 8 bits of its exponent and 7 of its mantissa. A
/// storage format: reading converts to float, which is exact; writing rounds to nearest, ties to even. NaN stays NaN; numbers
/// that round beyond the largest one, 3.39e38, become infinite.
struct bfloat16_t {
  std::uint16_t bits = 0;

  constexpr bfloat16_t() = default;
  template <class Number>
    requires(std::is_arithmetic_v<Number> || std::is_convertible_v<Number, float>)
  constexpr explicit bfloat16_t(Number x) : bits(rounded(nearest_or_odd(x))) {}
  constexpr operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

  static constexpr bfloat16_t from_bits(std::uint16_t bits) {
    bfloat16_t result;
    result.bits = bits;
    return result;
  }

 private:
  static constexpr std::uint16_t rounded(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x);
    if (x != x) return static_cast<std::uint16_t>(all >> 16 | 0x40);  // quiet
    return static_cast<std::uint16_t>((all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
  /// Returns a number as a float for further rounding. If no float is equal, rounds towards zero and sets the last bit, so that
  /// the second rounding gives the correct result.
  template <class Number>
  static constexpr float nearest_or_odd(Number x) {
    if constexpr (std::integral<Number> && sizeof(Number) > 4) {
      constexpr std::uint64_t low = 0x7ff;  // of 64 bits, those that a double has no room for
      bool is_negative = false;
      if constexpr (std::is_signed_v<Number>) is_negative = x < 0;
      const std::uint64_t size = is_negative ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
      if (size <= low << 42) return nearest_or_odd(static_cast<double>(x));  // below 2^53
      const auto number = static_cast<double>((size & ~low) | ((size & low) != 0 ? low + 1 : 0));
      return nearest_or_odd(is_negative ? -number : number);
    } else if constexpr (sizeof(Number) > 4 || (std::integral<Number> && sizeof(Number) == 4)) {
      const auto number = static_cast<double>(x);
      if (number != number || number - number != 0) return static_cast<float>(number);
      constexpr double largest = 0x1.fffffep127, beyond = 0x1p128;
      const double size = number < 0 ? -number : number;
      constexpr float infinity = std::numeric_limits<float>::infinity();
      if (size >= beyond) return number < 0 ? -infinity : infinity;
      const float nearest = size > largest ? static_cast<float>(largest) : static_cast<float>(size);
      auto all = std::bit_cast<std::uint32_t>(nearest);
      if (static_cast<double>(nearest) > size) --all;
      if (static_cast<double>(nearest) != size) all |= 1;
      const auto result = std::bit_cast<float>(all);
      return number < 0 ? -result : result;
    } else {
      return static_cast<float>(x);
    }
  }
};

}  // namespace tilewright
