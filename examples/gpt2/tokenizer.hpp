#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <tilewright/checkpoint/parse_json.hpp>
#include <tilewright/data/data_error.hpp>
#include <tilewright/data/file_reader.hpp>
#include <unordered_map>
#include <vector>

#include "pieces.hpp"

namespace gpt2 {

/// What encode() makes of <|endoftext|> in a text.
enum class SpecialTokens {
  as_text,    ///< characters like all others: for texts of strangers
  recognised  ///< the token that ends a text
};

/// GPT-2's tokenizer: byte pair encoding of the bytes of a text in UTF-8 (A. Radford et al., "Language models are unsupervised
/// multitask learners", 2019). Any bytes can be encoded, and decode() gives them back.
///
///     const gpt2::Tokenizer tokenizer("vocab.json", "merges.txt");
///     const auto tokens = tokenizer.encode("Hello world");  // 15496 995, with GPT-2's own files
///     const std::string text = tokenizer.decode(tokens);
class Tokenizer {
 public:
  static constexpr std::string_view end_of_text_name = "<|endoftext|>";

  /// Reads GPT-2's two files, plain or gzip-compressed. `vocabulary`: a JSON object of tokens and their numbers, from 0 without
  /// gaps; there is a token of each byte, and <|endoftext|>. `merges`: two tokens a line that become one; the first line may be a
  /// version, "#version: 0.2". Throws DataError for files that are missing, or not like this.
  Tokenizer(const std::filesystem::path& vocabulary, const std::filesystem::path& merges) {
    read_vocabulary(vocabulary);
    read_merges(merges);
  }

  std::int32_t size() const { return static_cast<std::int32_t>(texts_.size()); }
  /// The number of <|endoftext|>.
  std::int32_t end_of_text() const { return end_of_text_; }

  std::vector<std::int32_t> encode(std::string_view text, SpecialTokens special = SpecialTokens::as_text) const {
    std::vector<std::int32_t> tokens;
    while (special == SpecialTokens::recognised) {
      const std::size_t found = text.find(end_of_text_name);
      if (found == text.npos) break;
      append(text.substr(0, found), tokens);
      tokens.push_back(end_of_text_);
      text.remove_prefix(found + end_of_text_name.size());
    }
    append(text, tokens);
    return tokens;
  }
  /// Tokens may end within a character: then so does the text. Throws DataError for a number that is no token's.
  std::string decode(std::span<const std::int32_t> tokens) const {
    std::string text;
    for (const std::int32_t token : tokens) {
      if (token < 0 || token >= size())
        throw tilewright::data::DataError("Tokenizer::decode", "token " + std::to_string(token),
                                          "0 to " + std::to_string(size() - 1));
      text += texts_[static_cast<std::size_t>(token)];
    }
    return text;
  }

 private:
  struct Merge {
    std::int32_t rank = 0;  // the lower, the earlier
    std::int32_t token = 0;
  };

  /// The character that stands for a byte in GPT-2's files: its own if it is printable in Latin-1, or else one from 256 on.
  static constexpr std::array<char32_t, 256> file_characters() {
    std::array<char32_t, 256> result{};
    char32_t next = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool is_printable = (byte > ' ' && byte <= '~') || (byte > 0xa0 && byte != 0xad);
      result[byte] = is_printable ? byte : next++;
    }
    return result;
  }
  /// The bytes of a token in a file, if it has no characters but those.
  static std::optional<std::string> bytes_of(std::string_view token) {
    constexpr auto characters = file_characters();
    std::string result;
    while (!token.empty()) {
      const Utf8Character character = first_character(token);
      const auto found = std::ranges::find(characters, character.value);
      if (found == characters.end()) return std::nullopt;
      result += static_cast<char>(found - characters.begin());
      token.remove_prefix(character.size);
    }
    return result;
  }
  static std::string content_of(tilewright::data::FileReader& file) {
    const auto bytes = file.read(std::numeric_limits<std::uint64_t>::max());
    return {bytes.begin(), bytes.end()};
  }

  void read_vocabulary(const std::filesystem::path& path) {
    tilewright::data::FileReader file("Tokenizer", path);
    const auto json = tilewright::detail::parse_json(content_of(file));
    if (!json.is_object()) file.fail("no JSON object", "one of tokens and their numbers");
    texts_.resize(json.size());
    std::vector<bool> is_known(json.size());
    for (const auto& [name, number] : json.items()) {
      const bool is_number = number.is_number_unsigned() && number.get<std::uint64_t>() < json.size();
      if (!is_number || is_known[number.get<std::size_t>()])
        file.fail(
            "number " + (number.is_structured() ? std::string(number.type_name()) : number.dump()) + " of token '" + name + "'",
            "one from 0 to " + std::to_string(json.size() - 1) + " that no other token has");
      const auto bytes = bytes_of(name);
      if (!bytes || bytes->empty()) file.fail("token '" + name + "'", "characters that stand for bytes");
      is_known[number.get<std::size_t>()] = true;
      texts_[number.get<std::size_t>()] = *bytes;
      numbers_.emplace(*bytes, number.get<std::int32_t>());
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto found = numbers_.find(std::string(1, static_cast<char>(byte)));
      if (found == numbers_.end())
        file.fail("no token '" + short_utf8(file_characters()[byte]) + "', which stands for byte " + std::to_string(byte),
                  "a token of each byte");
      token_of_byte_[byte] = found->second;
    }
    const auto end = numbers_.find(std::string(end_of_text_name));
    if (end == numbers_.end()) file.fail("no token '" + std::string(end_of_text_name) + "'", "one that ends a text");
    end_of_text_ = end->second;
  }

