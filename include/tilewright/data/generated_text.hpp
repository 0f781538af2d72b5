#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "tilewright/data/data_error.hpp"
#include "tilewright/data/grammar.hpp"

namespace tilewright::data {

/// Writes `bytes` bytes of English-like sentences, for use without a text file; the last sentence may be cut off. Equal seeds
/// give equal texts, and a longer text begins with the shorter one. Characters are letters, the space, the comma, the full stop
/// and the line feed. A model that reads the text can learn words; the verb's form that agrees with a subject, also across a
/// relative clause; the pronoun that agrees; "a" or "an". In the rules, | separates choices, and ? follows optional parts:
///
///     paragraph       = sentence (2 to 5 of them), line feed
///     sentence        = (opening ",")? (subject saying "that")? clause (joiner clause)? "."
///     clause          = subject predicate
///     subject         = name | determiner adjective? noun relative-clause?
///     relative-clause = "that" predicate | "that" subject transitive
///     predicate       = intransitive adverb? | transitive subject | transitive reflexive | "is" adjective
///                     | losing possessive thing | "does not" intransitive
///
/// Relative clauses are nested at most two deep. The words are in namespace `grammar`.
///
///     const std::string text = tw::data::generated_text(1'000'000, 1);
[[nodiscard]] inline std::string generated_text(std::size_t bytes, std::uint64_t seed) {
  return detail::with_memory(
      "generated_text", [] { return std::string("a text"); }, bytes,
      [&] {
        grammar::Writer<std::string> writer(seed);
        writer.text().reserve(bytes);
        while (writer.text().size() < bytes) writer.paragraph();
        writer.text().resize(bytes);
        return std::move(writer.text());
      });
}

}  // namespace tilewright::data
