#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tilewright/data/data_error.hpp"
#include "tilewright/data/dataset.hpp"
#include "tilewright/data/handwriting.hpp"

namespace tilewright::data {

namespace handwriting {

inline Dataset draw_digits(std::size_t count, Random& random) {
  Dataset result(count, Canvas::side, Canvas::side);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t pixels[Canvas::pixel_count];
    result.labels(i) = draw_scan(pixels, random);
    std::transform(pixels, pixels + Canvas::pixel_count, result.images.data() + i * Canvas::pixel_count, normalised);
  }
  return result;
}

}  // namespace handwriting

/// Draws images that look like handwritten digits, for use without the MNIST files: `count` training images and `count` / 6 other
/// test images, in load_mnist's format. Form, position, size, slant, rotation, stroke width, darkness, the pen's wobble and the
/// pixels' noise are random. Equal seeds give equal digits.
///
///     const tw::data::Digits digits = tw::data::generated_digits(60'000, 1);
[[nodiscard]] inline Digits generated_digits(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  return detail::with_memory(
      "generated_digits", detail::Amount{"", count, " images of 28 x 28"},
      tilewright::detail::saturated_product({count, handwriting::Canvas::pixel_count, sizeof(float)}),
      [&] { return Digits{handwriting::draw_digits(count, random), handwriting::draw_digits(count / 6, random)}; });  // in order
}

}  // namespace tilewright::data
