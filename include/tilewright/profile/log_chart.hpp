#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/profile/text_file.hpp"
#include "tilewright/train/log.hpp"

namespace tilewright {

namespace detail {
/// Returns a text with `<`, `>`, `&` and `"` as HTML and SVG write them.
inline std::string escaped_markup(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') result += "&lt;";
    else if (c == '>') result += "&gt;";
    else if (c == '&') result += "&amp;";
    else if (c == '"') result += "&quot;";
    else result += c;
  }
  return result;
}
}  // namespace detail

/// Curves of a training log as an SVG image: a line for each of some columns by step, with axes and a legend. It has light and
/// dark colours, of which the reader's system chooses. A number that is not finite interrupts a line; a number that was not
/// measured does not.
///
///     tw::LogChart(log, {"training_loss", "validation_loss"}).write("run1/loss.svg");
class LogChart {
 public:
  /// `title`: title of the y axis; "": what all names of columns end with, such as `loss`. `x_title`: what the log has in the
  /// place of steps. Throws std::invalid_argument for a name that is no column of the log, and for no name or more than 8.
  LogChart(const train::Log& log, std::vector<std::string> columns, std::string title = {}, std::string x_title = "step")
      : log_(log), columns_(std::move(columns)), title_(std::move(title)), x_title_(std::move(x_title)) {
    if (columns_.empty() || columns_.size() > most_lines)
      throw std::invalid_argument("LogChart: " + std::to_string(columns_.size()) + " columns: from 1 to 8 expected");
    if (title_.empty()) title_ = common_ending(columns_);
    double most_steps = 0, least = INFINITY, most = -INFINITY;
    for (const std::string& name : columns_) {
      indices_.push_back(log.column(name));
      if (indices_.back() == log.columns().size())
        throw std::invalid_argument("LogChart: column '" + name + "': one of the log's columns expected");
    }
    for (const train::Log::Row& row : log.rows()) {
      most_steps = (std::max)(most_steps, static_cast<double>(row.step));
      for (const std::size_t i : indices_)
        if (row.values[i] && std::isfinite(*row.values[i]))
          least = (std::min)(least, *row.values[i]), most = (std::max)(most, *row.values[i]);
    }
    if (most < least) least = 0, most = 1;  // nothing to draw
    steps_ = Axis(0, most_steps, 8);
    values_ = Axis(least, most, 6);
  }

  /// Returns the title of the y axis.
  const std::string& title() const { return title_; }
  /// Returns the image.
  std::string svg() const {
    std::string result = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + text_of(width) + " " + text_of(height) +
                         "\" width=\"" + text_of(width) + "\" height=\"" + text_of(height) + "\" role=\"img\">\n<title>" +
                         detail::escaped_markup(title_ + " by " + x_title_) + "</title>\n";
    result += style();
    result += "<rect class=\"surface\" width=\"100%\" height=\"100%\"/>\n";
    for (int i = 0; i <= values_.ticks(); ++i) {
      result += line("grid", left, y(values_.tick(i)), right, y(values_.tick(i)));
      result += text(left - 8, y(values_.tick(i)) + 4, "end", text_of(values_.tick(i)));
    }
    for (int i = 0; i <= steps_.ticks(); ++i) {
      result += line("axis", x(steps_.tick(i)), bottom, x(steps_.tick(i)), bottom + 5);
      result += text(x(steps_.tick(i)), bottom + 20, "middle", text_of(steps_.tick(i)));
    }
    result += line("axis", left, bottom, right, bottom);
    result += text((left + right) / 2, height - 12, "middle", detail::escaped_markup(x_title_)) +
              text(16, top - 16, "start", detail::escaped_markup(title_));
    double legend_end = right;
    for (std::size_t i = columns_.size(); i-- > 0;) {
      result += draw(i) + legend(legend_end -= 48 + 7 * static_cast<double>(columns_[i].size()), i);
    }
    return result + "</svg>\n";
  }
  /// Writes the image to a file. Throws std::filesystem::filesystem_error.
  void write(const std::filesystem::path& path) const { detail::write_text("LogChart::write", path, svg()); }

