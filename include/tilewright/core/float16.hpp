#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tilewright::detail {

/// Returns a number as a float for further rounding. If no float is equal, rounds towards zero and sets the last bit, so that the
/// second rounding gives the correct result.
template <class Number>
constexpr float round_to_odd(Number x) {
  if constexpr (std::integral<Number> && sizeof(Number) > 4) {
    constexpr std::uint64_t low = 0x7ff;  // of 64 bits, those that a double has no room for
    bool is_negative = false;
    if constexpr (std::is_signed_v<Number>) is_negative = x < 0;
    const std::uint64_t size = is_negative ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    if (size <= low << 42) return round_to_odd(static_cast<double>(x));  // below 2^53
    const auto number = static_cast<double>((size & ~low) | ((size & low) != 0 ? low + 1 : 0));
    return round_to_odd(is_negative ? -number : number);
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

/// IEEE binary16 in integers, as the compiler's type behaves: reading is exact, writing rounds to nearest, ties to even.
struct Float16 {
  std::uint16_t bits = 0;

  constexpr Float16() = default;
  template <class Number>
    requires(std::is_arithmetic_v<Number> || std::is_convertible_v<Number, float>)
  constexpr explicit Float16(Number x) : bits(rounded(detail::round_to_odd(x))) {}
  constexpr operator float() const {
    const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31, magnitude = bits & 0x7fffu;
    if (magnitude < least_normal) {
      const float number = static_cast<float>(magnitude) * 0x1p-24f;
      return sign != 0 ? -number : number;
    }
    if (magnitude >= infinity) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude - infinity) << 13);
    return std::bit_cast<float>(sign | ((magnitude << 13) + exponent_offset));
  }

 private:
  static constexpr std::uint32_t least_normal = 0x400, infinity = 0x7c00, exponent_offset = std::uint32_t{127 - 15} << 23;

  static constexpr std::uint16_t rounded(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x), size = all & 0x7fffffff, sign = all >> 16 & 0x8000;
    if (x != x) return static_cast<std::uint16_t>(sign | infinity | 0x200 | (size >> 13 & 0x3ff));  // quiet
    if (size >= 0x47800000) return static_cast<std::uint16_t>(sign | infinity);  // 2^16
    if (size < 0x38800000) {  // 2^-14: below it, the last bit of 1/2 is that of a half
      const float sum = std::bit_cast<float>(size) + 0.5f;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5f)));
    }
    return static_cast<std::uint16_t>(sign | ((size - exponent_offset + 0xfff + (size >> 13 & 1)) >> 13));
  }
};

}  // namespace tilewright::detail

namespace tilewright {

/// Half precision on the host, IEEE binary16: the compiler's own type where it has one. On 64-bit ARM, GCC before 13 only has
/// __fp16 in C++, which every operation widens to float.
#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
using float16_t = __fp16;
#elif defined(__FLT16_MANT_DIG__)
using float16_t = _Float16;
#else
using float16_t = detail::Float16;
#endif

}  // namespace tilewright
