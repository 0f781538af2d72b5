#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/dtype.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/core/text.hpp"

namespace tilewright {

/// A number for an element, exact for every type of C++. Integers beyond 2^53 in 64 bits are split into `value` and `rest`, their
/// last 11 bits.
struct ExactNumber {
  double value = 0, rest = 0;

  constexpr ExactNumber() = default;
  constexpr ExactNumber(double number) : value(number) {}
  template <std::integral T>
  constexpr ExactNumber(T number) : value(static_cast<double>(number)) {
    if constexpr (sizeof(T) == 8) {
      if (value < 0x1p53 && value > -0x1p53) return;
      const auto last = static_cast<T>(number & T{0x7ff});
      value = static_cast<double>(static_cast<T>(number - last));
      rest = static_cast<double>(last);
    }
  }
};

/// Numbers for the elements of a tensor, exact like ExactNumber. One list holds all values, followed by the rest of each number
/// if any number has a rest.
class Numbers {
  // before their users: Clang would not know their bodies when it reads those
  static constexpr std::size_t checked(std::size_t count) {
    if (std::is_constant_evaluated() && count > 1 << 20)  // compilers show the line of the error, with its text
      TW_THROW TraceError("over 1048576 numbers while compiling: a variable of given(), a stream or computed_by expected");
    return count;
  }
  template <class T>
  constexpr void append(const T* numbers, std::size_t count) {
    list_.reserve(checked(count));
    for (std::size_t i = 0; i < count; ++i) {
      const ExactNumber number(numbers[i]);
      list_.push_back(number.value);
      has_rests_ = has_rests_ || number.rest != 0;
    }
    if (has_rests_)
      for (std::size_t i = 0; i < count; ++i) list_.push_back(ExactNumber(numbers[i]).rest);
  }

 public:
  constexpr Numbers() = default;
  constexpr Numbers(List<double> values) : list_(std::move(values)) {}
  constexpr Numbers(const std::vector<double>& values) : Numbers(Span<const double>(values)) {}
  constexpr explicit Numbers(Span<const double> values) : list_(values.data(), values.data() + checked(values.size())) {}
  constexpr Numbers(std::initializer_list<ExactNumber> numbers) { append(numbers.begin(), numbers.size()); }
  /// Creates numbers from a std::vector, std::array or std::span of integers.
  template <class Range>
    requires requires(const Range& range) {
      { *range.data() } -> std::convertible_to<std::int64_t>;
      requires std::integral<std::remove_cvref_t<decltype(*range.data())>>;
      range.size();
    }
  constexpr Numbers(const Range& range) {
    append(range.data(), range.size());
  }

  constexpr std::size_t size() const { return has_rests_ ? list_.size() / 2 : list_.size(); }
  /// Returns a number, rounded to double if it has a rest.
  constexpr double operator[](std::size_t i) const { return has_rests_ ? list_[i] + list_[i + size()] : list_[i]; }
  constexpr Span<const double> values() const { return {list_.data(), size()}; }
  constexpr bool has_rests() const { return has_rests_; }
  /// Returns `count` numbers from index `first` on.
  constexpr Numbers part(std::size_t first, std::size_t count) const {
    List<double> list;
    for (std::size_t i = first; i < first + count; ++i) list.push_back(list_[i]);
    for (std::size_t i = first; has_rests_ && i < first + count; ++i) list.push_back(list_[size() + i]);
    Numbers result(std::move(list));
    result.has_rests_ = has_rests_;
    return result;
  }
  /// Returns all numbers times a power of 2.
  constexpr Numbers scaled(double power) const {
    Numbers result = *this;
    for (double& number : result.list_) number *= power;
    return result;
  }
  /// Returns the list: all values, followed by the rests (see ExactNumber) if any number has one.
  constexpr const List<double>& list() const { return list_; }