  void read_merges(const std::filesystem::path& path) {
    tilewright::data::FileReader file("Tokenizer", path);
    const std::string content = content_of(file);
    std::string_view rest = content;
    for (std::size_t number = 1; !rest.empty(); ++number) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
      const auto fail = [&](const std::string& expected) {
        file.fail("line " + std::to_string(number) + ", '" + std::string(line) + "'", expected);
      };
      const std::size_t space = line.find(' ');
      if (space == line.npos || line.find(' ', space + 1) != line.npos) fail("two tokens and a space between them");
      const auto left = number_of(line.substr(0, space)), right = number_of(line.substr(space + 1));
      if (!left || !right) fail("two tokens of the vocabulary");
      const auto both = numbers_.find(texts_[static_cast<std::size_t>(*left)] + texts_[static_cast<std::size_t>(*right)]);
      if (both == numbers_.end()) fail("two tokens that make one of the vocabulary");
      const Merge merge{static_cast<std::int32_t>(merges_.size()), both->second};
      if (!merges_.emplace(pair_of(*left, *right), merge).second) fail("a merge that no line before has");
    }
  }
  std::optional<std::int32_t> number_of(std::string_view token) const {
    const auto bytes = bytes_of(token);
    const auto found = bytes ? numbers_.find(*bytes) : numbers_.end();
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  static std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right);
  }
  const Merge* merge_of(std::int32_t left, std::int32_t right) const {
    const auto found = merges_.find(pair_of(left, right));
    return found == merges_.end() ? nullptr : &found->second;
  }

  void append(std::string_view text, std::vector<std::int32_t>& tokens) const {
    while (!text.empty()) {
      const std::size_t size = first_piece(text);
      append_piece(text.substr(0, size), tokens);
      text.remove_prefix(size);
    }
  }
  /// The bytes of a piece, of which pairs become one token as long as there is a merge: all pairs of the lowest rank, from left
  /// to right, then those of the next. Pairs wait in a queue, so that a long piece takes n log(n) steps.
  void append_piece(std::string_view piece, std::vector<std::int32_t>& tokens) const {
    constexpr std::int32_t none = -1;
    if (piece.size() >= std::uint64_t{1} << 32)
      throw tilewright::data::DataError("Tokenizer::encode", "a piece of " + std::to_string(piece.size()) + " bytes",
                                        "fewer than 2^32");
    const auto size = static_cast<std::uint32_t>(piece.size());
    std::vector<std::int32_t> parts(size);  // the token that begins at a byte, or none
    std::vector<std::uint32_t> next(size), previous(size), changed(size);
    for (std::uint32_t i = 0; i < size; ++i) {
      parts[i] = token_of_byte_[static_cast<unsigned char>(piece[i])];
      next[i] = i + 1, previous[i] = i - 1, changed[i] = i;
    }
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> queue;  // rank and place, in 32 bits each
    const auto merge_at = [&](std::uint32_t i) {
      return parts[i] != none && next[i] < size ? merge_of(parts[i], parts[next[i]]) : nullptr;
    };
    for (;;) {
      for (const std::uint32_t i : changed)
        if (const Merge* merge = merge_at(i)) queue.push(static_cast<std::uint64_t>(merge->rank) << 32 | i);
      changed.clear();
      if (queue.empty()) break;
      for (const std::uint64_t rank = queue.top() >> 32; !queue.empty() && queue.top() >> 32 == rank; queue.pop()) {
        const auto i = static_cast<std::uint32_t>(queue.top());
        const Merge* merge = merge_at(i);
        if (!merge || static_cast<std::uint64_t>(merge->rank) != rank) continue;  // it was a part of another pair
        const std::uint32_t right = next[i];
        parts[i] = merge->token;
        parts[right] = none;
        next[i] = next[right];
        if (next[i] < size) previous[next[i]] = i;
        changed.push_back(i);
        if (i > 0) changed.push_back(previous[i]);
      }
    }
    for (const std::int32_t part : parts)
      if (part != none) tokens.push_back(part);
  }

  std::vector<std::string> texts_{};  // of the tokens, as bytes
  std::unordered_map<std::string, std::int32_t> numbers_{};
  std::unordered_map<std::uint64_t, Merge> merges_{};
  std::array<std::int32_t, 256> token_of_byte_{};
  std::int32_t end_of_text_ = 0;
};

}  // namespace gpt2
