#pragma once
// A GPT of characters, which a page trains: a step of 8 texts of 64 characters, and the logits of the next character. The page's
// first text is one that generated_text() writes.
#include <algorithm>
#include <tilewright/data/grammar.hpp>

#include "../../gpt/steps.hpp"

namespace tw = tilewright;

inline constexpr gpt::Size of_page{.vocabulary = 128, .context = 64, .layers = 2, .heads = 4, .width = 64, .bias = false};
constexpr void train_step(tw::Ir& ir) { gpt::train_step<of_page, 8>(ir); }
constexpr void write_step(tw::Ir& ir) { gpt::generate_step<of_page>(ir); }

#ifdef __wasm__
/// A text of at most 40,000 bytes: what is beyond is left out.
struct ShortText {
  char bytes[40'000]{};
  std::size_t count = 0;

  std::size_t size() const { return count; }
  char& back() { return bytes[count - 1]; }
  ShortText& operator+=(char byte) { return *this += std::string_view(&byte, 1); }
  ShortText& operator+=(std::string_view text) {
    text = text.substr(0, sizeof bytes - 1 - count);
    std::ranges::copy(text, bytes + count);
    count += text.size();
    return *this;
  }
};
/// Sentences of a seed, which end with a zero.
extern "C" [[gnu::used, clang::export_name("generated_text")]] inline const char* generated_text(std::uint64_t seed) {
  static tw::data::grammar::Writer<ShortText> writer(0);
  writer = tw::data::grammar::Writer<ShortText>(seed);
  while (writer.text().size() + 1 < sizeof(ShortText::bytes)) writer.paragraph();
  return writer.text().bytes;
}
#endif
