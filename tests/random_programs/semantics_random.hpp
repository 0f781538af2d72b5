#pragma once
// Meanings of random ops, as docs/how-to/random.md defines them. Only the generator of words is the library's.
#include "semantics_common.hpp"
#include "tilewright/core/philox.hpp"

namespace random_programs::meaning {

/// The random words of a seed.
class Words {
 public:
  explicit Words(const Array& seed) : key_{static_cast<std::uint32_t>(seed[0]), static_cast<std::uint32_t>(seed[1])} {}

  std::uint64_t word(std::uint64_t counter, std::size_t number) const {
    return tw::philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}, key_)[number];
  }
  /// That of an element of 32 bits or less.
  std::uint64_t of_element(std::uint64_t i) const { return word(16 * (i / 64) + i % 16, i / 16 % 4); }
  /// Two words, of an element of 64 bits.
  std::uint64_t of_wide_element(std::uint64_t i) const {
    const std::uint64_t counter = 16 * (i / 32) + i % 16, pair = i / 16 % 2;
    return word(counter, 2 * pair) << 32 | word(counter, 2 * pair + 1);
  }
  tw::PhiloxCounter child(std::uint64_t modifier) const {
    return tw::philox({static_cast<std::uint32_t>(modifier), static_cast<std::uint32_t>(modifier >> 32), 0, 1}, key_);
  }

 private:
  tw::PhiloxKey key_;
};

inline std::vector<Array> uniform(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::RandomUniform::Attributes>(node.attributes);
  const Words words(inputs[0]);
  Array result(outputs[0]);
  const bool is_wide = result.spec.dtype == tw::float64;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double u = is_wide ? real(words.of_wide_element(i) >> 11) * 0x1p-53 : real(words.of_element(i) >> 8) * 0x1p-24;
    result[i] = attributes.first + (attributes.second - attributes.first) * u;
  }
  return {result};
}
/// By pairs of elements 16 apart: a radius of the first one's bits, an angle of the second one's.
inline std::vector<Array> normal(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::RandomNormal::Attributes>(node.attributes);
  const Words words(inputs[0]);
  Array result(outputs[0]);
  const bool is_wide = result.spec.dtype == tw::float64;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t first = i / 32 * 32 + i % 16, second = first + 16;
    double u, turns;  // a part of the circle, counted from the middle of the first quarter
    if (is_wide) {
      u = (real(words.of_wide_element(first) >> 11) + 0.5) * 0x1p-53;
      const std::uint64_t bits = words.of_wide_element(second);
      turns = real(bits >> 62) / 4 + real(static_cast<std::int64_t>(bits << 2)) * 0x1p-66;
    } else {
      u = (real(words.of_element(first) >> 1) + 0.5) * 0x1p-31;
      const auto bits = static_cast<std::uint32_t>(words.of_element(second));
      turns = real(bits >> 30) / 4 + real(static_cast<std::int32_t>(bits << 2)) * 0x1p-34;
    }
    const double angle = 2 * M_PI * turns, radius = std::sqrt(-2 * std::log(u));
    result[i] = attributes.first + attributes.second * radius * (i == first ? std::cos(angle) : std::sin(angle));
  }
  return {result};
}
/// The mask of `shape`, broadcast to x, times x.
inline Array dropped(const Array& x, const Array& seed, const tw::Shape& shape, double p) {
  const Words words(seed);
  Array mask(tw::TensorSpec{shape, x.spec.dtype}), result = x.copy();
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = p == 0 || real(words.of_element(i)) >= p * 0x1p32 ? 1 / (1 - p) : 0;
  for (std::size_t i = 0; i < x.size(); ++i) result[i] *= broadcast_at(mask, index_of(i, x.spec.shape));
  return result;
}

inline Meanings random_meanings() {
  return {
      {"RandomUniform", uniform},
      {"RandomNormal", normal},
      {"Dropout",
       [](const tw::Node& node, Inputs inputs, Specs) {
         return std::vector{
             dropped(inputs[0], inputs[1], inputs[0].spec.shape, tw::unpack<tw::Dropout::Attributes>(node.attributes).p)};
       }},
      {"ShapedDropout",
       [](const tw::Node& node, Inputs inputs, Specs) {
         const auto attributes = tw::unpack<tw::ShapedDropout::Attributes>(node.attributes);
         return std::vector{dropped(inputs[0], inputs[1], attributes.shape.shape(), attributes.ratio)};
       }},
      {"CreateRandomSeed",
       [](const tw::Node& node, Inputs inputs, Specs outputs) {
         const auto given = tw::unpack<tw::CreateRandomSeed::Attributes>(node.attributes).modifier;
         const auto modifier = static_cast<std::uint64_t>(inputs.size() > 1 ? static_cast<std::int64_t>(inputs[1][0]) : given);
         const auto words = Words(inputs[0]).child(modifier);
         return std::vector{Array(outputs[0], {real(words[0]), real(words[1])})};
       }},
  };
}

}  // namespace random_programs::meaning
