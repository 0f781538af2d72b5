#pragma once
#include <concepts>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// A string for constant expressions: names, messages and printed graphs are made of it.
/// (GCC 12 rejects copies of std::string members in constant expressions.)
class Text {
 public:
  constexpr Text() = default;
  constexpr Text(const char* characters) : Text(std::string_view(characters)) {}
  constexpr Text(std::string_view characters) : characters_(characters.begin(), characters.end()) {}

  constexpr std::string_view view() const { return {characters_.data(), characters_.size()}; }
  constexpr std::size_t size() const { return characters_.size(); }
  constexpr bool empty() const { return characters_.empty(); }
  std::string string() const { return std::string(view()); }

  constexpr Text& operator+=(std::string_view other) {
    characters_.insert(characters_.end(), other.begin(), other.end());
    return *this;
  }
  constexpr Text& operator+=(const char* other) { return *this += std::string_view(other); }
  constexpr Text& operator+=(const Text& other) { return *this += other.view(); }
  /// Appends the number in decimal.
  constexpr Text& operator+=(std::integral auto number) {
    char digits[24];
    int count = 0;
    const bool negative = number < 0;
    auto magnitude = static_cast<std::uint64_t>(number);
    if (negative) magnitude = 0 - magnitude;
    do digits[count++] = static_cast<char>('0' + magnitude % 10);
    while ((magnitude /= 10) != 0);
    if (negative) characters_.push_back('-');
    while (count > 0) characters_.push_back(digits[--count]);
    return *this;
  }

  friend constexpr bool operator==(const Text& a, const Text& b) { return a.view() == b.view(); }
  friend constexpr auto operator<=>(const Text& a, const Text& b) { return a.view() <=> b.view(); }
  friend std::ostream& operator<<(std::ostream& out, const Text& text) { return out << text.view(); }

 private:
  std::vector<char> characters_;
};

/// The pieces (strings and integers) written one after the other.
template <class... Pieces>
constexpr Text text(const Pieces&... pieces) {
  Text result;
  ((result += pieces), ...);
  return result;
}

/// The pieces with a separator between them: join({"a", "b"}, ", ") is "a, b".
constexpr Text join(const std::vector<Text>& pieces, std::string_view separator) {
  Text result;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) result += separator;
    result += pieces[i];
  }
  return result;
}

}  // namespace tilewright
