#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/profile/json_text.hpp"
#include "tilewright/profile/profile.hpp"
#include "tilewright/profile/profile_json.hpp"

namespace tilewright::detail {

/// A track of the trace: the activity of one part of the machine.
struct TraceTrack {
  std::string_view name;
  std::int64_t Profile::Step::* cycles;
};
/// Tracks in the order of the phases of a step: tiles synchronise, get their operands, and compute.
inline constexpr TraceTrack trace_tracks[] = {
    {"sync", &Profile::Step::sync},       {"host", &Profile::Step::host},
    {"remote", &Profile::Step::remote},   {"collective", &Profile::Step::collective},
    {"links", &Profile::Step::links},     {"exchange", &Profile::Step::exchange},
    {"compute", &Profile::Step::compute},
};

/// Writes the events of a profile, with the process number `process`.
class TraceWriter {
 public:
  TraceWriter(JsonText& json, const Profile& profile, int process) : json_(json), profile_(profile), process_(process) {}

  void write() {
    name("process_name", 0, profile_.program + " on " + profile_.target);
    int thread = 0;
    for (const TraceTrack& track : trace_tracks) name("thread_name", ++thread, track.name);
    std::int64_t cycle = 0;
    for (const Profile::Step& step : profile_.steps) {
      counter(cycle, step.live_bytes);
      thread = 0;
      for (const TraceTrack& track : trace_tracks) {
        const std::int64_t cycles = step.times * step.*track.cycles;
        if (++thread; cycles == 0) continue;
        slice(step, thread, track.name, cycle, cycles);
        cycle += cycles;
      }
    }
    counter(cycle, 0);
  }

 private:
  double microseconds(std::int64_t cycles) const {
    return profile_.clock_hz > 0 ? static_cast<double>(cycles) * 1e6 / static_cast<double>(profile_.clock_hz) : 0;
  }
  void begin(std::string_view phase, std::string_view event, int thread) {
    json_.begin_object().member("ph", phase).member("name", event).member("pid", process_).member("tid", thread);
  }
  void name(std::string_view event, int thread, std::string_view text) {
    begin("M", event, thread);
    json_.key("args").begin_object().member("name", text).end_object().end_object().line();
  }
  void counter(std::int64_t cycle, std::int64_t bytes) {
    begin("C", "live bytes on the fullest tile", 0);
    json_.member("ts", microseconds(cycle)).key("args").begin_object().member("bytes", bytes).end_object();
    json_.end_object().line();
  }
  void slice(const Profile::Step& step, int thread, std::string_view track, std::int64_t cycle, std::int64_t cycles) {
    begin("X", step.label.empty() ? step.kind : step.label, thread);
    json_.member("cat", track).member("ts", microseconds(cycle)).member("dur", microseconds(cycles));
    json_.key("args").begin_object().member("step", &step - profile_.steps.data());
    json_.member("ops", step.label).member("module", step.module).member("kind", step.kind).member("balance", step.balance);
    for_each_count(step, [&](const char* count, std::int64_t value) { json_.member(count, value); });
    json_.end_object().end_object().line();
  }

  JsonText& json_;
  const Profile& profile_;
  int process_;
};

}  // namespace tilewright::detail

namespace tilewright {

/// Returns a run as trace events, which ui.perfetto.dev and chrome://tracing open: tracks for sync, host, streaming memory,
/// collectives, links, exchange and compute, in microseconds at the target's clock, and the live bytes of the fullest tile. All
/// executions of a step form one slice with the sum of their cycles. A second profile is a second process.
[[nodiscard]] inline std::string profile_to_trace(const Profile& profile, const Profile* other = nullptr) {
  detail::JsonText json;
  json.begin_object().member("displayTimeUnit", "ns").key("traceEvents").begin_array().line();
  detail::TraceWriter(json, profile, 1).write();
  if (other) detail::TraceWriter(json, *other, 2).write();
  json.end_array().end_object();
  return json.text() + '\n';
}

}  // namespace tilewright