 private:
  List<double> list_{};
  bool has_rests_ = false;
};

namespace detail {
/// Returns 2^log2_scale. Throws std::invalid_argument for an exponent outside of -32 to 31.
constexpr double power_of_two(const char* function, int log2_scale) {
  if (log2_scale < -32 || log2_scale > 31)
    TW_THROW std::invalid_argument(text(function, ": log2_scale ", log2_scale, ": from -32 to 31 expected").string());
  double power = 1;
  for (int i = 0; i < log2_scale; ++i) power *= 2;
  for (int i = 0; i > log2_scale; --i) power /= 2;
  return power;
}
}  // namespace detail

/// The numbers that a dtype represents.
struct NumberRange {
  double lowest = 0, highest = 0;  ///< finite
  bool whole = false;  ///< whether only whole numbers are allowed: no fractions, infinities or NaN
};
namespace detail {
/// The numbers of each dtype, in DType's order. (A table: calls by dtype would be functions of each program.)
inline constexpr auto number_ranges = [] {
  constexpr auto range_of = []<class T>(std::type_identity<T>) -> NumberRange {
    if constexpr (std::is_same_v<T, bool>) return {0, 1, true};
    else if constexpr (std::is_same_v<T, float16_t>) return {-65504, 65504};
    else if constexpr (std::is_same_v<T, bfloat16_t>) return {-0x1.fep127, 0x1.fep127};
    else if constexpr (std::is_same_v<T, float8_143_t>) return {-240, 240};
    else if constexpr (std::is_same_v<T, float8_152_t>) return {-57344, 57344};
    else if constexpr (std::is_integral_v<T>) {
      double count = 1;  // number of values, a power of 2
      for (std::size_t bit = 0; bit < 8 * sizeof(T); ++bit) count *= 2;
      // The largest int64 and uint64 are no doubles; the next smaller doubles are 2^63 - 2^10 and 2^64 - 2^11.
      const double step = sizeof(T) < 8 ? 1 : std::is_signed_v<T> ? 1024 : 2048;
      if (std::is_signed_v<T>) return {-count / 2, count / 2 - step, true};
      return {0, count - step, true};
    } else {
      return {std::numeric_limits<T>::lowest(), (std::numeric_limits<T>::max)()};
    }
  };
  std::array<NumberRange, dtype_count> ranges{};
  for (std::size_t d = 0; d < dtype_count; ++d)
    if (!is_complex(static_cast<DType>(d))) ranges[d] = visit_dtype(static_cast<DType>(d), range_of);
  return ranges;
}();
}  // namespace detail
constexpr const NumberRange& number_range(DType dtype) { return detail::number_ranges[static_cast<std::size_t>(dtype)]; }
namespace detail {
/// Returns whether a number is finite as an element of a dtype.
constexpr bool is_finite_as(double number, DType dtype) {
  return number >= number_range(dtype).lowest && number <= number_range(dtype).highest;
}
}  // namespace detail

/// Returns the index of the first number that does not fit the dtype, or -1. Integers and bool accept exact values only. Floating
/// point rounds, but a finite number must not become infinite.
constexpr std::ptrdiff_t find_unfit(Span<const double> numbers, DType dtype) {
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

/// Returns the first number that may have been rounded on its way through double to a 64-bit integer. Returns 0 if there is none,
/// or for another dtype.
constexpr double find_rounded(Span<const double> numbers, DType dtype) {
  if (is_int(dtype) && size_of(dtype) == 8)
    for (const double number : numbers)
      if (number >= 0x1p53 || number <= -0x1p53) return number;
  return 0;
}

/// Returns the number for a message, rounded to 12 digits: 1.5, 2147483648, 1e+300, nan.
[[gnu::cold]] constexpr Text number_text(double number) {
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

/// Returns the range of the dtype for a message: "a whole number from -128 to 127".
[[gnu::cold]] constexpr Text expected_number(DType dtype) {
  const NumberRange range = number_range(dtype);
  if (dtype == boolean) return "0 or 1";
  return text(range.whole ? "a whole number from " : "a number from ", number_text(range.lowest), " to ",
              number_text(range.highest));
}

}  // namespace tilewright
