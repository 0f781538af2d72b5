#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/data/character_vocabulary.hpp"
#include "tilewright/data/data_error.hpp"
#include "tilewright/data/file_reader.hpp"

namespace tilewright::data {

/// A text as tokens: the first part for training, the rest for validation.
struct TextCorpus {
  CharacterVocabulary vocabulary;
  std::vector<std::int32_t> training, validation;
};

struct TextCorpusOptions {
  double training = 0.9;  ///< share of the text for training: above 0, at most 1
  std::uint64_t limit = 0;  ///< bytes of the text to use, from its start; 0: all
  /// Vocabulary of an existing model; nothing: the distinct characters of the text.
  std::optional<CharacterVocabulary> vocabulary = std::nullopt;
};

namespace detail {
inline TextCorpus split_text(std::string_view text, const TextCorpusOptions& options, const std::filesystem::path& path) {
  if (!(options.training > 0 && options.training <= 1))
    throw DataError("split_text", "a part of " + std::to_string(options.training) + " to train with", "above 0, at most 1,");
  if (options.limit > 0) text = text.substr(0, options.limit);
  const auto cut = static_cast<std::size_t>(options.training * static_cast<double>(text.size()));
  const CharacterVocabulary vocabulary = options.vocabulary ? *options.vocabulary : CharacterVocabulary(text);
  if (cut == 0)
    throw DataError(
        "split_text",
        "a part of " + std::to_string(options.training) + " of " + std::to_string(text.size()) + " bytes to train with",
        "at least 1 byte");
  return with_memory(
      "split_text", [&] { return "tokens of " + std::to_string(text.size()) + " bytes"; }, text.size() * sizeof(std::int32_t),
      [&] {
        TextCorpus result{vocabulary, vocabulary.encode(text, path), {}};
        const auto middle = result.training.begin() + static_cast<std::ptrdiff_t>(cut);
        result.validation.assign(middle, result.training.end());
        result.training.erase(middle, result.training.end());
        return result;
      });
}
}  // namespace detail

/// Encodes a text by its characters and splits it. The vocabulary has the characters of both parts. Throws DataError for an empty
/// text, a share that leaves nothing for training, and a character that is not in the given vocabulary, and if memory runs out.
[[nodiscard]] inline TextCorpus split_text(std::string_view text, const TextCorpusOptions& options = {}) {
  return detail::split_text(text, options, {});
}

/// Encodes the text of a file, plain or gzip-compressed, by its characters, and splits it. Throws DataError in the cases of
/// split_text, and for a file that is missing or unreadable.
///
///     const tw::data::TextCorpus corpus = tw::data::load_text(path);
[[nodiscard]] inline TextCorpus load_text(const std::filesystem::path& path, const TextCorpusOptions& options = {}) {
  FileReader file("load_text", path);
  const auto bytes = file.read(options.limit > 0 ? options.limit : (std::numeric_limits<std::uint64_t>::max)());
  if (bytes.empty()) file.fail("an empty file", "a text");
  return detail::split_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, options, path);
}

}  // namespace tilewright::data