 private:
  /// A range of numbers that begins and ends at ticks, whose distance is 1, 2 or 5 times a power of 10.
  struct Axis {
    double low = 0, high = 1, step = 1;
    Axis() = default;
    Axis(double least, double most, int most_ticks) {
      if (!(most > least)) most = least + (std::max)(1e-3, std::abs(least) / 10);
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

  static constexpr std::size_t most_lines = 8;
  static constexpr double width = 760, height = 420, left = 64, right = 736, top = 56, bottom = 364;
  static constexpr std::size_t most_dots = 100;  // values of a line that are few enough for a dot each
  /// Colours of the lines on light and on dark ground.
  static constexpr std::string_view colours[most_lines][2] = {
      {"#0060a8", "#3d8fd6"}, {"#cf5a00", "#e57a34"}, {"#00796b", "#26a69a"}, {"#a61c5d", "#d6619b"},
      {"#6a51a3", "#9e8ad0"}, {"#7a5c00", "#bf9b30"}, {"#4d6a00", "#8fb339"}, {"#5f6b7a", "#93a1b5"}};

  static std::string style() {
    std::string light, dark;
    for (std::size_t i = 0; i < most_lines; ++i) {
      const std::string rule = " .line" + std::to_string(i) + " { stroke: ";
      light += rule + std::string(colours[i][0]) + "; stroke-width: " + (i == 0 ? "1.2" : "2") + "; }";
      dark += rule + std::string(colours[i][1]) + "; }";
    }
    return "<style>\n"
           "  text { font: 12px system-ui, \"Segoe UI\", Roboto, \"Noto Sans\", \"DejaVu Sans\", sans-serif; fill: #566073; }\n"
           "  line, polyline { fill: none; }\n"
           "  .surface { fill: #ffffff; } .grid { stroke: #e6e9ef; } .axis { stroke: #566073; }\n " +
           light +
           "\n  @media (prefers-color-scheme: dark) {\n"
           "    text { fill: #a3adbd; }\n"
           "    .surface { fill: #171c24; } .grid { stroke: #262e3a; } .axis { stroke: #a3adbd; }\n   " +
           dark + "\n  }\n</style>\n";
  }

  double x(double step) const { return left + steps_.part(step) * (right - left); }
  double y(double value) const { return bottom - values_.part(value) * (bottom - top); }

  /// Returns the words, separated by `_`, with which all names end; the first name if there are none.
  static std::string common_ending(const std::vector<std::string>& names) {
    std::string_view common = names[0];
    const auto ends_common = [&common](std::string_view name) {
      return name.ends_with(common) && (name.size() == common.size() || name[name.size() - common.size() - 1] == '_');
    };
    for (const std::string& name : names) {
      while (!common.empty() && !ends_common(name)) {
        const std::size_t separator = common.find('_');
        common = separator == common.npos ? std::string_view() : common.substr(separator + 1);
      }
    }
    return std::string(common.empty() ? names[0] : common);
  }
  static std::string text_of(double number, int digits = 10) {
    char characters[64];
    if (std::abs(number) < 1e-12) number = 0;  // of a tick that rounding keeps from 0
    return {characters,
            std::to_chars(characters, characters + sizeof(characters), number, std::chars_format::general, digits).ptr};
  }
  static std::string line(const std::string& kind, double x1, double y1, double x2, double y2) {
    return "<line class=\"" + kind + "\" x1=\"" + text_of(x1, 6) + "\" y1=\"" + text_of(y1, 6) + "\" x2=\"" + text_of(x2, 6) +
           "\" y2=\"" + text_of(y2, 6) + "\"/>\n";
  }
  static std::string text(double x, double y, std::string_view anchor, const std::string& content) {
    return "<text x=\"" + text_of(x, 6) + "\" y=\"" + text_of(y, 6) + "\" text-anchor=\"" + std::string(anchor) + "\">" +
           content + "</text>\n";
  }
  static std::string kind_of(std::size_t i) { return "line" + std::to_string(i); }
  std::string legend(double at, std::size_t i) const {
    return line(kind_of(i), at, top - 20, at + 24, top - 20) +
           text(at + 32, top - 16, "start", detail::escaped_markup(columns_[i]));
  }
  /// Returns lines between values that follow each other, and a dot at each if they are few.
  std::string draw(std::size_t i) const {
    std::string result, places;
    const auto end_line = [&] {
      if (!places.empty()) result += "<polyline class=\"" + kind_of(i) + "\" points=\"" + places + "\"/>\n";
      places.clear();
    };
    const auto value_of = [&](const train::Log::Row& row) { return row.values[indices_[i]]; };
    const auto count = std::count_if(log_.rows().begin(), log_.rows().end(),
                                     [&](const train::Log::Row& row) { return value_of(row) && std::isfinite(*value_of(row)); });
    for (const train::Log::Row& row : log_.rows()) {
      const auto value = value_of(row);
      if (!value) continue;
      if (!std::isfinite(*value)) {
        end_line();
        continue;
      }
      const std::string cx = text_of(x(static_cast<double>(row.step)), 6), cy = text_of(y(*value), 6);
      places += (places.empty() ? "" : " ") + cx + "," + cy;
      if (std::cmp_less_equal(count, most_dots))
        result += "<circle class=\"" + kind_of(i) + "\" cx=\"" + cx + "\" cy=\"" + cy + "\" r=\"1.5\"/>\n";
    }
    end_line();
    return result;
  }

  const train::Log& log_;
  std::vector<std::string> columns_;
  std::string title_, x_title_;
  std::vector<std::size_t> indices_{};
  Axis steps_, values_;
};

}  // namespace tilewright
