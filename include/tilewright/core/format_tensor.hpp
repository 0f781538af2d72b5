#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/shape.hpp"
#include "tilewright/core/tensor_format.hpp"

namespace tilewright {

namespace detail {

/// The number 0.DDD times ten to the power of `point`, where DDD are the digits without trailing zeros.
struct Decimal {
  std::string digits{};
  int point = 0;
};
/// Parses a text of the form "d.ddde+xx".
inline Decimal read_scientific(std::string_view text) {
  const std::size_t end = text.find('e');
  Decimal result{.digits = std::string(text.substr(0, 1))};
  if (end > 2) result.digits += text.substr(2, end - 2);
  const std::size_t exponent = text[end + 1] == '+' ? end + 2 : end + 1;
  std::from_chars(text.data() + exponent, text.data() + text.size(), result.point);
  ++result.point;
  result.digits.erase(result.digits.find_last_not_of('0') + 1);
  if (result.digits.empty()) return {"0", 1};
  return result;
}
/// Rounds a finite, nonnegative number to `digits` digits after the first, exact ties to even.
inline Decimal rounded_decimal(double number, int digits) {
  char buffer[1200];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific, digits).ptr;
  return read_scientific({buffer, end});
}
/// Returns the shortest digits that read back as the same number of type T. (For float16, 2^-6 has one digit more than in NumPy,
/// whose 0.01563 is not the nearest decimal.)
template <class T>
Decimal shortest_decimal(T number) {
  if (static_cast<double>(number) == 0) return {"0", 1};
  if constexpr (is_half_type<T>) {
    for (int digits = 0;; ++digits) {
      char buffer[64];
      const auto end =
          std::to_chars(buffer, buffer + sizeof buffer, static_cast<double>(number), std::chars_format::scientific, digits).ptr;
      float read = 0;
      std::from_chars(buffer, end, read);
      if (digits == 5 || static_cast<T>(read) == number) return read_scientific({buffer, end});
    }
  } else {
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
    return read_scientific({buffer, end});
  }
}

/// Returns positional notation: "12.5", and "12." for an integer.
inline std::string positional(Decimal decimal) {
  const auto point = static_cast<std::size_t>((std::max)(decimal.point, 0));
  if (decimal.digits.size() < point) decimal.digits.append(point - decimal.digits.size(), '0');
  std::string text = point == 0 ? "0" : decimal.digits.substr(0, point);
  text += '.';
  if (decimal.point < 0) text.append(static_cast<std::size_t>(-decimal.point), '0');
  return text += decimal.digits.substr(point);
}
/// Returns positional notation with at most `digits` digits after the point; the digits before it are exact.
template <class T>
std::string positional(T magnitude, int digits) {
  const Decimal decimal = shortest_decimal(magnitude);
  const int behind_the_point = static_cast<int>(decimal.digits.size()) - decimal.point;
  if (behind_the_point >= 0 && behind_the_point <= digits) return positional(decimal);
  char buffer[1200];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<double>(magnitude), std::chars_format::fixed,
                                 behind_the_point < 0 ? 0 : digits)
                       .ptr;
  std::string text(buffer, end);
  if (text.find('.') == std::string::npos) return text += '.';
  return text.erase(text.find_last_not_of('0') + 1);
}

template <class T>
Decimal scientific_decimal(T magnitude, int digits) {
  Decimal decimal = shortest_decimal(magnitude);
  if (static_cast<int>(decimal.digits.size()) - 1 > digits) return rounded_decimal(static_cast<double>(magnitude), digits);
  return decimal;
}
/// Returns scientific notation, "1.25e+08", with at least `exponent_digits` digits of the exponent.
inline std::string scientific(const Decimal& decimal, std::size_t exponent_digits) {
  const int exponent = decimal.point - 1;
  const std::string number = std::to_string(std::abs(exponent));
  std::string text = decimal.digits.substr(0, 1);
  (text += '.') += decimal.digits.substr(1);
  text += exponent < 0 ? "e-" : "e+";
  if (number.size() < exponent_digits) text.append(exponent_digits - number.size(), '0');
  return text += number;
}

inline void pad_left(std::string& word, std::size_t width) {
  if (word.size() < width) word.insert(0, width - word.size(), ' ');
}
inline void pad_left(std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const std::string& word : words) width = (std::max)(width, word.size());
  for (std::string& word : words) pad_left(word, width);
}

template <class T>
std::string sign_of(T number) {
  return std::signbit(static_cast<double>(number)) ? "-" : "";
}
template <class T>
T magnitude_of(T number) {
  return std::signbit(static_cast<double>(number)) ? static_cast<T>(-number) : number;
}

