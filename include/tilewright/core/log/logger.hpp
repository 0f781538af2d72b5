#pragma once
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tilewright/core/log/log_levels.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/core/text.hpp"

namespace tilewright {

/// Writes lines of at least a level to one destination. Copies share the destination.
class Logger {
 public:
  /// Writes nothing.
  Logger() = default;
  /// Writes to "stdout", "stderr" or the end of a file, which is created if it is missing. Throws std::runtime_error if the file
  /// cannot be opened. Lines name the rank of a process, unless it is -1.
  Logger(LogLevel least, const char* destination, int rank = -1) : Logger(LogLevels(least), destination, rank) {}
  /// Writes lines of each module of at least the module's level. A new logger writes lines of LogModule::session.
  Logger(const LogLevels& levels, const char* destination, int rank = -1)
      : levels_(levels), least_(levels[LogModule::session]), rank_(rank) {
    if (levels.are_off()) return;
    if (std::strcmp(destination, "stderr") == 0) file_ = {stderr, [](std::FILE*) {}};
    else if (std::strcmp(destination, "stdout") == 0) file_ = {stdout, [](std::FILE*) {}};
    else if (std::FILE* const file = std::fopen(destination, "a")) file_ = {file, [](std::FILE* opened) { std::fclose(opened); }};
    else throw std::runtime_error(text("TILEWRIGHT_LOG_DEST: cannot write '", destination, "'").string());
  }
  /// Returns a logger as TILEWRIGHT_LOG_LEVEL and TILEWRIGHT_LOG_DEST currently say; WARN and stderr if they are unset or empty.
  /// Throws what levels_from_environment throws, and std::runtime_error for a destination that cannot be opened.
  static Logger from_environment(int rank = -1) {
    return {levels_from_environment(), variable("TILEWRIGHT_LOG_DEST", "stderr"), rank};
  }
  /// Returns levels as TILEWRIGHT_LOG_LEVEL currently says; WARN if it is unset or empty. TILEWRIGHT_LOG_CONFIG sets levels of
  /// modules: it has `module=LEVEL` lines, or is the name of a file with such lines. Throws std::invalid_argument for an unknown
  /// level or module, std::runtime_error for a file that cannot be opened.
  static LogLevels levels_from_environment() {
    const std::string_view name = variable("TILEWRIGHT_LOG_LEVEL", "WARN");
    const auto level = parse_log_level(name);
    if (!level)
      throw std::invalid_argument(
          text("TILEWRIGHT_LOG_LEVEL: '", name, "': one of TRACE, DEBUG, INFO, WARN, ERROR, OFF expected").string());
    LogLevels levels(*level);
    levels.configure(variable("TILEWRIGHT_LOG_CONFIG", ""));
    return levels;
  }
  /// Returns a logger for lines of a module, with the same destination.
  Logger of(LogModule module) const {
    Logger result = *this;
    result.least_ = levels_[module];
    return result;
  }

  bool shows(LogLevel level) const { return level >= least_; }
  bool shows(LogModule module, LogLevel level) const { return level >= levels_[module]; }

  /// Writes one line: "tilewright LEVEL: ", or "tilewright LEVEL: rank 1: ", then the pieces, which are strings and integers, and
  /// a newline. The line is written at once, so lines of several threads do not mix. Allocates nothing; cuts a line off after 511
  /// characters.
  template <class... Pieces>
  void write(LogLevel level, const Pieces&... pieces) const {
    if (!shows(level)) [[likely]]
      return;
    const Piece all[] = {Piece(pieces)...};
    write_line(level, all);
  }

 private:
  /// A string, or a number.
  struct Piece {
    Piece(std::string_view text) : characters(text) {}
    Piece(std::integral auto value) : number(static_cast<std::int64_t>(value)) {}
    std::string_view characters{};
    std::optional<std::int64_t> number{};
  };
  /// Writes a line. Neither a template nor inlined, because a rarely called function should compile quickly.
  [[gnu::noinline]] void write_line(LogLevel level, Span<const Piece> pieces) const {
    char line[512];
    std::size_t size = 0;
    const auto add = [&](std::string_view characters) { size += characters.copy(line + size, sizeof line - 1 - size); };
    const auto add_piece = [&](const Piece& piece) {
      char digits[24];
      if (piece.number) std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(*piece.number));
      add(piece.number ? std::string_view(digits) : piece.characters);
    };
    add("tilewright ");
    add(log_level_names[static_cast<std::size_t>(level)]);
    add(": ");
    if (rank_ >= 0)
      for (const Piece& piece : {Piece("rank "), Piece(rank_), Piece(": ")}) add_piece(piece);
    for (const Piece& piece : pieces) add_piece(piece);
    line[size++] = '\n';
    std::fwrite(line, 1, size, file_.get());
    std::fflush(file_.get());
  }

  static const char* variable(const char* name, const char* otherwise) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
  }

  LogLevels levels_{LogLevel::off};
  LogLevel least_ = LogLevel::off;  // of the module whose lines it writes
  int rank_ = -1;
  std::shared_ptr<std::FILE> file_;
};

}  // namespace tilewright
