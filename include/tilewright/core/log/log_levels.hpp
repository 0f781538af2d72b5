#pragma once
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tilewright/core/log/log_level.hpp"
#include "tilewright/core/text.hpp"

namespace tilewright {

/// Names of the levels in TILEWRIGHT_LOG_LEVEL.
inline constexpr std::array<std::string_view, 6> log_level_names{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF"};

constexpr std::optional<LogLevel> parse_log_level(std::string_view name) {
  for (std::size_t level = 0; level < log_level_names.size(); ++level)
    if (log_level_names[level] == name) return static_cast<LogLevel>(level);
  return std::nullopt;
}

/// Part of the library whose log lines can have a level of their own.
enum class LogModule : unsigned char {
  session,      ///< the plan of each session; a program without optimisation
  threads,      ///< decisions about the number of threads
  runs,         ///< the time of each run
  recording,    ///< recordings that leave a run out
  distributed,  ///< collectives between processes
  figures,      ///< lines that log_figures() of a session writes
  prints        ///< texts of print_tensor and print_text with a level
};

/// Names of the modules in TILEWRIGHT_LOG_CONFIG.
inline constexpr std::array<std::string_view, 7> log_module_names{"session",     "threads", "runs",  "recording",
                                                                  "distributed", "figures", "prints"};

/// The level of each module's log lines.
class LogLevels {
 public:
  /// Gives all modules one level.
  constexpr explicit LogLevels(LogLevel level) { levels_.fill(level); }
  constexpr LogLevel operator[](LogModule module) const { return levels_[static_cast<std::size_t>(module)]; }
  /// Returns whether no module writes lines.
  constexpr bool are_off() const {
    for (const LogLevel level : levels_)
      if (level != LogLevel::off) return false;
    return true;
  }
  /// Sets levels from `module=LEVEL` lines. A line ends at a line break or a comma. Spaces, empty lines and lines that begin with
  /// `#` are skipped; the last line of a module counts. Throws std::invalid_argument for any other line.
  constexpr void set(std::string_view lines) {
    while (!(lines = without_spaces(lines)).empty()) {
      const std::size_t end = lines.front() == '#' ? lines.find('\n') : lines.find_first_of("\n,");
      if (lines.front() != '#') set_line(without_spaces(lines.substr(0, end)));
      lines.remove_prefix(end == lines.npos ? lines.size() : end + 1);
    }
  }
  /// Sets levels from lines if the text has a `=`; otherwise from the file of this name. Does nothing for an empty text. Throws
  /// what `set` throws, and std::runtime_error if the file cannot be read.
  void configure(const std::string& lines_or_file) {
    if (lines_or_file.empty() || lines_or_file.find('=') != lines_or_file.npos) set(lines_or_file);
    else set(content_of(lines_or_file));
  }

 private:
  static constexpr std::string_view without_spaces(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n,"), last = text.find_last_not_of(" \t\r");
    return first == text.npos ? std::string_view() : text.substr(first, last + 1 - first);
  }
  constexpr void set_line(std::string_view line) {
    const std::size_t equals = line.find('=');
    const auto level = parse_log_level(equals == line.npos ? "" : without_spaces(line.substr(equals + 1)));
    const std::string_view name = without_spaces(line.substr(0, equals));
    for (std::size_t module = 0; level && module < levels_.size(); ++module)
      if (log_module_names[module] == name) {
        levels_[module] = *level;
        return;
      }
    throw_wrong_line(line);
  }
  [[noreturn, gnu::noinline, gnu::cold]] static void throw_wrong_line(std::string_view line) {
    Text message = text("TILEWRIGHT_LOG_CONFIG: '", line, "': module=LEVEL expected, with one of the modules");
    for (const std::string_view name : log_module_names) (message += " ") += name;
    message += " and one of the levels";
    for (const std::string_view name : log_level_names) (message += " ") += name;
    throw std::invalid_argument(message.string());
  }
  struct FileToRead {
    std::FILE* handle;
    ~FileToRead() {
      if (handle) std::fclose(handle);
    }
  };
  [[gnu::noinline, gnu::cold]] static std::string content_of(const std::string& name) {
    const FileToRead file{std::fopen(name.c_str(), "r")};
    std::string content;
    char part[512];
    for (std::size_t size = 1; file.handle && size > 0; content.append(part, size))
      size = std::fread(part, 1, sizeof part, file.handle);
    if (!file.handle || std::ferror(file.handle))
      throw std::runtime_error(
          text("TILEWRIGHT_LOG_CONFIG: '", name, "': module=LEVEL lines or a file that can be read expected").string());
    return content;
  }

  std::array<LogLevel, log_module_names.size()> levels_{};
};

}  // namespace tilewright
