#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "loss_curve.hpp"

/// A loss curve as an SVG image: training and validation loss by step, with axes and a legend. It has light and dark colours, of
/// which the reader's system chooses. Values that are not finite interrupt a line.
class LossChart {
 public:
  explicit LossChart(const LossCurve& curve) : curve_(curve) {
    double most_steps = 0, least = INFINITY, most = -INFINITY;
    for (const LossPoint& point : curve.points()) {
      most_steps = std::max(most_steps, static_cast<double>(point.step));
      for (const double loss : {point.training, point.validation})
        if (std::isfinite(loss)) least = std::min(least, loss), most = std::max(most, loss);
    }
    if (most < least) least = 0, most = 1;  // nothing to draw
    steps_ = Axis(0, most_steps, 8);
    losses_ = Axis(least, most, 6);
  }

  std::string svg() const {
    std::string result = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + text_of(width) + " " + text_of(height) +
                         "\" width=\"" + text_of(width) + "\" height=\"" + text_of(height) +
                         "\" role=\"img\">\n<title>Training and validation loss by step</title>\n";
    result += style;
    result += "<rect class=\"surface\" width=\"100%\" height=\"100%\"/>\n";
    for (int i = 0; i <= losses_.ticks(); ++i) {
      result += line("grid", left, y(losses_.tick(i)), right, y(losses_.tick(i)));
      result += text(left - 8, y(losses_.tick(i)) + 4, "end", text_of(losses_.tick(i)));
    }
    for (int i = 0; i <= steps_.ticks(); ++i) {
      result += line("axis", x(steps_.tick(i)), bottom, x(steps_.tick(i)), bottom + 5);
      result += text(x(steps_.tick(i)), bottom + 20, "middle", text_of(steps_.tick(i)));
    }
    result += line("axis", left, bottom, right, bottom);
    result += text((left + right) / 2, height - 12, "middle", "step") + text(left - 8, top - 16, "end", "loss");
    result += draw("training", &LossPoint::training) + draw("validation", &LossPoint::validation);
    result += legend(right - 200, "training") + legend(right - 95, "validation");
    return result + "</svg>\n";
  }

  /// Throws std::runtime_error for a file that cannot be written.
  void write(const std::filesystem::path& path) const {
    std::ofstream file(path, std::ios::binary);
    if (!(file << svg() << std::flush))
      throw std::runtime_error("LossChart: " + path.string() + ": a file that cannot be written: a writable one expected");
  }

 private:
  /// A range of numbers that begins and ends at ticks, whose distance is 1, 2 or 5 times a power of 10.
  struct Axis {
    double low = 0, high = 1, step = 1;
    Axis() = default;
    Axis(double least, double most, int most_ticks) {
      if (!(most > least)) most = least + std::max(1e-3, std::abs(least) / 10);
      const double finest = (most - least) / most_ticks, power = std::pow(10, std::floor(std::log10(finest)));
      step = 10 * power;
      for (const double factor : {5, 2, 1})
        if (factor * power >= finest) step = factor * power;
      low = std::floor(least / step) * step;
      high = std::ceil(most / step) * step;
    }
    int ticks() const { return static_cast<int>(std::lround((high - low) / step)); }
    double tick(int i) const { return low + i * step; }
    double part(double value) const { return (value - low) / (high - low); }
  };

  static constexpr double width = 760, height = 420, left = 64, right = 736, top = 56, bottom = 364;
  static constexpr std::string_view style = R"(<style>
  text { font: 12px system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; fill: #566073; }
  line, polyline { fill: none; }
  .surface { fill: #ffffff; } .grid { stroke: #e6e9ef; } .axis { stroke: #566073; }
  .training { stroke: #0060a8; stroke-width: 1.2; } .validation { stroke: #cf5a00; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #a3adbd; }
    .surface { fill: #171c24; } .grid { stroke: #262e3a; } .axis { stroke: #a3adbd; }
    .training { stroke: #3d8fd6; } .validation { stroke: #e57a34; }
  }
</style>
)";

  double x(double step) const { return left + steps_.part(step) * (right - left); }
  double y(double loss) const { return bottom - losses_.part(loss) * (bottom - top); }

  static std::string text_of(double number, int digits = 10) {
    char characters[64];
    if (std::abs(number) < 1e-12) number = 0;  // of a tick that rounding keeps from 0
    return {characters,
            std::to_chars(characters, characters + sizeof(characters), number, std::chars_format::general, digits).ptr};
  }
  static std::string line(std::string_view kind, double x1, double y1, double x2, double y2) {
    return "<line class=\"" + std::string(kind) + "\" x1=\"" + text_of(x1, 6) + "\" y1=\"" + text_of(y1, 6) + "\" x2=\"" +
           text_of(x2, 6) + "\" y2=\"" + text_of(y2, 6) + "\"/>\n";
  }
  static std::string text(double x, double y, std::string_view anchor, const std::string& content) {
    return "<text x=\"" + text_of(x, 6) + "\" y=\"" + text_of(y, 6) + "\" text-anchor=\"" + std::string(anchor) + "\">" +
           content + "</text>\n";
  }
  static std::string legend(double x, const std::string& kind) {
    return line(kind, x, top - 20, x + 24, top - 20) + text(x + 32, top - 16, "start", kind);
  }
  /// Lines between values that follow each other, and a dot at each if they are few.
  std::string draw(const std::string& kind, double LossPoint::* value) const {
    std::string result, places;
    const auto end_line = [&] {
      if (!places.empty()) result += "<polyline class=\"" + kind + "\" points=\"" + places + "\"/>\n";
      places.clear();
    };
    const auto count = std::ranges::count_if(curve_.points(),
                                             [&](const LossPoint& point) { return std::isfinite(point.*value); });
    for (const LossPoint& point : curve_.points()) {
      const double loss = point.*value;
      const bool is_measured = value != &LossPoint::validation || !std::isnan(loss);
      if (std::isfinite(loss)) {
        const std::string cx = text_of(x(static_cast<double>(point.step)), 6), cy = text_of(y(loss), 6);
        places += (places.empty() ? "" : " ") + cx + "," + cy;
        if (count <= 100) result += "<circle class=\"" + kind + "\" cx=\"" + cx + "\" cy=\"" + cy + "\" r=\"1.5\"/>\n";
      } else if (is_measured) {
        end_line();
      }
    }
    end_line();
    return result;
  }

  const LossCurve& curve_;
  Axis steps_, losses_;
};
