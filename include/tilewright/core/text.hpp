#pragma once
#include "tilewright/core/requirements.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "tilewright/core/id.hpp"
#include "tilewright/core/list.hpp"

namespace tilewright {

/// Returns whether two texts are equal. Takes one step per character in constant expressions, where std::string_view makes
/// several calls.
constexpr bool same_characters(std::string_view a, std::string_view b) {
  if (!std::is_constant_evaluated()) return a == b;
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  const char *left = a.data(), *right = b.data();
  for (std::size_t i = 0; i < size; ++i)
    if (left[i] != right[i]) return false;
  return true;
}

/// A string for constant expressions, in names, messages and printed graphs. (GCC 12 rejects copies of std::string members in
/// constant expressions, and a List of characters takes compilers several times as long.)
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
  /// Converts to std::string_view, so that a function that takes a name accepts a Text.
  constexpr operator std::string_view() const { return view(); }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr bool starts_with(std::string_view beginning) const { return view().starts_with(beginning); }
  constexpr bool ends_with(std::string_view end) const { return view().ends_with(end); }
  std::string string() const { return std::string(view()); }

  constexpr Text& operator+=(std::string_view other) {
    append(other);
    return *this;
  }
  constexpr Text& operator+=(const std::same_as<const char*> auto& other) { return *this += std::string_view(other); }
  template <std::size_t size>
  constexpr Text& operator+=(const char (&literal)[size]) {  // its length needs no counting
    return *this += std::string_view(literal, size - 1);
  }
  constexpr Text& operator+=(const Text& other) { return *this += other.view(); }
  /// Appends the number in decimal.
  constexpr Text& operator+=(std::integral auto number) {
    constexpr std::size_t most = 20;  // digits of the largest std::uint64_t. GCC warns of a loop without that limit
    char characters[most + 1];
    std::size_t begin = sizeof characters;
    const bool negative = number < 0;
    auto magnitude = static_cast<std::uint64_t>(number);
    if (negative) magnitude = 0 - magnitude;
    for (std::size_t digit = 0; digit < most && (digit == 0 || magnitude != 0); ++digit, magnitude /= 10)
      characters[--begin] = static_cast<char>('0' + magnitude % 10);
    if (negative) characters[--begin] = '-';
    return *this += std::string_view(characters + begin, sizeof characters - begin);
  }

  constexpr Text& operator+=(Id auto id) { return *this += static_cast<int>(id); }

  /// Makes room for `capacity` characters in all.
  constexpr void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    const std::uint32_t checked = checked_size(capacity);
    char* target = new char[checked];
    copy(characters_, size_, target);
    delete[] characters_;
    characters_ = target;
    capacity_ = checked;
  }

  friend constexpr bool operator==(const Text& a, const Text& b) { return same_characters(a.view(), b.view()); }
  friend constexpr bool operator==(const Text& a, std::string_view b) { return same_characters(a.view(), b); }
  friend constexpr bool operator==(const Text& a, const char* b) { return same_characters(a.view(), b); }
  friend constexpr auto operator<=>(const Text& a, const Text& b) { return a.view() <=> b.view(); }
  friend constexpr auto operator<=>(const Text& a, std::string_view b) { return a.view() <=> b; }
  friend constexpr auto operator<=>(const Text& a, const char* b) { return a.view() <=> std::string_view(b); }
  friend std::ostream& operator<<(std::ostream& out, const Text& text) { return out << text.view(); }

 private:
  constexpr void release() {
    characters_ = nullptr;
    size_ = capacity_ = 0;
  }
  static constexpr std::uint32_t checked_size(std::size_t size) {
    if (size > UINT32_MAX) TW_THROW std::length_error("Text: more than 4 GB");
    return static_cast<std::uint32_t>(size);
  }
  static constexpr void copy(const char* from, std::size_t count, char* to) {
    if (std::is_constant_evaluated())  // one step a character, where std::copy_n makes several calls
      for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
    else if (static_cast<std::ptrdiff_t>(count) > 0)  // GCC 12.4 to 16 warn of a count that they take for negative
      std::memcpy(to, from, count);
  }
  /// Appends a text, which may be a part of this one. (Inlined, GCC 14 to 16 warn of bounds that no number's digits reach.)
  [[gnu::noinline]] constexpr void append(std::string_view added) {
    const std::size_t size = size_ + added.size();
    if (size == size_) return;
    char* target = characters_;
    if (size > capacity_) {
      capacity_ = checked_size(size_ == 0 ? size : 2 * size);
      target = new char[capacity_];
      copy(characters_, size_, target);
    }
    copy(added.data(), added.size(), target + size_);
    if (target != characters_) delete[] characters_;
    characters_ = target;
    size_ = static_cast<std::uint32_t>(size);
  }

  char* characters_ = nullptr;
  std::uint32_t size_ = 0;  // 32 bits: of larger numbers GCC says that they may be too many to allocate
  std::uint32_t capacity_ = 0;
};

