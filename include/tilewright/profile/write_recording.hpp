#pragma once
#include <filesystem>

#include "tilewright/execute/recording.hpp"
#include "tilewright/profile/recording_json.hpp"
#include "tilewright/profile/recording_trace.hpp"
#include "tilewright/profile/text_file.hpp"

namespace tilewright {

/// Writes a recording to two files: `path`.trace.json, for ui.perfetto.dev and chrome://tracing; `path`.json, the data. A suffix
/// .html of `path` is removed first. Throws std::filesystem::filesystem_error.
///
///     tw::write_recording("mnist", session.recording("mnist"));
inline void write_recording(std::filesystem::path path, const Recording& recording) {
  if (path.extension() == ".html") path.replace_extension();
  detail::write_text("write_recording", std::filesystem::path(path) += ".trace.json", recording_to_trace(recording));
  detail::write_text("write_recording", std::filesystem::path(path) += ".json", recording_to_json(recording));
}

}  // namespace tilewright
