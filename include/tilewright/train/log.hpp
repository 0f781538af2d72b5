#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tilewright::train {

/// Last step for Log::read that cuts no row.
inline constexpr std::uint64_t all_steps = (std::numeric_limits<std::uint64_t>::max)();

/// Measurements of a training run, as rows of numbers with named columns. Each row belongs to a step; a number that was not
/// measured at the step is missing. Files have the shortest digits that give the same float32 or float64 number again.
///
///     tw::train::Log log({"training_loss", "validation_loss"});
///     log.add(progress.step, {{"training_loss", progress.loss}});
///     log.write_csv("run1/log.csv");
class Log {
 public:
  /// Name and number for a column.
  using Entry = std::pair<std::string_view, double>;
  /// Numbers of a step, in the order of the columns.
  struct Row {
    std::uint64_t step = 0;  ///< number of steps so far
    std::vector<std::optional<double>> values{};  ///< one for each column; nothing: not measured
  };

  /// Throws std::invalid_argument for a column without a name, for a name twice, for "step", and for a name with a comma, a
  /// quote, a backslash or a control character.
  explicit Log(std::vector<std::string> columns) : columns_(std::move(columns)) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& name = columns_[i];
      const bool is_plain = std::none_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == ',' || c == '"' || c == '\\';
      });
      if (name.empty() || name == step_name || !is_plain || column(name) != i)
        throw std::invalid_argument("Log: column '" + name + "': a new name without commas, quotes and backslashes expected");
    }
  }

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<Row>& rows() const { return rows_; }
  /// Returns the index of a column, or the number of columns if there is none of the name.
  std::size_t column(std::string_view name) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) - columns_.begin());
  }

  /// Adds the numbers of a step. Throws std::invalid_argument for a step that is not after the last one, and for a name that is
  /// no column or comes twice.
  const Row& add(std::uint64_t step, std::initializer_list<Entry> numbers) {
    Row row{step, std::vector<std::optional<double>>(columns_.size())};
    for (const auto& [name, number] : numbers) {
      const std::size_t i = column(name);
      if (i == columns_.size() || row.values[i])
        throw std::invalid_argument("Log: '" + std::string(name) + "': one of " + names(", ") + ", each once, expected");
      row.values[i] = number;
    }
    return add(std::move(row));
  }

  /// Returns the rows as lines of text with commas, after a line with the names: `step,training_loss,validation_loss`. What was
  /// not measured is empty, and what is no finite number is nan, inf or -inf.
  std::string to_csv() const {
    std::string result = header();
    for (const Row& row : rows_) result += csv_line(row);
    return result;
  }
  /// Returns the rows as lines with a JSON object each: `{"step":10,"training_loss":2.5}`. What was not measured is missing, and
  /// what is no finite number is a text: "nan", "inf" or "-inf".
  std::string to_json_lines() const {
    std::string result;
    for (const Row& row : rows_) result += json_line(row);
    return result;
  }
  /// Replaces a file in one piece: if the run is killed meanwhile, the file from before stays. Throws std::runtime_error for a
  /// file that cannot be written.
  void write_csv(const std::filesystem::path& path) const { replace(path, to_csv()); }
  void write_json_lines(const std::filesystem::path& path) const { replace(path, to_json_lines()); }

  /// Returns the log of a run that goes on: the rows up to `last_step` of a file of CSV or, if the file's name ends in .jsonl, of
  /// JSON lines. No rows if there is no file. A last line without an end, which a killed run left, is left out. Throws
  /// std::runtime_error for a file that is no log with these columns, and the exceptions of the constructor.
  static Log read(const std::filesystem::path& path, std::vector<std::string> columns, std::uint64_t last_step = all_steps) {
    Log log(std::move(columns));
    if (!std::filesystem::exists(path)) return log;
    const bool is_json = is_json_lines(path);
    std::ifstream file(path, std::ios::binary);
    std::string line;
    if (const std::string header = log.header(); !is_json && (!std::getline(file, line) || line + "\n" != header))
      fail(path, "line 1", "'" + header.substr(0, header.size() - 1) + "'");
    for (std::size_t number = is_json ? 1 : 2; std::getline(file, line) && !file.eof(); ++number) {
      std::optional<Row> row = is_json ? log.row_of_json(line) : log.row_of_csv(line);
      if (!row || (!log.rows_.empty() && row->step <= log.rows_.back().step))
        fail(path, "line " + std::to_string(number) + ", '" + line + "'", "a later step and the numbers of " + log.names(", "));
      if (row->step > last_step) break;
      log.rows_.push_back(*std::move(row));
    }
    return log;
  }

  /// Returns whether a file has JSON lines, by the ending .jsonl of its name.
  static bool is_json_lines(const std::filesystem::path& path) { return path.extension() == ".jsonl"; }

 private:
  friend class LogFile;
  static constexpr std::string_view step_name = "step";

  const Row& add(Row row) {
    if (!rows_.empty() && row.step <= rows_.back().step)
      throw std::invalid_argument("Log: step " + std::to_string(row.step) + " after " + std::to_string(rows_.back().step) +
                                  ": a later one expected");
    return rows_.emplace_back(std::move(row));
  }
  [[noreturn]] static void fail(const std::filesystem::path& path, const std::string& found, const std::string& expected) {
    throw std::runtime_error("Log: " + path.string() + ": " + found + ": " + expected + " expected");
  }
  static void replace(const std::filesystem::path& path, const std::string& content) {
    const std::filesystem::path partial = path.string() + ".partial";
    const bool is_written = static_cast<bool>(std::ofstream(partial, std::ios::binary) << content << std::flush);
    std::error_code error;
    if (is_written) std::filesystem::rename(partial, path, error);
    if (is_written && !error) return;
    std::filesystem::remove(partial, error);
    fail(path, "a file that cannot be written", "a writable one");
  }

  std::string names(std::string_view separator) const {
    std::string result;
    for (const std::string& name : columns_) (result += result.empty() ? "" : separator) += name;
    return result;
  }
  std::string header() const { return std::string(step_name) + (columns_.empty() ? "" : ",") + names(",") + "\n"; }
  /// Returns the shortest digits of a float if the number is one, or else of a double.
  static std::string text_of(double number) {
    char digits[32];
    const auto single = static_cast<float>(number);
    const auto end = static_cast<double>(single) == number || std::isnan(number)
                         ? std::to_chars(digits, digits + sizeof(digits), single)
                         : std::to_chars(digits, digits + sizeof(digits), number);
    return std::isnan(number) ? "nan" : std::string(digits, end.ptr);
  }
  static std::string csv_line(const Row& row) {
    std::string line = std::to_string(row.step);
    for (const auto& value : row.values) (line += ',') += value ? text_of(*value) : "";
    return line + "\n";
  }
  std::string json_line(const Row& row) const {
    std::string line = "{\"step\":" + std::to_string(row.step);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!row.values[i]) continue;
      const std::string text = text_of(*row.values[i]);
      line += ",\"" + columns_[i] + "\":" + (std::isfinite(*row.values[i]) ? text : "\"" + text + "\"");
    }
    return line + "}\n";
  }
  std::string line_of(const Row& row, bool is_json) const { return is_json ? json_line(row) : csv_line(row); }

  static bool take(std::string_view& rest, std::string_view text) {
    if (!rest.starts_with(text)) return false;
    rest.remove_prefix(text.size());
    return true;
  }
  static bool take_number(std::string_view& rest, auto& number) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{}) return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return true;
  }
  std::optional<Row> row_of_csv(std::string_view rest) const {
    Row row;
    if (!take_number(rest, row.step)) return std::nullopt;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!take(rest, ",")) return std::nullopt;
      auto& value = row.values.emplace_back();
      if (rest.empty() || rest.starts_with(',')) continue;
      if (!take_number(rest, value.emplace())) return std::nullopt;
    }
    return rest.empty() ? std::optional(row) : std::nullopt;
  }
  std::optional<Row> row_of_json(std::string_view rest) const {
    Row row{0, std::vector<std::optional<double>>(columns_.size())};
    if (!take(rest, "{\"step\":") || !take_number(rest, row.step)) return std::nullopt;
    while (take(rest, ",\"")) {
      const std::string_view name = rest.substr(0, rest.find('"'));
      const std::size_t i = column(name);
      if (i == columns_.size() || row.values[i] || !take(rest, name) || !take(rest, "\":")) return std::nullopt;
      const bool is_text = take(rest, "\"");
      if (!take_number(rest, row.values[i].emplace()) || (is_text && !take(rest, "\""))) return std::nullopt;
    }
    return rest == "}" ? std::optional(row) : std::nullopt;
  }

  std::vector<std::string> columns_;
  std::vector<Row> rows_{};
};