/// Returns a hash of a name: FNV-1a of 64 bits, or its last 32 on a machine of 32 bits.
constexpr std::size_t hash_of(std::string_view name) {
  std::uint64_t value = 1469598103934665603u;
  const char* const characters = name.data();
  for (std::size_t i = 0, size = name.size(); i < size; ++i)
    value = (value ^ static_cast<unsigned char>(characters[i])) * 1099511628211u;
  return static_cast<std::size_t>(value);
}

/// A piece of a text: a string, which it refers to, an integer or an id. (One type, so that compilers instantiate no function for
/// each row of types.)
class TextPiece {
 public:
  constexpr TextPiece(const char* characters) : TextPiece(std::string_view(characters)) {}
  constexpr TextPiece(std::string_view characters) : characters_(characters.data()), size_(characters.size()) {}
  constexpr TextPiece(const Text& text) : TextPiece(text.view()) {}
  TextPiece(const std::string& characters) : TextPiece(std::string_view(characters)) {}
  constexpr TextPiece(std::integral auto number)
      : size_(20), number_(static_cast<std::uint64_t>(number)), is_number_(true), is_negative_(number < 0) {}
  constexpr TextPiece(Id auto id) : TextPiece(static_cast<int>(id)) {}

  /// Returns how many characters the piece has, or more.
  constexpr std::size_t room() const { return size_; }
  constexpr void append_to(Text& text) const {
    if (!is_number_) text += std::string_view(characters_, size_);
    else if (is_negative_) text += static_cast<std::int64_t>(number_);
    else text += number_;
  }

 private:
  const char* characters_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t number_ = 0;
  bool is_number_ = false, is_negative_ = false;
};

/// Concatenates pieces: strings, integers and ids.
constexpr Text text(const TextPiece& a = "") {
  Text result;
  result.reserve(a.room());
  a.append_to(result);
  return result;
}
constexpr Text text(const TextPiece& a, const TextPiece& b) {
  Text result;
  result.reserve(a.room() + b.room());
  a.append_to(result);
  b.append_to(result);
  return result;
}
constexpr Text text(const TextPiece& a, const TextPiece& b, const TextPiece& c) {
  Text result;
  result.reserve(a.room() + b.room() + c.room());
  a.append_to(result);
  b.append_to(result);
  c.append_to(result);
  return result;
}
constexpr Text text(const TextPiece& a, const TextPiece& b, const TextPiece& c, const TextPiece& d, const TextPiece& e = "",
                    const TextPiece& f = "", const TextPiece& g = "", const TextPiece& h = "", const TextPiece& i = "",
                    const TextPiece& j = "", const TextPiece& k = "", const TextPiece& l = "", const TextPiece& m = "") {
  Text result;
  std::size_t room = 0;
  for (const TextPiece* piece : {&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, &m}) room += piece->room();
  result.reserve(room);
  for (const TextPiece* piece : {&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, &m}) piece->append_to(result);
  return result;
}

template <class... Rest>
  requires(sizeof...(Rest) > 0)
constexpr Text text(const TextPiece& a, const TextPiece& b, const TextPiece& c, const TextPiece& d, const TextPiece& e,
                    const TextPiece& f, const TextPiece& g, const TextPiece& h, const TextPiece& i, const TextPiece& j,
                    const TextPiece& k, const TextPiece& l, const TextPiece& m, const Rest&... rest) {
  return text(text(a, b, c, d, e, f, g, h, i, j, k, l, m), text(rest...));
}

/// Joins pieces with a separator: join({"a", "b"}, ", ") is "a, b".
constexpr Text join(const List<Text>& pieces, std::string_view separator) {
  Text result;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) result += separator;
    result += pieces[i];
  }
  return result;
}

}  // namespace tilewright
