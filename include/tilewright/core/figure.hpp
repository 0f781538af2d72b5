#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright {

/// How far a number of a machine's model can be trusted.
enum class Confidence : std::uint8_t {
  published,  ///< its source was read
  derived,    ///< arithmetic on published numbers, which the source names
  recalled,   ///< the literature has it, but the text was not available
  assumed,    ///< no source: the model's choice
  given       ///< the user's own
};
inline constexpr std::string_view confidence_names[] = {"published", "derived", "recalled", "assumed", "given"};
constexpr std::string_view name_of(Confidence confidence) { return confidence_names[static_cast<int>(confidence)]; }

/// Whether a number is recalled or assumed: a report shows how many cycles rest on such numbers.
constexpr bool is_guess(Confidence confidence) { return confidence == Confidence::recalled || confidence == Confidence::assumed; }

/// A number of a machine's model with its source. It reads like an integer; an integer assigned to it is `given`.
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
