#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tilewright {

/// A string for constant expressions: names, messages and printed graphs are made of it. (GCC 12 rejects copies of std::string
/// members in constant expressions, and a std::vector of characters takes compilers several times as long.)
class Text {
 public:
  constexpr Text() = default;
  constexpr Text(const char* characters) : Text(std::string_view(characters)) {}
  constexpr Text(std::string_view characters) { append(characters); }
  constexpr Text(const Text& other) { append(other.view()); }
  constexpr Text(Text&& other) noexcept : characters_(other.characters_), size_(other.size_), capacity_(other.capacity_) {
    other.release();
  }
  constexpr ~Text() { delete[] characters_; }
  constexpr Text& operator=(const Text& other) {
    if (this == &other) return *this;
    size_ = 0;
    append(other.view());
    return *this;
  }
  constexpr Text& operator=(Text&& other) noexcept {
    if (this == &other) return *this;
    delete[] characters_;
    characters_ = other.characters_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.release();
    return *this;
  }

  constexpr std::string_view view() const { return {characters_, size_}; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  std::string string() const { return std::string(view()); }

  constexpr Text& operator+=(std::string_view other) {
    append(other);
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
    if (negative) digits[count++] = '-';
    std::reverse(digits, digits + count);
    return *this += std::string_view(digits, static_cast<std::size_t>(count));
  }

  friend constexpr bool operator==(const Text& a, const Text& b) { return a.view() == b.view(); }
  friend constexpr auto operator<=>(const Text& a, const Text& b) { return a.view() <=> b.view(); }
  friend std::ostream& operator<<(std::ostream& out, const Text& text) { return out << text.view(); }

 private:
  constexpr void release() {
    characters_ = nullptr;
    size_ = capacity_ = 0;
  }
  static constexpr void copy(const char* from, std::size_t count, char* to) {
    if (std::is_constant_evaluated())  // one step a character, where std::copy_n makes several calls
      for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
    else std::copy_n(from, count, to);
  }
  /// `added` may be a part of this text.
  constexpr void append(std::string_view added) {
    const std::size_t size = size_ + added.size();
    if (size == size_) return;
    char* grown = characters_;
    if (size > capacity_) {
      capacity_ = 2 * size;
      grown = new char[capacity_]{};
      copy(characters_, size_, grown);
    }
    copy(added.data(), added.size(), grown + size_);
    if (grown != characters_) delete[] characters_;
    characters_ = grown;
    size_ = size;
  }

  char* characters_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// A hash of a name (FNV-1a, 64 bits).
constexpr std::size_t hash_of(std::string_view name) {
  std::size_t value = 1469598103934665603u;
  for (char c : name) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return value;
}

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
