#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/profile/json_text.hpp"

namespace tilewright::detail {

/// Writes the events of one process of a trace. Times are in microseconds.
class TraceEvents {
 public:
  TraceEvents(JsonText& json, int process) : json_(json), process_(process) {}

  void name_process(std::string_view text) { name("process_name", 0, text); }
  void name_thread(int thread, std::string_view text) { name("thread_name", thread, text); }
  void counter(std::string_view event, double time, std::string_view unit, std::int64_t value) {
    begin("C", event, 0);
    json_.member("ts", time).key("args").begin_object().member(unit, value);
    end();
  }
  /// Writes an event of a thread from `time` on. `arguments(json)` writes members that are shown with it.
  void slice(std::string_view event, int thread, std::string_view category, double time, double duration, const auto& arguments) {
    begin("X", event, thread);
    json_.member("cat", category).member("ts", time).member("dur", duration).key("args").begin_object();
    arguments(json_);
    end();
  }

 private:
  void name(std::string_view what, int thread, std::string_view text) {
    begin("M", what, thread);
    json_.key("args").begin_object().member("name", text);
    end();
  }
  void begin(std::string_view phase, std::string_view event, int thread) {
    json_.begin_object().member("ph", phase).member("name", event).member("pid", process_).member("tid", thread);
  }
  void end() { json_.end_object().end_object().line(); }

  JsonText& json_;
  int process_;
};

/// Returns a trace that ui.perfetto.dev and chrome://tracing open. `write(json)` writes its events.
inline std::string trace_text(const auto& write) {
  JsonText json;
  json.begin_object().member("displayTimeUnit", "ns").key("traceEvents").begin_array().line();
  write(json);
  json.end_array().end_object();
  return json.text() + '\n';
}

}  // namespace tilewright::detail
