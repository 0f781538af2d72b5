#pragma once
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace tilewright::detail {

/// Returns the length of the UTF-8 sequence at the front of a text; 0 if there is none.
inline std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i, unsigned first = 0x80, unsigned last = 0xbf) {
    return i < text.size() && byte(i) >= first && byte(i) <= last;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef)  // neither overlong nor a surrogate
    return follows(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  if (lead >= 0xf0 && lead <= 0xf4)
    return follows(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}

/// Writes JSON text, value after value, and adds commas. Escapes `<`, so that the text can stand in a <script> of an HTML page.
/// Writes bytes that are not UTF-8 as U+FFFD, and numbers that are not finite as null.
class JsonText {
 public:
  JsonText& begin_object() { return open('{'); }
  JsonText& end_object() { return close('}'); }
  JsonText& begin_array() { return open('['); }
  JsonText& end_array() { return close(']'); }
  /// Writes a member's name; its value comes next.
  JsonText& key(std::string_view name) {
    value(name);
    text_ += ':';
    first_ = true;
    return *this;
  }
  JsonText& value(std::string_view text) {
    separate();
    text_ += '"';
    while (!text.empty()) {
      const std::size_t length = utf8_sequence(text);
      if (length == 0) text_ += "\\ufffd";
      else if (length > 1) text_ += text.substr(0, length);
      else character(text[0]);
      text.remove_prefix(length == 0 ? 1 : length);
    }
    text_ += '"';
    return *this;
  }
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  JsonText& value(std::same_as<bool> auto truth) {
    separate();
    text_ += truth ? "true" : "false";
    return *this;
  }
  template <class T>
    requires(std::integral<T> || std::floating_point<T>) && (!std::same_as<T, bool>)
  JsonText& value(T number) {
    if constexpr (std::floating_point<T>)
      if (!std::isfinite(number)) return null();
    separate();
    char digits[32];
    const char* const end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
    for (const char* digit = digits; digit != end; ++digit) text_ += *digit;
    return *this;
  }
  JsonText& null() {
    separate();
    text_ += "null";
    return *this;
  }
  JsonText& member(std::string_view name, const auto& content) { return key(name).value(content); }
  JsonText& line() {
    text_ += '\n';
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  JsonText& open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
    return *this;
  }
  JsonText& close(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
  }
  void character(char c) {
    constexpr std::string_view hexadecimal = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (code < 0x20 || code == 0x7f || c == '<') {
      text_ += "\\u00";
      text_ += hexadecimal[code >> 4];
      text_ += hexadecimal[code & 15];
    } else {
      text_ += c;
    }
  }

  std::string text_;
  bool first_ = true;  // no comma before the next value
};

}  // namespace tilewright::detail
