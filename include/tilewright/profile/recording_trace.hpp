#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "tilewright/execute/recording.hpp"
#include "tilewright/profile/json_text.hpp"
#include "tilewright/profile/trace_events.hpp"

namespace tilewright {

namespace detail {
inline double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

inline bool waits(Recording::Kind kind) { return kind != Recording::Kind::compute && kind != Recording::Kind::collective; }

inline std::string process_name(const Recording& recording) {
  std::string name = recording.program.empty() ? "recording" : recording.program;
  const std::int64_t runs = recording.left_out_runs;
  if (runs == 1) name += ", without 1 run that had no room for its events";
  if (runs > 1) name += ", without " + std::to_string(runs) + " runs that had no room for their events";
  return name;
}

/// A track of all runs, which is thread 0, then one of each worker.
inline void write_trace(JsonText& json, const Recording& recording) {
  TraceEvents events(json, 1);
  events.name_process(process_name(recording));
  events.name_thread(0, "runs");
  int workers = 0;
  for (std::size_t i = 0; i < recording.runs.size(); ++i) {
    const Recording::Run& run = recording.runs[i];
    events.slice(
        "run " + std::to_string(i), 0, "run", microseconds(run.begin), microseconds(run.end - run.begin),
        [&](JsonText& args) { args.member("threads", run.threads).member("body", run.body).member("failed", run.failed); });
    for (; workers < run.threads; ++workers) events.name_thread(workers + 1, "worker " + std::to_string(workers));
  }
  for (const Recording::Event& event : recording.events) {
    const std::string kind = Recording::kind_names[static_cast<std::size_t>(event.kind)];
    const std::string name = waits(event.kind) ? "wait: " + kind : recording.steps[static_cast<std::size_t>(event.step)].label;
    events.slice(name, event.worker + 1, kind, microseconds(event.begin), microseconds(event.end - event.begin),
                 [&](JsonText& args) { args.member("run", event.run).member("step", event.step).member("parts", event.parts); });
  }
}
}  // namespace detail

/// Returns a recording as trace events, which ui.perfetto.dev and chrome://tracing open: a track of the runs, and one of each
/// worker, whose slices are named after the steps that it computes, or `wait: ` and the kind of a wait. Times are in
/// microseconds.
[[nodiscard]] inline std::string recording_to_trace(const Recording& recording) {
  return detail::trace_text([&](detail::JsonText& json) { detail::write_trace(json, recording); });
}

}  // namespace tilewright
