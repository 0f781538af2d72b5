#pragma once
#include <filesystem>
#include <string>

#include "tilewright/execute/recording.hpp"
#include "tilewright/profile/recording_json.hpp"
#include "tilewright/profile/recording_page.hpp"
#include "tilewright/profile/text_file.hpp"

namespace tilewright {

/// Writes a recording to two files: `path`.html, a page with the timeline of each run that any browser shows; and `path`.json,
/// the data. A suffix .html of `path` is removed first. Throws std::filesystem::filesystem_error.
///
///     tw::write_recording("mnist", session.recording("mnist"));
inline void write_recording(std::filesystem::path path, const Recording& recording) {
  if (path.extension() == ".html") path.replace_extension();
  const std::string json = recording_to_json(recording);
  detail::write_text("write_recording", std::filesystem::path(path) += ".json", json);
  detail::write_text("write_recording", std::filesystem::path(path) += ".html", detail::recording_page(json));
}

}  // namespace tilewright
