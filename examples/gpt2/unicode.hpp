#pragma once
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "unicode_ranges.hpp"

namespace gpt2 {

/// What GPT-2's tokenizer tells apart.
enum class CharacterKind { letter, number, space, other };

constexpr bool is_within(std::span<const CodePoints> ranges, char32_t character) {
  const auto after = std::ranges::upper_bound(ranges, character, {}, &CodePoints::first);
  return after != ranges.begin() && character <= std::prev(after)->last;
}

/// By Unicode's general category, and for spaces by its property White_Space.
constexpr CharacterKind kind_of(char32_t character) {
  constexpr CodePoints spaces[] = {{0x9, 0xd},       {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
                                   {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};
  if (is_within(letter_ranges, character)) return CharacterKind::letter;
  if (is_within(number_ranges, character)) return CharacterKind::number;
  return is_within(spaces, character) ? CharacterKind::space : CharacterKind::other;
}

/// A character of a text in UTF-8, and its bytes.
struct Utf8Character {
  char32_t value = 0;
  std::size_t size = 1;
};

/// The first character of a text that is not empty. A byte that begins no character is U+FFFD, the replacement character.
constexpr Utf8Character first_character(std::string_view text) {
  constexpr Utf8Character broken{0xfffd, 1};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc0 || lead >= 0xf8 || text.size() < size) return broken;
  char32_t value = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return broken;
    value = value << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t least[] = {0x80, 0x800, 0x10000};  // of 2, 3 and 4 bytes: smaller ones have a shorter form
  const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
  return value < least[size - 2] || value > 0x10ffff || is_surrogate ? broken : Utf8Character{value, size};
}

/// Below 0x800, which is all that GPT-2's files need.
inline std::string short_utf8(char32_t character) {
  if (character < 0x80) return {static_cast<char>(character)};
  return {static_cast<char>(0xc0 | character >> 6), static_cast<char>(0x80 | (character & 0x3f))};
}

}  // namespace gpt2
