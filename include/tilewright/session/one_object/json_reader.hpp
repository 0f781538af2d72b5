#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilewright::detail {

using namespace std::string_view_literals;  // other texts ask for strlen

/// Returns where a character is in a text; its size: nowhere. std::string_view's `find` asks for memchr.
constexpr std::size_t place_of(char c, std::string_view text) {
  std::size_t place = 0;
  while (place < text.size() && text[place] != c) ++place;
  return place;
}

/// Reads JSON of texts, non-negative integers, arrays and objects, in the order of the text, without memory of its own. After the
/// first wrong character nothing more is read.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : left_(text) {}
  void fail() { is_right_ = false; }
  bool is_right() const { return is_right_; }
  /// Returns whether all is read, and right.
  bool is_at_end() {
    skip_spaces();
    return is_right_ && left_.empty();
  }

  /// Reads a text, and returns it as it is written, with its escapes.
  std::string_view read_text() {
    expect('"');
    const std::string_view all = left_;
    while (is_right_ && !left_.empty() && left_[0] != '"') {
      if (static_cast<unsigned char>(left_[0]) < ' ') fail();
      left_.remove_prefix(left_[0] == '\\' ? escape_size() : 1);
    }
    const std::string_view text(all.data(), all.size() - left_.size());
    expect('"');
    return text;
  }
  /// Reads a number below 2^64.
  std::uint64_t read_number() {
    skip_spaces();
    std::uint64_t number = 0;
    std::size_t digits = 0;
    for (; digits < left_.size() && left_[digits] >= '0' && left_[digits] <= '9'; ++digits) {
      const auto digit = static_cast<std::uint64_t>(left_[digits] - '0');
      if (number > (UINT64_MAX - digit) / 10) fail();
      number = 10 * number + digit;
    }
    if (digits == 0 || (digits > 1 && left_[0] == '0')) fail();
    left_.remove_prefix(digits);
    return number;
  }
  /// Calls read() for each item, which must read it.
  template <class Read>
  void read_array(const Read& read) {
    expect('[');
    if (take(']')) return;
    do read();
    while (take(','));
    expect(']');
  }
  /// Calls read(key) for each member, which must read its value.
  template <class Read>
  void read_object(const Read& read) {
    expect('{');
    if (take('}')) return;
    do {
      const std::string_view key = read_text();
      expect(':');
      if (is_right_) read(key);
    } while (take(','));
    expect('}');
  }

 private:
  void skip_spaces() {
    while (!left_.empty() && (left_[0] == ' ' || left_[0] == '\t' || left_[0] == '\n' || left_[0] == '\r'))
      left_.remove_prefix(1);
  }
  bool take(char c) {
    skip_spaces();
    if (!is_right_ || left_.empty() || left_[0] != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  std::size_t escape_size() {
    if (left_.size() >= 2 && place_of(left_[1], "\"\\/bfnrt"sv) < 8) return 2;
    bool is_unicode = left_.size() >= 6 && left_[1] == 'u';
    for (std::size_t i = 2; is_unicode && i < 6; ++i) is_unicode = place_of(left_[i], "0123456789abcdefABCDEF"sv) < 22;
    if (!is_unicode) fail();
    return is_unicode ? 6 : 1;
  }

  std::string_view left_;
  bool is_right_ = true;
};

/// Reads a character of a text that read_text returned, and writes it in UTF-8. Returns its number of bytes, at most 4.
inline std::size_t take_character(std::string_view& text, char* bytes) {
  const auto unit = [&] {  // of UTF-16, from \uXXXX
    std::uint32_t value = 0;
    for (const char c : std::string_view(text.data() + 2, 4))
      value = 16 * value + static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    text.remove_prefix(6);
    return value;
  };
  if (text[0] != '\\' || text[1] != 'u') {
    const std::size_t place = text[0] == '\\' ? 1 : 0, special = place == 1 ? place_of(text[1], "bfnrt"sv) : 5;
    bytes[0] = special == 5 ? text[place] : "\b\f\n\r\t"[special];
    text.remove_prefix(place + 1);
    return 1;
  }
  std::uint32_t code = unit();
  if (code >> 10 == 0xd800 >> 10 && text.size() >= 6 && text[0] == '\\' && text[1] == 'u')
    code = 0x10000 + ((code & 0x3ff) << 10) + (unit() & 0x3ff);
  if (code < 0x80) return bytes[0] = static_cast<char>(code), 1;
  const std::size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  for (std::size_t i = more; i > 0; --i, code >>= 6) bytes[i] = static_cast<char>(0x80 | (code & 0x3f));
  bytes[0] = static_cast<char>((0xff00 >> (more + 1) & 0xff) | code);
  return more + 1;
}
/// Returns whether a text that read_text returned stands for a name in UTF-8. Comparisons of std::string_view ask for bcmp.
inline bool stands_for(std::string_view text, std::string_view name) {
  char bytes[4];
  while (!text.empty()) {
    const std::size_t count = take_character(text, bytes);
    if (count > name.size()) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (bytes[i] != name[i]) return false;
    name.remove_prefix(count);
  }
  return name.empty();
}

}  // namespace tilewright::detail
