#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

/// What a training run measured up to a step.
struct LossPoint {
  std::uint64_t step = 0;
  double training = 0;
  double validation = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not measured at this step
  double tokens_per_second = 0;                                  ///< while it trained
};

/// The losses of a run as lines of text with commas. What was not measured is empty, and what is no number is nan or inf.
class LossCurve {
 public:
  /// Throws std::invalid_argument for a step that is not after the last one.
  void add(const LossPoint& point) {
    if (!points_.empty() && point.step <= points_.back().step)
      throw std::invalid_argument("LossCurve: step " + std::to_string(point.step) + " after " +
                                  std::to_string(points_.back().step) + ": a later one expected");
    points_.push_back(point);
  }
  const std::vector<LossPoint>& points() const { return points_; }

  /// Replaces the file in one piece: a run that is killed meanwhile leaves the one before. Throws std::runtime_error for a file
  /// that cannot be written.
  void write_csv(const std::filesystem::path& path) const {
    std::string content(header);
    for (const LossPoint& point : points_)
      content += std::to_string(point.step) + "," + text_of(point.training) + "," +
                 (std::isnan(point.validation) ? "" : text_of(point.validation)) + "," + text_of(point.tokens_per_second) + "\n";
    const std::filesystem::path partial = path.string() + ".partial";
    const bool is_written = static_cast<bool>(std::ofstream(partial, std::ios::binary) << content << std::flush);
    std::error_code error;
    if (is_written) std::filesystem::rename(partial, path, error);
    if (is_written && !error) return;
    std::filesystem::remove(partial, error);
    fail(path, "a file that cannot be written", "a writable one");
  }

  /// The curve of a run that goes on: the points up to `last_step` of a file that write_csv() wrote, none if there is no file.
  /// Throws std::runtime_error for a file that is no such curve.
  static LossCurve read_csv(const std::filesystem::path& path, std::uint64_t last_step) {
    LossCurve curve;
    if (!std::filesystem::exists(path)) return curve;
    std::ifstream file(path, std::ios::binary);
    std::string line;
    if (!std::getline(file, line) || line + "\n" != header)
      fail(path, "line 1", "'" + std::string(header.substr(0, header.size() - 1)) + "'");
    for (std::size_t number = 2; std::getline(file, line); ++number) {
      LossPoint point;
      std::string_view rest = line;
      const bool is_point = take(rest, point.step) && take(rest, point.training) &&
                            (take_nothing(rest) || take(rest, point.validation)) && take(rest, point.tokens_per_second) &&
                            rest.empty();
      if (!is_point || (!curve.points_.empty() && point.step <= curve.points_.back().step))
        fail(path, "line " + std::to_string(number) + ", '" + line + "'", "a later step and three numbers");
      if (point.step > last_step) break;
      curve.points_.push_back(point);
    }
    return curve;
  }

 private:
  static constexpr std::string_view header = "step,training_loss,validation_loss,tokens_per_second\n";

  [[noreturn]] static void fail(const std::filesystem::path& path, const std::string& found, const std::string& expected) {
    throw std::runtime_error("LossCurve: " + path.string() + ": " + found + ": " + expected + " expected");
  }
  static std::string text_of(double number) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::general, 6).ptr};
  }
  /// Takes a number, and the comma after it.
  static bool take(std::string_view& rest, auto& number) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{}) return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.starts_with(",")) rest.remove_prefix(1);
    return true;
  }
  static bool take_nothing(std::string_view& rest) {
    if (!rest.starts_with(",")) return false;
    rest.remove_prefix(1);
    return true;
  }

  std::vector<LossPoint> points_{};
};