/// Returns the shortest text of one number: 1.0, 0.1, 1e+20.
template <class T>
std::string unformatted(T number) {
  const auto value = static_cast<double>(number);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return sign_of(number) + "inf";
  if (value != 0 && (std::abs(value) < 1e-4 || std::abs(value) >= 1e16)) {
    std::string text = scientific(shortest_decimal(magnitude_of(number)), 2);
    if (text[2] == 'e') text.erase(1, 1);
    return sign_of(number) + text;
  }
  std::string text = sign_of(number) + positional(shortest_decimal(magnitude_of(number)));
  return text.back() == '.' ? text + '0' : text;
}

/// Returns whether NumPy uses scientific notation for these finite numbers.
template <class T>
bool looks_scientific(const std::vector<T>& numbers) {
  T smallest{}, largest{};
  for (const T number : numbers) {
    const T magnitude = magnitude_of(number);
    if (magnitude == T{}) continue;
    if (smallest == T{} || magnitude < smallest) smallest = magnitude;
    if (magnitude > largest) largest = magnitude;
  }
  if (largest == T{}) return false;
  const auto ratio = static_cast<T>(largest / smallest);
  return static_cast<double>(largest) >= 1e8 || static_cast<double>(smallest) < 1e-4 || static_cast<double>(ratio) > 1000;
}

/// Returns the finite numbers in scientific notation. All have the same number of digits: that of the number that needs most.
template <class T>
std::vector<std::string> scientific_words(const std::vector<T>& numbers, int most_digits) {
  std::size_t digits = 0, exponent_digits = 2;
  for (const T number : numbers) {
    const Decimal decimal = scientific_decimal(magnitude_of(number), most_digits);
    digits = (std::max)(digits, decimal.digits.size() - 1);
    exponent_digits = (std::max)(exponent_digits, std::to_string(std::abs(decimal.point - 1)).size());
  }
  std::vector<std::string> words;
  words.reserve(numbers.size());
  for (const T number : numbers) {
    Decimal decimal = rounded_decimal(static_cast<double>(magnitude_of(number)), static_cast<int>(digits));
    decimal.digits.append(digits + 1 - decimal.digits.size(), '0');
    words.push_back(sign_of(number) + scientific(decimal, exponent_digits));
  }
  return words;
}
/// Returns the finite numbers in positional notation with aligned points.
template <class T>
std::vector<std::string> positional_words(const std::vector<T>& numbers, int most_digits) {
  std::vector<std::string> words;
  words.reserve(numbers.size());
  std::size_t digits = 0;
  for (const T number : numbers) {
    words.push_back(sign_of(number) + positional(magnitude_of(number), most_digits));
    digits = (std::max)(digits, words.back().size() - words.back().find('.') - 1);
  }
  for (std::string& word : words) word.append(digits - (word.size() - word.find('.') - 1), ' ');
  return words;
}
/// Returns all numbers in one notation and with one width.
template <class T>
std::vector<std::string> aligned_numbers(const std::vector<T>& numbers, const TensorFormat& format) {
  std::vector<T> finite;
  for (const T number : numbers)
    if (std::isfinite(static_cast<double>(number))) finite.push_back(number);
  const bool is_scientific = format.float_format == FloatFormat::scientific ||
                             (format.float_format == FloatFormat::automatic && looks_scientific(finite));
  const std::vector<std::string> finite_words = is_scientific ? scientific_words(finite, format.digits)
                                                              : positional_words(finite, format.digits);
  std::vector<std::string> words;
  words.reserve(numbers.size());
  auto next = finite_words.begin();
  for (const T number : numbers) words.push_back(std::isfinite(static_cast<double>(number)) ? *next++ : unformatted(number));
  pad_left(words);
  return words;
}

/// Returns the texts of elements, padded to a common width.
template <class T>
std::vector<std::string> element_words(const std::vector<T>& elements, bool is_scalar, const TensorFormat& format) {
  if constexpr (is_half_type<T> || std::is_floating_point_v<T>)
    if (format.digits != 0 && format.float_format != FloatFormat::none) return aligned_numbers(elements, format);
  std::vector<std::string> words;
  words.reserve(elements.size());
  for (const T element : elements) {
    if constexpr (std::is_same_v<T, bool>) words.push_back(element ? "True" : "False");
    else if constexpr (std::is_integral_v<T>) words.push_back(std::to_string(element));
    else words.push_back(unformatted(element));
  }
  if (format.digits == 0) return words;
  pad_left(words);
  if (std::is_same_v<T, bool> && !is_scalar)
    for (std::string& word : words) pad_left(word, 5);  // the width of False, even if all are True
  return words;
}

/// Writes the shown elements, in order, into nested brackets.
class TensorText {
 public:
  TensorText(const Shape& shape, const TensorFormat& format)
      : shape_(shape),
        format_(format),
        summarises_(format.summarise_threshold > 0 && shape.nelms() > format.summarise_threshold) {}

