#pragma once
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tilewright/data/file_reader.hpp>
#include <vector>

#include "options.hpp"
#include "tokenizer.hpp"

namespace gpt2 {

using Tokens = std::vector<std::int32_t>;

/// Tokens as a person reads and writes them: as text, or without the files for that as numbers.
class TokenText {
 public:
  TokenText(const Gpt2Options& options, std::int32_t vocabulary) : vocabulary_(vocabulary) {
    if (options.vocabulary.empty()) {
      std::printf("Tokens are numbers: --vocab vocab.json --merges merges.txt make them text.\n");
      return;
    }
    tokenizer_.emplace(options.vocabulary, options.merges);
    if (tokenizer_->size() != vocabulary)
      throw std::runtime_error(options.vocabulary + ": " + std::to_string(tokenizer_->size()) + " tokens: the model's " +
                               std::to_string(vocabulary) + " expected");
  }
  Tokens read(const std::string& prompt) const {
    if (prompt.empty()) return {tokenizer_ ? tokenizer_->end_of_text() : vocabulary_ - 1};
    if (tokenizer_) return tokenizer_->encode(prompt);
    Tokens tokens;
    std::istringstream words(prompt);
    bool are_numbers = true;
    for (std::string word; words >> word;) {
      std::int32_t number = -1;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      are_numbers = are_numbers && error == std::errc() && end == word.data() + word.size() && number >= 0 &&
                    number < vocabulary_;
      tokens.push_back(number);
    }
    if (tokens.empty() || !are_numbers)
      throw std::runtime_error("--prompt " + prompt + ": numbers from 0 to " + std::to_string(vocabulary_ - 1) + " expected");
    return tokens;
  }
  std::string write(std::int32_t token) const {
    return tokenizer_ ? tokenizer_->decode(std::span(&token, 1)) : std::to_string(token) + " ";
  }
  /// The tokens of a text's file.
  Tokens load(const std::string& path) const {
    tilewright::data::FileReader file("load", path);
    const auto bytes = file.read(std::numeric_limits<std::uint64_t>::max());
    return tokenizer_->encode({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

 private:
  std::int32_t vocabulary_;
  std::optional<Tokenizer> tokenizer_{};
};

}  // namespace gpt2
