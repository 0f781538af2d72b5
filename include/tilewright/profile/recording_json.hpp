#pragma once
#include <string>

#include "tilewright/execute/recording.hpp"
#include "tilewright/profile/json_text.hpp"

namespace tilewright {

/// Returns a recording as JSON: an object with the members of Recording by their names. An event is a list: worker, run, step,
/// index in `kinds`, begin, end, parts.
[[nodiscard]] inline std::string recording_to_json(const Recording& recording) {
  detail::JsonText json;
  json.begin_object().member("format", "tilewright recording").member("version", 1).member("program", recording.program);
  json.member("room", recording.room).member("left_out_runs", recording.left_out_runs);
  json.member("left_out_events", recording.left_out_events).key("kinds").begin_array();
  for (const char* const kind : Recording::kind_names) json.value(kind);
  json.end_array().line().key("steps").begin_array();
  for (const Recording::Step& step : recording.steps) {
    json.begin_object().member("label", step.label).member("compute_set", step.compute_set).member("parts", step.parts);
    json.end_object().line();
  }
  json.end_array().key("runs").begin_array();
  for (const Recording::Run& run : recording.runs) {
    json.begin_object().member("begin", run.begin).member("end", run.end).member("threads", run.threads);
    json.member("body", run.body).member("failed", run.failed).end_object().line();
  }
  json.end_array().key("events").begin_array();
  for (const Recording::Event& event : recording.events) {
    json.begin_array().value(event.worker).value(event.run).value(event.step).value(static_cast<int>(event.kind));
    json.value(event.begin).value(event.end).value(event.parts).end_array().line();
  }
  json.end_array().end_object();
  return json.text() + '\n';
}

}  // namespace tilewright
