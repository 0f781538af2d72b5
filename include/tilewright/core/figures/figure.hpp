#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright {

/// How reliable a number of a machine's model is.
enum class Confidence : std::uint8_t {
  published,  ///< found in its source
  derived,    ///< arithmetic on published numbers, which the source names
  recalled,  ///< known from the literature, without access to the text
  assumed,  ///< no source: a choice of the model
  given  ///< set by the user
};
inline constexpr std::string_view confidence_names[] = {"published", "derived", "recalled", "assumed", "given"};
constexpr std::string_view name_of(Confidence confidence) { return confidence_names[static_cast<int>(confidence)]; }

/// Returns whether a number is recalled or assumed. Reports show how many cycles rest on such numbers.
constexpr bool is_guess(Confidence confidence) { return confidence == Confidence::recalled || confidence == Confidence::assumed; }

/// A number of a machine's model with its source. It converts to an integer; an integer assigned to it is `given`.
struct Figure {
  std::int64_t value = 0;
  Confidence confidence = Confidence::given;
  const char* source = "";  ///< title or arXiv number, and the arithmetic of a derived number; "" for a given one

  constexpr Figure() = default;
  constexpr Figure(std::int64_t number) : value(number) {}
  constexpr Figure(std::int64_t number, Confidence how_sure, const char* from)
      : value(number), confidence(how_sure), source(from) {}
  constexpr operator std::int64_t() const { return value; }
  constexpr bool has_source() const { return *source != 0; }
  constexpr bool guessed() const { return is_guess(confidence); }
};

}  // namespace tilewright
