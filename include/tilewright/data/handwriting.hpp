#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tilewright/core/random/random.hpp"
#include "tilewright/data/canvas.hpp"
#include "tilewright/data/digit_strokes.hpp"
#include "tilewright/data/draw_below.hpp"

namespace tilewright::data::handwriting {

inline float draw_between(float low, float high, Random& random) {
  return low + (high - low) * static_cast<float>(random.uniform());
}

/// Style in which one digit is written. Lengths are in pixels.
struct Hand {
  float height, width;
  float slant;  // x per y
  float angle;  // of the rotation, in radians
  Point centre;
  float wobble;  // the pen's largest error, as a part of height and width
  float radius;  // half the stroke's width
  float ink;  // grey value of the stroke; above 1 its edges sharpen
  float noise;  // largest grey value added to or taken from a pixel

  /// Maps a point from a stroke's square to pixels.
  Point place(Point point, Random& random) const {
    const Point error{draw_between(-wobble, wobble, random), draw_between(-wobble, wobble, random)};
    const Point from_centre = 0.01f * (point - Point{50, 50}) + error;
    const Point slanted{width * from_centre.x - slant * height * from_centre.y, height * from_centre.y};
    const float cosine = std::cos(angle), sine = std::sin(angle);
    return centre + Point{cosine * slanted.x - sine * slanted.y, sine * slanted.x + cosine * slanted.y};
  }
};

/// Draws a style. The ranges are chosen by eye, so that a network classifies the digits about as well as MNIST's (see
/// generated_digits).
inline Hand draw_hand(Random& random) {
  // braces evaluate from left to right, so the order of the draws is fixed
  const float height = draw_between(16, 22, random);
  return {.height = height,
          .width = height * draw_between(0.65f, 1.2f, random),
          .slant = draw_between(-0.2f, 0.5f, random),
          .angle = draw_between(-0.24f, 0.24f, random),
          .centre = {draw_between(11.5f, 15.5f, random), draw_between(11.5f, 15.5f, random)},
          .wobble = draw_between(0.03f, 0.11f, random),
          .radius = draw_between(0.5f, 1.8f, random),
          .ink = draw_between(0.75f, 1.35f, random),
          .noise = draw_between(0, 0.15f, random)};
}

inline Canvas draw_digit(std::size_t digit, const Hand& hand, Random& random) {
  const Forms& forms = digit_forms[digit];
  const auto form = static_cast<int>(draw_below(static_cast<std::uint64_t>(forms.size()), random));
  Canvas canvas;
  for (Stroke stroke : forms[form]) {
    for (int i = 0; i < stroke.size(); ++i) stroke[i] = hand.place(stroke[i], random);
    canvas.draw_curve({stroke.begin(), stroke.end()}, hand.radius);
  }
  return canvas;
}

/// Returns the pixel as a scanner reads it.
inline std::uint8_t scan(float darkness, const Hand& hand, Random& random) {
  const float grey = hand.ink * darkness + draw_between(-hand.noise, hand.noise, random);
  return static_cast<std::uint8_t>(255 * std::clamp(grey, 0.0f, 1.0f) + 0.5f);
}

/// Draws a digit as a scanner reads it, into Canvas::pixel_count numbers from 0, paper, to 255, ink. Returns which one.
inline std::int32_t draw_scan(std::uint8_t* pixels, Random& random) {
  const auto digit = static_cast<std::size_t>(draw_below(10, random));
  const Hand hand = draw_hand(random);
  const Canvas canvas = draw_digit(digit, hand, random);
  for (std::size_t pixel = 0; pixel < Canvas::pixel_count; ++pixel) pixels[pixel] = scan(canvas[pixel], hand, random);
  return static_cast<std::int32_t>(digit);
}

}  // namespace tilewright::data::handwriting
