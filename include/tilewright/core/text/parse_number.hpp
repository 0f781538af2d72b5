#pragma once
#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace tilewright::detail {

/// Returns whether a decimal number other than 0 is below 1, without its sign.
inline bool is_below_one(std::string_view text) {
  const std::size_t end = (std::min)(text.find_first_of("eE"), text.size());
  const std::string_view number = text.substr(0, end);
  const std::size_t point = (std::min)(number.find('.'), end), first = number.find_first_of("123456789");
  auto power = first < point ? static_cast<std::int64_t>(point - first) - 1 : -static_cast<std::int64_t>(first - point);
  if (end == text.size()) return power < 0;
  std::string_view digits = text.substr(end + 1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t exponent = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc()) return digits.starts_with('-');
  return exponent < -power;
}

/// Returns the number that a whole text is, rounded once: the nearest number of the type, whatever the locale. Takes decimal
/// numbers with a sign or without, and inf and nan for floating-point types. A number too near to 0 for the type becomes 0.
/// Returns nothing for another text, and for a number beyond the largest.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc()) return number;
  if constexpr (std::floating_point<Number>)
    if (error == std::errc::result_out_of_range && is_below_one(text)) return text.starts_with('-') ? -Number{} : Number{};
  return std::nullopt;
}

}  // namespace tilewright::detail
