#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "tilewright/data/fixed.hpp"

namespace tilewright::detail::handwriting {

/// x to the right, y down.
struct Point {
  Fixed x, y;

  friend constexpr Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend constexpr Point operator*(Fixed factor, Point a) { return {factor * a.x, factor * a.y}; }
  friend constexpr Fixed dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
  constexpr bool operator==(const Point&) const = default;
};

/// 28 x 28 pixels of paper, 0, and ink, 1. The pixel of row r and column c has its centre at x = c, y = r.
class Canvas {
 public:
  static constexpr int side = 28;

  Fixed operator[](std::size_t pixel) const { return pixels_[pixel]; }

  /// Darkens the pixels near the line from a to b: fully up to a distance a little below `radius`, and fading to
  /// nothing a little above it, so that edges are smooth.
  void draw_line(Point a, Point b, Fixed radius) {
    constexpr Fixed half_fade = 0.6;
    const Fixed reach = radius + half_fade;
    const Point line = b - a;
    const Fixed length_squared = dot(line, line);
    const int first_row = first_pixel(std::min(a.y, b.y) - reach), last_row = last_pixel(std::max(a.y, b.y) + reach);
    const int first_column = first_pixel(std::min(a.x, b.x) - reach),
              last_column = last_pixel(std::max(a.x, b.x) + reach);
    for (int row = first_row; row <= last_row; ++row)
      for (int column = first_column; column <= last_column; ++column) {
        const Point from_a = Point{column, row} - a;
        const Fixed along = dot(from_a, line);
        // The nearest point of the line is its beginning, its end, or between them.
        const Point off = along <= 0                ? from_a
                          : along >= length_squared ? from_a - line
                                                    : from_a - along / length_squared * line;
        const Fixed darkness = (reach - sqrt(dot(off, off))) / (2 * half_fade);
        Fixed& pixel = pixels_[static_cast<std::size_t>(row * side + column)];
        pixel = std::max(pixel, std::min(darkness, Fixed(1)));
      }
  }

  /// Draws the Catmull-Rom spline through the points as short lines
  /// (E. Catmull, R. Rom, "A class of local interpolating splines", 1974; the ends are their own neighbours).
  void draw_curve(std::span<const Point> points, Fixed radius) {
    constexpr int lines_per_span = 4;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      const Point before = points[i > 0 ? i - 1 : 0], from = points[i], to = points[i + 1],
                  after = points[std::min(i + 2, points.size() - 1)];
      const Point linear = to - before, quadratic = 2 * before - 5 * from + 4 * to - after,
                  cubic = 3 * from - before - 3 * to + after;
      Point pen = from;
      for (int line = 1; line <= lines_per_span; ++line) {
        const Fixed t = Fixed(line) / lines_per_span;
        const Point next = from + 0.5 * t * (linear + t * (quadratic + t * cubic));
        draw_line(pen, next, radius);
        pen = next;
      }
    }
  }

 private:
  static int first_pixel(Fixed coordinate) { return std::max(0, coordinate.ceil()); }
  static int last_pixel(Fixed coordinate) { return std::min(side - 1, coordinate.floor()); }

  std::array<Fixed, side * side> pixels_{};
};

}  // namespace tilewright::detail::handwriting
