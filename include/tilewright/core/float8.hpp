#pragma once
#include "tilewright/core/requirements.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tilewright/core/float16.hpp"

namespace tilewright {

/// A floating-point number of 8 bits: a sign, `exponent_bits` of an exponent with the given bias, and a mantissa. No exponent is
/// reserved for infinity and NaN. Numbers with exponent 0 have no implicit leading bit. There are no infinities and no negative
/// zero. The only NaN has the code 0x80, which is negative zero in other formats. (B. Noune et al., "8-bit Numerical Formats for
/// Deep Neural Networks", arXiv 2206.02915, 2022.)
///
/// A storage format without arithmetic. Conversions to float and double are exact. Conversions from them round to nearest, ties
/// to even; numbers that round beyond the largest one become NaN.
template <int exponent_bits, int bias>
struct Float8 {
  static constexpr int mantissa_bits = 7 - exponent_bits;
  static constexpr std::uint8_t nan_bits = 0x80;
  static constexpr std::uint8_t largest_bits = 0x7f;

  std::uint8_t bits = 0;

  constexpr Float8() = default;
  template <class Number>
    requires(std::is_arithmetic_v<Number> || std::is_same_v<Number, float16_t>)
  constexpr explicit Float8(Number x) : bits(encode(x, true)) {}
  constexpr explicit operator float() const { return decode(bits); }
  constexpr explicit operator double() const { return static_cast<double>(decode(bits)); }
  /// Compares codes: NaN equals itself.
  constexpr bool operator==(const Float8&) const = default;

  static constexpr Float8 from_bits(std::uint8_t bits) {
    Float8 result;
    result.bits = bits;
    return result;
  }
  /// Returns the nearest number. A number beyond the largest becomes NaN, or the largest without `nan_on_overflow`. Infinities
  /// become NaN.
  template <class Number>
  static constexpr Float8 nearest(Number x, bool nan_on_overflow) {
    return from_bits(encode(x, nan_on_overflow));
  }

 private:
  static constexpr float decode(std::uint8_t code) {
    if (code == nan_bits) return std::numeric_limits<float>::quiet_NaN();
    const std::uint32_t sign = std::uint32_t{code} >> 7 << 31, magnitude = code & 0x7fu;
    if (magnitude >> mantissa_bits == 0) {  // less than the least normal number: units of the least of all
      constexpr float unit = std::bit_cast<float>(static_cast<std::uint32_t>(127 + 1 - bias - mantissa_bits) << 23);
      const float number = static_cast<float>(magnitude) * unit;
      return sign != 0 ? -number : number;
    }
    return std::bit_cast<float>(sign | ((magnitude << (23 - mantissa_bits)) + (static_cast<std::uint32_t>(127 - bias) << 23)));
  }
  template <class Number>
  static constexpr std::uint8_t encode(Number number, bool nan_on_overflow) {
    if constexpr (!std::is_same_v<Number, float> && !std::is_same_v<Number, double>) {
      return encode(static_cast<std::conditional_t<sizeof(Number) == 2, float, double>>(number), nan_on_overflow);
    } else {
      using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;
      constexpr int mantissa = sizeof(Number) == 8 ? 52 : 23, source_bias = sizeof(Number) == 8 ? 1023 : 127;
      constexpr int least_exponent = 1 - bias;  // of normal numbers
      const Bits all = std::bit_cast<Bits>(number), magnitude = all << 1 >> 1;
      if (magnitude >= static_cast<Bits>(2 * source_bias + 1) << mantissa) return nan_bits;
      const int exponent = static_cast<int>(magnitude >> mantissa) - source_bias;
      const int target = exponent < least_exponent ? least_exponent : exponent;
      const int shift = mantissa - mantissa_bits + target - exponent;  // bits that are rounded off
      int code = 0;
      if (shift <= mantissa + 1) {  // else less than half of the least number; so are all denormal sources
        const Bits significand = (magnitude & ((Bits{1} << mantissa) - 1)) | Bits{1} << mantissa;
        const Bits half = Bits{1} << (shift - 1), rest = significand & (2 * half - 1);
        const int kept = static_cast<int>(significand >> shift);
        code = kept + (rest > half || (rest == half && kept % 2 != 0) ? 1 : 0);
        code += (target - least_exponent) << mantissa_bits;
      }
      if (code > largest_bits) {
        if (nan_on_overflow) return nan_bits;
        code = largest_bits;
      }
      return static_cast<std::uint8_t>(code == 0 || all == magnitude ? code : code | 0x80);
    }
  }
};

/// 4 bits of exponent and 3 of mantissa: from 2^-10 to 240.
using float8_143_t = Float8<4, 8>;
/// 5 bits of exponent and 2 of mantissa: from 2^-17 to 57,344.
using float8_152_t = Float8<5, 16>;

}  // namespace tilewright
