#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tilewright/core/text.hpp"

namespace tilewright {

/// Returns a.b for a tree's name and a key; the key alone at the root.
constexpr Text dotted(std::string_view prefix, std::string_view key) {
  if (prefix.empty()) return key;  // no conditional operator: GCC 12 destroys its temporaries twice in constant expressions
  return text(prefix, ".", key);
}

/// Returns a key for any text: all characters but letters, digits and `_` become `_`, and a digit at the beginning gets a `_`
/// before it. `"layer-1"` becomes `layer_1`, and `"2nd"` becomes `_2nd`.
constexpr Text sanitise(std::string_view name) {
  Text result;
  if (!name.empty() && name.front() >= '0' && name.front() <= '9') result += "_";
  for (const char& c : name) {
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    result += is_word ? std::string_view(&c, 1) : std::string_view("_");
  }
  return result;
}

namespace detail {
/// Splits the first key off a dotted name; sets `more` to whether there are more.
constexpr std::string_view take_key(std::string_view& name, bool& more) {
  const char* const characters = name.data();
  const std::size_t size = name.size();
  std::size_t length = 0;
  while (length < size && characters[length] != '.') ++length;
  more = length < size;
  if (more) name = {characters + length + 1, size - length - 1};
  return {characters, length};
}
/// Returns whether all keys of a dotted name are identifiers or numbers.
constexpr bool is_name(std::string_view name) {
  const char* const characters = name.data();
  const std::size_t size = name.size();
  bool first = true, number = false;
  for (std::size_t i = 0; i < size; ++i) {
    const char c = characters[i];
    if (c == '.') {
      if (first) return false;
      first = true;
      continue;
    }
    const bool digit = c >= '0' && c <= '9';
    if (first) number = digit;
    first = false;
    if (digit) continue;
    if (number || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')) return false;
  }
  return !first;
}
/// Returns the number that a key is; -1 for an identifier, and for a number of more than 18 digits.
constexpr std::int64_t number_of(std::string_view key) {
  if (key.size() > 18) return -1;
  std::int64_t result = 0;
  for (const char c : key) {
    if (c < '0' || c > '9') return -1;
    result = 10 * result + (c - '0');
  }
  return result;
}
}  // namespace detail

}  // namespace tilewright
