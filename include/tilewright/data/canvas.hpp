#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace tilewright::data::handwriting {

/// x to the right, y down.
struct Point {
  float x = 0, y = 0;

  friend constexpr Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend constexpr Point operator*(float factor, Point a) { return {factor * a.x, factor * a.y}; }
  friend constexpr float dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
  constexpr bool operator==(const Point&) const = default;
};

/// 28 x 28 pixels between paper, 0, and ink, 1. The pixel of row r and column c has its centre at x = c, y = r.
class Canvas {
 public:
  static constexpr int side = 28;
  static constexpr std::size_t pixel_count = side * side;

  float operator[](std::size_t pixel) const { return pixels_[pixel]; }

  /// Darkens the pixels near the line from a to b: fully up to a distance a little below `radius`, and fading to nothing a
  /// little above it, so that edges are smooth.
  void draw_line(Point a, Point b, float radius) {
    constexpr float half_fade = 0.6f;
    const float reach = radius + half_fade;
    const Point line = b - a;
    const float length_squared = (std::max)(dot(line, line), 1e-6f);
    for (int row = first_pixel((std::min)(a.y, b.y) - reach); row <= last_pixel((std::max)(a.y, b.y) + reach); ++row)
      for (int column = first_pixel((std::min)(a.x, b.x) - reach); column <= last_pixel((std::max)(a.x, b.x) + reach); ++column) {
        const Point from_a = Point{static_cast<float>(column), static_cast<float>(row)} - a;
        const float along = std::clamp(dot(from_a, line) / length_squared, 0.0f, 1.0f);  // of the line's nearest point
        const Point off = from_a - along * line;
        const float darkness = (reach - std::sqrt(dot(off, off))) / (2 * half_fade);
        float& pixel = pixels_[static_cast<std::size_t>(row * side + column)];
        pixel = (std::max)(pixel, (std::min)(darkness, 1.0f));
      }
  }

  /// Draws the Catmull-Rom spline through the points as short lines
  /// (E. Catmull, R. Rom, "A class of local interpolating splines", 1974; the ends are their own neighbours).
  void draw_curve(std::span<const Point> points, float radius) {
    constexpr int lines_per_span = 4;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      const Point before = points[i > 0 ? i - 1 : 0], from = points[i], to = points[i + 1],
                  after = points[(std::min)(i + 2, points.size() - 1)];
      const Point linear = to - before, quadratic = 2 * before - 5 * from + 4 * to - after,
                  cubic = 3 * from - before - 3 * to + after;
      Point pen = from;
      for (int line = 1; line <= lines_per_span; ++line) {
        const float t = static_cast<float>(line) / lines_per_span;
        const Point next = from + 0.5f * t * (linear + t * (quadratic + t * cubic));
        draw_line(pen, next, radius);
        pen = next;
      }
    }
  }

 private:
  static int first_pixel(float coordinate) { return (std::max)(0, static_cast<int>(std::ceil(coordinate))); }
  static int last_pixel(float coordinate) { return (std::min)(side - 1, static_cast<int>(std::floor(coordinate))); }

  std::array<float, pixel_count> pixels_{};
};

}  // namespace tilewright::data::handwriting
