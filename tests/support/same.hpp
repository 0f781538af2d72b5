#pragma once
#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/text.hpp"

namespace support {

/// Both texts and the line in which they first differ; "" if they are the same.
constexpr tilewright::Text difference(const tilewright::Text& actual, std::string_view expected) {
  const std::string_view given = actual.view();
  if (tilewright::same_characters(given, expected)) return {};
  int line = 1;
  for (std::size_t i = 0; i < given.size() && i < expected.size() && given[i] == expected[i]; ++i) line += given[i] == '\n';
  return tilewright::text("<<", given, ">> where <<", expected, ">> is expected; they differ in line ", line);
}

/// What a test finds wrong: the names of its facts that are none. A test is `TW_SAME(facts_of(...), "")`.
class Facts {
 public:
  constexpr Facts& check(bool fact, std::string_view name) {
    if (!fact) wrong_ += tilewright::text(wrong_.empty() ? "" : ", ", name);
    return *this;
  }
  constexpr operator tilewright::Text() const { return wrong_; }

 private:
  tilewright::Text wrong_;
};

/// Stops the compilation with the result of `make()`, if that is not "".
template <auto make>
consteval bool is_empty() {
  constexpr std::size_t size = make().size();
  if constexpr (size != 0) tilewright::Report<make, size>();
  return true;
}

}  // namespace support

/// A static_assert that a text is as expected. If it is not, the compiler's output has both: look for `error<`. A third argument
/// is the reason for the text.
#define TW_SAME(actual, expected, ...) \
  static_assert(support::is_empty<[] { return support::difference(actual, expected); }>() __VA_OPT__(, ) __VA_ARGS__)
