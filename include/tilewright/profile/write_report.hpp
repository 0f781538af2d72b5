#pragma once
#include "tilewright/core/requirements.hpp"

#include <array>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>

#include "tilewright/profile/json_text.hpp"
#include "tilewright/profile/log_page.hpp"
#include "tilewright/profile/profile.hpp"
#include "tilewright/profile/profile_json.hpp"
#include "tilewright/profile/profile_trace.hpp"
#include "tilewright/profile/report_page.hpp"
#include "tilewright/profile/text_file.hpp"
#include "tilewright/train/log.hpp"

namespace tilewright {

namespace detail {
inline std::string profiles_to_json(std::span<const Profile> profiles, const train::Log* log) {
  JsonText json;
  if (profiles.size() == 1) {
    write_profile(json, profiles[0], log);
    return json.text() + '\n';
  }
  json.begin_array();
  for (const Profile& profile : profiles) write_profile(json, profile);
  return json.end_array().text() + '\n';
}

inline void write_report(std::filesystem::path path, std::span<const Profile> profiles, const train::Log* log = nullptr) {
  if (path.extension() == ".html") path.replace_extension();
  const auto file = [&](const char* ending) { return std::filesystem::path(path) += ending; };
  const std::string json = profiles_to_json(profiles, log);
  write_text("write_report", file(".json"), json);
  write_text("write_report", file(".trace.json"), profile_to_trace(profiles));
  write_text("write_report", file(".html"), report_page(json));
}
}  // namespace detail

/// Writes a profile to three files: `path`.html, a page that any browser shows; `path`.trace.json, for ui.perfetto.dev;
/// `path`.json, the data. A suffix .html of `path` is removed first. Throws std::filesystem::filesystem_error.
///
///     tw::write_report("mnist", session.profile());
inline void write_report(const std::filesystem::path& path, const Profile& profile) { detail::write_report(path, {&profile, 1}); }
/// Writes profiles side by side to `path`.html, `path`.trace.json and `path`.json, such as those of several targets. The JSON is
/// a list of all, or the object of a single one. Differences are those of the second against the first. Throws
/// std::invalid_argument without a profile, and std::filesystem::filesystem_error.
inline void write_report(const std::filesystem::path& path, std::span<const Profile> profiles) {
  if (profiles.empty()) throw std::invalid_argument("write_report: no profiles: at least one expected");
  detail::write_report(path, profiles);
}
/// Writes two profiles side by side, such as those before and after a change.
inline void write_report(const std::filesystem::path& path, const Profile& profile, const Profile& other) {
  detail::write_report(path, std::array{profile, other});
}
/// Writes a profile to the same three files, with the curves of a training log as a section of the page, and its charts as the
/// member `log` of the JSON. Throws std::filesystem::filesystem_error.
inline void write_report(const std::filesystem::path& path, const Profile& profile, const train::Log& log) {
  detail::write_report(path, {&profile, 1}, &log);
}

/// Writes the curves of a training log to two files: `path`.html, a page that any browser shows, and `path`.jsonl, the rows as
/// JSON lines. Columns whose names end with the same words, such as `training_loss` and `validation_loss`, share a chart. A
/// suffix .html of `path` is removed first. Throws std::filesystem::filesystem_error.
///
///     tw::write_report("run1/report", log);
inline void write_report(std::filesystem::path path, const train::Log& log) {
  if (path.extension() == ".html") path.replace_extension();
  detail::write_text("write_report", std::filesystem::path(path) += ".jsonl", log.to_json_lines());
  detail::write_text("write_report", std::filesystem::path(path) += ".html", detail::log_page(path.filename().string(), log));
}

}  // namespace tilewright
