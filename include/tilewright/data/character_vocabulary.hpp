#pragma once
#include "tilewright/core/requirements.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/data/data_error.hpp"

namespace tilewright::data {

/// The distinct bytes of a text in ascending order. The token of a byte is its position among them, from 0. A character of
/// several bytes in UTF-8 is several tokens.
///
///     const tw::data::CharacterVocabulary vocabulary("hello");     // e h l o
///     const auto tokens = vocabulary.encode("hole");               // 1 3 2 0
///     const std::string text = vocabulary.decode(tokens);
///     metadata.set("vocabulary", vocabulary.hex());                // and from_hex of what a checkpoint gives back
class CharacterVocabulary {
 public:
  /// Collects the bytes of a text. Throws DataError for an empty text.
  explicit CharacterVocabulary(std::string_view text) {
    std::array<bool, 256> is_in_text{};
    for (const char character : text) is_in_text[static_cast<unsigned char>(character)] = true;
    tokens_.fill(-1);
    for (std::size_t byte = 0; byte < 256; ++byte)
      if (is_in_text[byte]) {
        tokens_[byte] = size();
        characters_ += static_cast<char>(byte);
      }
    if (characters_.empty()) throw DataError("CharacterVocabulary", "an empty text", "at least one character");
  }
  /// Restores a vocabulary from its hex(). Throws DataError for any other text.
  static CharacterVocabulary from_hex(std::string_view digits) {
    constexpr std::string_view all = "0123456789abcdef";
    std::string characters;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      const std::string_view pair = digits.substr(i, 2);
      const std::size_t high = all.find(pair.front()), low = all.find(pair.back());
      if (pair.size() != 2 || high == all.npos || low == all.npos)
        fail_hex("'" + std::string(pair) + "'", i, "two digits of 0 to 9 and a to f");
      const auto byte = static_cast<unsigned char>(16 * high + low);
      if (!characters.empty() && byte <= static_cast<unsigned char>(characters.back()))
        fail_hex("byte 0x" + std::string(pair) + " after 0x" + std::string(digits.substr(i - 2, 2)), i,
                 "bytes in ascending order");
      characters += static_cast<char>(byte);
    }
    if (characters.empty()) throw DataError("CharacterVocabulary::from_hex", "an empty text", "at least two digits");
    return CharacterVocabulary(characters);
  }

  std::int32_t size() const { return static_cast<std::int32_t>(characters_.size()); }
  /// Returns all characters, in the order of their tokens.
  const std::string& characters() const { return characters_; }
  bool contains(char character) const { return tokens_[static_cast<unsigned char>(character)] >= 0; }

  /// Returns the tokens of a text, one for each byte. Throws DataError for a byte that is not in the vocabulary, with its offset
  /// and line, and if memory runs out. `path`: the text's file, for the error.
  std::vector<std::int32_t> encode(std::string_view text, const std::filesystem::path& path = {}) const {
    std::vector<std::int32_t> result;
    detail::with_memory("CharacterVocabulary::encode", detail::Amount{"tokens of ", text.size(), " bytes"},
                        text.size() * sizeof(std::int32_t), [&] { result.reserve(text.size()); });
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!contains(text[i])) fail_encode(text, i, path);
      result.push_back(tokens_[static_cast<unsigned char>(text[i])]);
    }
    return result;
  }
  /// Returns the byte of a token. Throws DataError for a token outside of the vocabulary.
  char decode(std::int32_t token) const {
    if (token < 0 || token >= size())
      throw DataError("CharacterVocabulary::decode", "token " + std::to_string(token), "0 to " + std::to_string(size() - 1));
    return characters_[static_cast<std::size_t>(token)];
  }
  std::string decode(std::span<const std::int32_t> tokens) const {
    std::string result;
    result.reserve(tokens.size());
    for (const std::int32_t token : tokens) result += decode(token);
    return result;
  }

  /// Returns the characters as two hexadecimal digits each, which fit into any text file.
  std::string hex() const {
    std::string result;
    for (const char character : characters_) result += hex_of(character);
    return result;
  }

  bool operator==(const CharacterVocabulary& other) const { return characters_ == other.characters_; }

 private:
  static std::string hex_of(char character) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(character);
    return {digits[byte >> 4], digits[byte & 15]};
  }
  /// Returns a character for errors: 'a' or byte 0x0a.
  static std::string name_of(char character) {
    if (character > ' ' && character <= '~') return {'\'', character, '\''};
    return "byte 0x" + hex_of(character);
  }
  [[noreturn]] static void fail_hex(const std::string& found, std::size_t digit, const std::string& expected) {
    throw DataError("CharacterVocabulary::from_hex", found + " at digit " + std::to_string(digit), expected);
  }
  [[noreturn]] void fail_encode(std::string_view text, std::size_t offset, const std::filesystem::path& path) const {
    std::size_t line = 1;
    for (const char before : text.substr(0, offset)) line += before == '\n';
    const std::string found = name_of(text[offset]) + " at byte " + std::to_string(offset) + ", line " + std::to_string(line);
    const std::string expected = "one of the vocabulary's " + std::to_string(size()) + " characters";
    if (path.empty()) throw DataError("CharacterVocabulary::encode", found, expected);
    throw DataError("CharacterVocabulary::encode", path, found, expected);
  }

  std::string characters_{};
  std::array<std::int32_t, 256> tokens_{};  // of a byte; -1: not in the vocabulary
};

}  // namespace tilewright::data
