#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "tilewright/core/float16.hpp"

namespace tilewright {

/// A floating-point number of 16 bits: the first half of a float, with all 8 bits of its exponent and 7 of its mantissa. A
/// storage format: reading converts to float, which is exact; writing rounds to nearest, ties to even. NaN stays NaN; numbers
/// that round beyond the largest one, 3.39e38, become infinite.
struct bfloat16_t {
  std::uint16_t bits = 0;

  constexpr bfloat16_t() = default;
  template <class Number>
    requires(std::is_arithmetic_v<Number> || std::is_convertible_v<Number, float>)
  constexpr explicit bfloat16_t(Number x) : bits(rounded(detail::round_to_odd(x))) {}
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
};

}  // namespace tilewright
