#pragma once
#include <limits>
#include <span>
#include <type_traits>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/text.hpp"

namespace tilewright {

/// The numbers that a dtype represents.
struct NumberRange {
  double lowest = 0, highest = 0;  ///< finite
  bool whole = false;              ///< no fractions, infinities or NaN
};
constexpr NumberRange number_range(DType dtype) {
  return visit_dtype(dtype, []<class T>(std::type_identity<T>) -> NumberRange {
    if constexpr (std::is_same_v<T, bool>) return {0, 1, true};
    else if constexpr (std::is_same_v<T, float16_t>) return {-65504, 65504};
    else if constexpr (std::is_integral_v<T>) {
      double count = 1;  // number of values, a power of 2
      for (std::size_t bit = 0; bit < 8 * sizeof(T); ++bit) count *= 2;
      // The largest int64 and uint64 are no doubles; the next smaller doubles are 2^63 - 2^10 and 2^64 - 2^11.
      const double step = sizeof(T) < 8 ? 1 : std::is_signed_v<T> ? 1024 : 2048;
      if (std::is_signed_v<T>) return {-count / 2, count / 2 - step, true};
      return {0, count - step, true};
    } else {
      return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
    }
  });
}

/// The index of the first number that does not fit the dtype, or -1. Integers and bool take exact values only; floating point
/// rounds, but a finite number must not become infinite.
constexpr std::ptrdiff_t find_unfit(std::span<const double> numbers, DType dtype) {
  const double* const values = numbers.data();
  if (numbers.size() == 1 && (values[0] == 0 || values[0] == 1)) return -1;  // as most: all dtypes have these
  const NumberRange range = number_range(dtype);
  for (std::size_t i = 0, count = numbers.size(); i < count; ++i) {
    const double value = values[i];
    if (value >= range.lowest && value <= range.highest) {
      if (!range.whole) continue;
      if (value >= 0x1p53 || value <= -0x1p53) continue;  // such doubles have no fraction
      if (static_cast<double>(static_cast<std::int64_t>(value)) == value) continue;
    } else if (!range.whole) {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      if (value != value || value == infinity || value == -infinity) continue;
    }
    return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

/// The number for a message, rounded to 12 digits: 1.5, 2147483648, 1e+300, nan.
constexpr Text number_text(double number) {
  constexpr int most_digits = 12;
  if (number != number) return "nan";
  Text result;
  if (number < 0) result += "-";
  double magnitude = number < 0 ? -number : number;
  if (magnitude == std::numeric_limits<double>::infinity()) return result += "inf";
  if (magnitude == 0) return result += "0";
  int exponent = 0;  // of the first digit
  for (; magnitude >= 10; ++exponent) magnitude /= 10;
  for (; magnitude < 1; --exponent) magnitude *= 10;
  for (int i = 1; i < most_digits; ++i) magnitude *= 10;
  auto digits = static_cast<std::int64_t>(magnitude + 0.5);
  int count = most_digits;
  for (; digits % 10 == 0 && count > 1; --count) digits /= 10;
  if (digits == 10) digits = 1, ++exponent;  // 9.999... was rounded up
  const Text all = text(digits);
  const std::string_view view = all.view();
  if (exponent < -4 || exponent >= most_digits) {
    result += view.substr(0, 1);
    if (count > 1) result += text(".", view.substr(1));
    return result += text(exponent < 0 ? "e" : "e+", exponent);
  }
  if (exponent < 0) {
    result += "0.";
    for (int i = -1; i > exponent; --i) result += "0";
    return result += view;
  }
  const auto before = static_cast<std::size_t>(exponent) + 1;
  result += view.substr(0, before);
  for (std::size_t i = view.size(); i < before; ++i) result += "0";
  if (view.size() > before) result += text(".", view.substr(before));
  return result;
}

/// The numbers that fit the dtype, for a message: "a whole number from -128 to 127".
constexpr Text expected_number(DType dtype) {
  const NumberRange range = number_range(dtype);
  if (dtype == boolean) return "0 or 1";
  return text(range.whole ? "a whole number from " : "a number from ", number_text(range.lowest), " to ",
              number_text(range.highest));
}

}  // namespace tilewright