  /// Calls f with the position in memory of each shown element.
  void for_each_shown(auto f, int axis = 0, std::int64_t first = 0) const {
    if (axis == shape_.rank || axis == max_rank) return f(first);  // the latter for GCC, which warns of a seventh axis
    for (std::int64_t i = 0; i < shape_[axis]; ++i) {
      if (is_summarised(axis) && i == format_.edge_items) i = shape_[axis] - format_.edge_items;
      for_each_shown(f, axis + 1, first * shape_[axis] + i);
    }
  }
  std::string write(const std::vector<std::string>& words) const {
    auto word = words.begin();
    std::string text;
    if (shape_.rank == 0) text = *word;
    else if (shape_.nelms() == 0) text = {format_.open_bracket, format_.close_bracket};
    else write_axis(text, 0, word);
    return text;
  }

 private:
  bool is_summarised(int axis) const { return summarises_ && 2 * std::int64_t{format_.edge_items} < shape_[axis]; }
  bool separator_is_space() const { return std::string_view(" \t\n\r\f\v").find(format_.separator) != std::string_view::npos; }
  std::int64_t shown(int axis) const { return is_summarised(axis) ? 2 * std::int64_t{format_.edge_items} : shape_[axis]; }

  void write_axis(std::string& text, int axis, std::vector<std::string>::const_iterator& word) const {
    text += format_.open_bracket;
    if (axis == shape_.rank - 1) write_row(text, word);
    else {
      std::string between = separator_is_space() ? "" : std::string(1, format_.separator);
      between.append(static_cast<std::size_t>(shape_.rank - 1 - axis), '\n').append(static_cast<std::size_t>(axis) + 1, ' ');
      for (std::int64_t i = 0, count = shown(axis); i < count; ++i) {
        if (i > 0) text += between;
        if (is_summarised(axis) && i == format_.edge_items) (text += "...") += between;
        write_axis(text, axis + 1, word);
      }
    }
    text += format_.close_bracket;
  }
  void write_row(std::string& text, std::vector<std::string>::const_iterator& word) const {
    const int axis = (std::max)(shape_.rank - 1, 0);  // a rank is at least 1 here, which GCC does not see
    const auto indent = static_cast<std::size_t>(shape_.rank);
    std::size_t line = indent;  // length of the line in characters, its brackets or indentation included
    const auto add = [&](std::string_view added) {
      // brackets will follow: one here, and one for each axis around
      if (format_.max_line_width > 0 && line > indent &&
          static_cast<std::int64_t>(line + added.size() + indent) > format_.max_line_width) {
        text.erase(text.find_last_not_of(" \t\n\r\f\v") + 1);
        (text += '\n').append(indent, ' ');
        line = indent;
      }
      text += added;
      line += added.size();
    };
    for (std::int64_t i = 0, count = shown(axis); i < count; ++i) {
      if (i > 0) text += format_.separator, ++line;
      if (is_summarised(axis) && i == format_.edge_items) {
        add("...");
        text += format_.separator, ++line;
      }
      add(*word++);
    }
  }

  const Shape& shape_;
  const TensorFormat& format_;
  bool summarises_;
};

/// Throws for formats that print_tensor refuses.
inline void require_format(const TensorFormat& format) {
  const auto ensure = [](const char* name, std::int64_t number, std::int64_t least) {
    if (number < least)
      throw std::invalid_argument("format_tensor: " + std::string(name) + " " + std::to_string(number) + ": " +
                                  std::to_string(least) + " or more expected");
  };
  ensure("summarise_threshold", format.summarise_threshold, 0);
  ensure("edge_items", format.edge_items, 1);
  ensure("max_line_width", format.max_line_width, 0);
  ensure("digits", format.digits, 0);
}

}  // namespace detail

/// Returns the text of a dense tensor, as NumPy's array2string does: brackets around each axis, elements of a common width,
/// wrapped rows, and large tensors summarised. T is an element type. Brackets and the separator in `format` are one character
/// each. NumPy only has FloatFormat::automatic, and no 0 for "no limit". The function is for inspection and allocates. Throws
/// std::invalid_argument for edge_items below 1, and for other negative numbers.
template <class T>
std::string format_tensor(const T* elements, const Shape& shape, const TensorFormat& format = {}) {
  detail::require_format(format);
  const detail::TensorText text(shape, format);
  std::vector<std::conditional_t<std::is_class_v<T> && !is_half_type<T>, float, T>> shown;  // float8 as float
  text.for_each_shown(
      [&](std::int64_t position) { shown.push_back(static_cast<typename decltype(shown)::value_type>(elements[position])); });
  return text.write(detail::element_words(shown, shape.rank == 0, format));
}

}  // namespace tilewright
