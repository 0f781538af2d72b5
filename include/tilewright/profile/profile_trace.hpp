#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tilewright/profile/json_text.hpp"
#include "tilewright/profile/profile.hpp"
#include "tilewright/profile/profile_json.hpp"
#include "tilewright/profile/trace_events.hpp"

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
inline void write_trace(JsonText& json, const Profile& profile, int process) {
  TraceEvents events(json, process);
  events.name_process(profile.program + " on " + profile.target);
  int thread = 0;
  for (const TraceTrack& track : trace_tracks) events.name_thread(++thread, track.name);
  const auto microseconds = [&](std::int64_t cycles) {
    return profile.clock_hz > 0 ? static_cast<double>(cycles) * 1e6 / static_cast<double>(profile.clock_hz) : 0;
  };
  std::int64_t cycle = 0;
  const auto count_bytes = [&](std::int64_t bytes) {
    events.counter("live bytes on the fullest tile", microseconds(cycle), "bytes", bytes);
  };
  for (const Profile::Step& step : profile.steps) {
    const auto arguments = [&](JsonText& args) {
      args.member("step", &step - profile.steps.data());
      args.member("ops", step.label).member("module", step.module).member("kind", step.kind).member("balance", step.balance);
      for_each_count(step, [&](const char* count, std::int64_t value) { args.member(count, value); });
    };
    count_bytes(step.live_bytes);
    thread = 0;
    for (const TraceTrack& track : trace_tracks) {
      const std::int64_t cycles = step.times * step.*track.cycles;
      if (++thread; cycles == 0) continue;
      events.slice(step.label.empty() ? step.kind : step.label, thread, track.name, microseconds(cycle), microseconds(cycles),
                   arguments);
      cycle += cycles;
    }
  }
  count_bytes(0);
}

}  // namespace tilewright::detail

namespace tilewright {

/// Returns a run as trace events, which ui.perfetto.dev and chrome://tracing open: tracks for sync, host, streaming memory,
/// collectives, links, exchange and compute, in microseconds at the target's clock, and the live bytes of the fullest tile. All
/// executions of a step form one slice with the sum of their cycles. Each profile is a process.
[[nodiscard]] inline std::string profile_to_trace(std::span<const Profile> profiles) {
  return detail::trace_text([&](detail::JsonText& json) {
    for (std::size_t p = 0; p < profiles.size(); ++p) detail::write_trace(json, profiles[p], static_cast<int>(p) + 1);
  });
}
[[nodiscard]] inline std::string profile_to_trace(const Profile& profile) { return profile_to_trace(std::span(&profile, 1)); }

}  // namespace tilewright