/// A Log in a file, to which each row is appended at once: CSV or, if the file's name ends in .jsonl, JSON lines. A run that goes
/// on keeps the rows up to its last checkpoint, and the file has no step twice:
///
///     tw::train::LogFile log("run1/log.csv", {"loss"}, task.steps());
///     log.add(progress.step, {{"loss", progress.loss}});
class LogFile {
 public:
  /// Opens the file, cuts the rows after `last_step`, and creates it if there is none. A run from the beginning gives 0. Throws
  /// std::runtime_error for a file that is no log with these columns, and for one that cannot be written; std::invalid_argument
  /// for names that a Log does not take.
  LogFile(std::filesystem::path path, std::vector<std::string> columns, std::uint64_t last_step)
      : path_(std::move(path)), log_(Log::read(path_, std::move(columns), last_step)) {
    Log::replace(path_, is_json() ? log_.to_json_lines() : log_.to_csv());
    file_.open(path_, std::ios::binary | std::ios::app);
  }

  /// Appends the numbers of a step. Throws the exceptions of Log::add, and std::runtime_error if the file cannot be written.
  void add(std::uint64_t step, std::initializer_list<Log::Entry> numbers) {
    if (!(file_ << log_.line_of(log_.add(step, numbers), is_json()) << std::flush))
      Log::fail(path_, "a file that cannot be written", "a writable one");
  }
  /// Returns all rows of the file.
  const Log& log() const { return log_; }

 private:
  bool is_json() const { return Log::is_json_lines(path_); }

  std::filesystem::path path_;
  Log log_;
  std::ofstream file_;
};

}  // namespace tilewright::train
