#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// What the workers of a session did in its runs, and when: see SessionOptions::recorded_events. Plain data; write_recording
/// makes a page of it. Times are nanoseconds of the steady clock since the session was made.
///
///     tw::Session<train_step> session({.threads = 2, .recorded_events = 100'000});
///     session.run("image"_s = images, "label"_s = labels);
///     tw::write_recording("mnist", session.recording("mnist"));
struct Recording {
  /// What a worker does in an event. Events of a worker do not overlap. What a run takes beside them is the walk through its
  /// steps and the recorder's own work.
  enum class Kind : std::uint8_t {
    start,       ///< waits from the begin of the run until it begins itself
    compute,     ///< computes vertices of a step
    collective,  ///< computes a share of a step that combines replicas
    barrier,     ///< waits for other workers before a step
    end          ///< waits for other workers at the end of the run
  };
  static constexpr const char* kind_names[] = {"start", "compute", "collective", "barrier", "end"};  ///< by Kind, as in files

  struct Event {
    std::int64_t begin = 0, end = 0;
    std::int64_t parts = 0;  ///< vertices that it computed, or pieces of them, or items of a collective; 0 for others
    int step = -1;           ///< index in `steps`, of a barrier the step after it; -1: the run as a whole
    int run = 0;             ///< index in `runs`
    int worker = 0;          ///< 0 is the thread that called run
    Kind kind = Kind::start;
  };
  struct Run {
    std::int64_t begin = 0, end = 0;
    int threads = 1;
    int body = 0;         ///< index of a body of the plan; 0 is the program, others run at uploads and downloads of variables
    bool failed = false;  ///< whether it ended by an exception
  };
  /// A step of the plan.
  struct Step {
    std::string label;       ///< its ops, as print_plan shows them; of others call, loop, conditional or code
    int compute_set = -1;    ///< its code in the plan: steps of one number run the same code; -1: a step without
    std::int64_t parts = 0;  ///< vertices of a replica, or all their pieces, or items of a collective
  };

  std::string program;        ///< name
  std::vector<Step> steps;    ///< all of the plan, by their index in it
  std::vector<Run> runs;      ///< only complete ones
  std::vector<Event> events;  ///< of worker 0 by time, then of worker 1, and so on
  std::int64_t room = 0;      ///< events of each worker for which there is memory; 0: nothing is recorded
  std::int64_t left_out_runs = 0;    ///< runs for whose events there was no room left; none of their events is kept
  std::int64_t left_out_events = 0;  ///< events of these runs, of all workers
};

}  // namespace tilewright
