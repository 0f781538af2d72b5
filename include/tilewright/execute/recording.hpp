#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// A timeline of what the workers of a session did in its runs, see SessionOptions::recorded_events. Plain data; write_recording
/// turns it into a trace. Times are nanoseconds of the steady clock since the session was created.
///
///     tw::Session<train_step> session({.threads = 2, .recorded_events = 100'000});
///     session.run("image"_s = images, "label"_s = labels);
///     tw::write_recording("mnist", session.recording("mnist"));
struct Recording {
  /// Activity of a worker in an event. Events of a worker do not overlap. The time between events is the overhead of walking
  /// through the steps and of recording.
  enum class Kind : std::uint8_t {
    start,  ///< waits from the start of the run until it starts to work
    compute,  ///< computes vertices of a step
    collective,  ///< computes its share of a step that combines replicas
    barrier,  ///< waits for other workers before a step
    end  ///< waits for other workers at the end of the run
  };
  /// Names by Kind, as in files
  static constexpr const char* kind_names[] = {"start", "compute", "collective", "barrier", "end"};

  struct Event {
    std::int64_t begin = 0, end = 0;
    std::int64_t parts = 0;  ///< vertices computed, or pieces of them, or items of a collective; 0 for other kinds
    int step = -1;  ///< index in `steps`; of a barrier, the step after it; -1: the whole run
    int run = 0;  ///< index in `runs`
    int worker = 0;  ///< 0: the thread that called run
    Kind kind = Kind::start;
  };
  struct Run {
    std::int64_t begin = 0, end = 0;
    int threads = 1;
    int body = 0;  ///< index of a body of the plan; 0 is the program, others run at uploads and downloads of variables
    bool failed = false;  ///< whether an exception ended it
  };
  /// A step of the plan.
  struct Step {
    std::string label;  ///< ops of the step, as print_plan shows them, or call, loop, conditional or code
    int compute_set = -1;  ///< number of its code in the plan: steps with one number run the same code; -1: no code
    std::int64_t parts = 0;  ///< vertices of a replica, or all their pieces, or items of a collective
  };

  std::string program;  ///< name of the program
  std::vector<Step> steps;  ///< all steps of the plan, by their index
  std::vector<Run> runs;  ///< complete runs only
  std::vector<Event> events;  ///< events of worker 0 by time, then those of worker 1, and so on
  std::int64_t room = 0;  ///< capacity in events for each worker; 0: nothing is recorded
  std::int64_t left_out_runs = 0;  ///< runs whose events exceeded the capacity; none of their events is kept
  std::int64_t left_out_events = 0;  ///< events of these runs, of all workers
};

}  // namespace tilewright
