#pragma once
#include <cstddef>
#include <string_view>

#include "unicode.hpp"

namespace gpt2 {

/// Bytes from `begin` on whose characters are of one kind.
constexpr std::size_t run_length(std::string_view text, std::size_t begin, CharacterKind kind) {
  std::size_t end = begin;
  while (end < text.size()) {
    const Utf8Character character = first_character(text.substr(end));
    if (kind_of(character.value) != kind) break;
    end += character.size;
  }
  return end - begin;
}

/// Bytes of the first piece of a text that is not empty. Pieces are what GPT-2 merges bytes within:
///
///     's 't 're 've 'm 'll 'd            the end of a contraction, in small letters
///     a space if there is one, and then letters, or numbers, or other characters but spaces, as many as follow
///     spaces, of which the last is left to what comes after them, unless it is the only one or the text ends
///
/// The last rule is that of `\s+(?!\S)|\s+` in the regular expression of GPT-2's authors.
constexpr std::size_t first_piece(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();

  const std::size_t space = text.front() == ' ' && text.size() > 1 ? 1 : 0;
  const CharacterKind kind = kind_of(first_character(text.substr(space)).value);
  if (kind != CharacterKind::space) return space + run_length(text, space, kind);

  const std::size_t end = run_length(text, 0, CharacterKind::space);
  if (end == text.size()) return end;
  std::size_t last = 0;  // where the last of them begins
  for (std::size_t next = 0; next < end; next += first_character(text.substr(next)).size) last = next;
  return last == 0 ? end : last;
}

}  // namespace gpt2
