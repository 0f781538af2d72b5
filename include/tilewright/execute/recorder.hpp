#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tilewright/core/list.hpp"
#include "tilewright/core/log/logger.hpp"
#include "tilewright/core/memory/owned.hpp"
#include "tilewright/core/memory/with_memory.hpp"
#include "tilewright/execute/aligned_memory.hpp"
#include "tilewright/execute/memory_error.hpp"
#include "tilewright/execute/recording.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

/// Records when workers begin and end activities, in memory that the constructor allocates. Each worker writes to separate
/// memory. A run whose events do not all fit is counted and dropped. Functions are marked cold: the compiler then places their
/// code apart from that of the program, which usually records nothing.
class Recorder {
 public:
  using Kind = Recording::Kind;
  static constexpr std::int64_t most_room = std::int64_t{1} << 24;

  /// Returns a recorder, or null for a capacity of 0 events. Throws std::invalid_argument for a negative capacity and for more
  /// than most_room; MemoryError.
  [[gnu::cold]] static Owned<Recorder> of(std::int64_t room, int workers, const Step* first_step) {
    if (room < 0 || room > most_room)
      throw std::invalid_argument("recorded_events: " + std::to_string(room) + ": a number from 0 to " +
                                  std::to_string(most_room) + " expected");
    return Owned<Recorder>(room == 0 ? nullptr : new Recorder(room, workers, first_step));
  }
  [[gnu::cold]] Recorder(std::int64_t room, int workers, const Step* first_step)
      : room_(room),
        first_step_(first_step),
        own_(static_cast<std::size_t>(workers)),
        memory_(workers * bytes_of(room), "recorded events") {
    const auto runs = static_cast<std::size_t>(room / 2 + 1);  // a run has two events of worker 0, or more
    with_memory([&] { runs_.reserve(runs); }, "recorded runs", runs * sizeof(Recording::Run));
    for (std::size_t worker = 0; worker < own_.size(); ++worker)
      own_[worker].events = reinterpret_cast<Recording::Event*>(memory_.data() +
                                                                static_cast<std::int64_t>(worker) * bytes_of(room));
  }

  [[gnu::cold]] void begin_run(int body, int threads) {
    for (Own& own : own_) own.before = own.count;
    run_ = {now(), 0, threads, body, false};
  }
  /// Ends a run. No worker may be in the run any more. Drops a run that no worker entered, which happens in a child process.
  [[gnu::cold]] void end_run(bool failed, const Logger& logger) {
    if (of(0).count == of(0).before) return;
    run_.end = now();
    run_.failed = failed;
    bool fits = true;
    for (int worker = 0; worker < run_.threads; ++worker) {
      write(worker, Kind::end, -1, 0, of(worker).left, run_.end);
      fits = fits && of(worker).count <= room_;
    }
    if (fits) return runs_.push_back(run_);
    if (left_out_runs_++ == 0)
      logger.of(LogModule::recording)
          .write(LogLevel::warn, "recorded_events: no room in ", room_, " events of a worker: this run is left out");
    for (Own& own : own_) {
      left_out_events_ += own.count - own.before;
      own.count = own.before;
    }
  }
  [[gnu::cold]] void enter(int worker) { write(worker, Kind::start, -1, 0, run_.begin, now()); }
  [[gnu::cold]] void leave(int worker) { of(worker).left = now(); }

  /// Records an activity of a worker until the end of the block, or until an exception leaves it.
  class Span {
   public:
    Span(Recorder& recorder, int worker, Kind kind, const Step& step, std::int64_t parts)
        : recorder_(recorder), step_(step), parts_(parts), begin_(recorder.now()), worker_(worker), kind_(kind) {}
    ~Span() {
      recorder_.write(worker_, kind_, static_cast<int>(&step_ - recorder_.first_step_), parts_, begin_, recorder_.now());
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    Recorder& recorder_;
    const Step& step_;
    std::int64_t parts_, begin_;
    int worker_;
    Kind kind_;
  };

  /// Drops all runs, and the counts of dropped ones.
  void clear() {
    for (Own& own : own_) own.count = 0;
    runs_.clear();
    left_out_runs_ = left_out_events_ = 0;
  }
  /// Returns the recording without the names of the program and its steps. Throws MemoryError.
  [[gnu::cold]] Recording recording() const {
    Recording result;
    std::size_t count = 0;
    for (const Own& own : own_) count += static_cast<std::size_t>(own.count);
    const std::size_t bytes = runs_.size() * sizeof(Recording::Run) + count * sizeof(Recording::Event);
    with_memory([&] { result.runs = runs_, result.events.reserve(count); }, "a recording", bytes);
    for (const Own& own : own_) result.events.insert(result.events.end(), own.events, own.events + own.count);
    result.room = room_;
    result.left_out_runs = left_out_runs_;
    result.left_out_events = left_out_events_;
    return result;
  }

 private:
  static void with_memory(const auto& make, const char* purpose, std::size_t bytes) {
    tilewright::detail::with_memory(bytes, make, [&] { return MemoryError(purpose, static_cast<std::int64_t>(bytes)); });
  }
  struct alignas(64) Own {
    Recording::Event* events = nullptr;
    std::int64_t count = 0;  // of all runs; more than the room: in a run that is to be left out
    std::int64_t before = 0;  // count, when the run began
    std::int64_t left = 0;  // when the worker came to the end of the run
  };
  static constexpr std::int64_t bytes_of(std::int64_t room) {  // in pages: no two workers write to one
    return (room * static_cast<std::int64_t>(sizeof(Recording::Event)) + 4095) / 4096 * 4096;
  }
  Own& of(int worker) { return own_[static_cast<std::size_t>(worker)]; }
  [[gnu::cold, gnu::noinline]] std::int64_t now() const {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - origin_).count();
  }
  [[gnu::cold, gnu::noinline]] void write(int worker, Kind kind, int step, std::int64_t parts, std::int64_t begin,
                                          std::int64_t end) {
    Own& own = of(worker);
    if (own.count < room_) own.events[own.count] = {begin, end, parts, step, static_cast<int>(runs_.size()), worker, kind};
    ++own.count;
  }

  std::int64_t room_;
  const Step* first_step_;
  std::chrono::steady_clock::time_point origin_ = std::chrono::steady_clock::now();
  List<Own> own_;  // by worker
  AlignedMemory memory_;
  std::vector<Recording::Run> runs_;
  Recording::Run run_;  // that is under way
  std::int64_t left_out_runs_ = 0, left_out_events_ = 0;
};

/// Calls f, a worker's activity for a step, and records it if there is a recorder.
template <class F>
inline void recorded(Recorder* recorder, int worker, Recording::Kind kind, const Step& step, std::int64_t parts, const F& f) {
  if (recorder == nullptr) [[likely]]
    return f();
  const Recorder::Span span(*recorder, worker, kind, step, parts);
  f();
}

/// Records a worker's stay in a run until the end of the block.
class RecordedStay {
 public:
  RecordedStay(Recorder* recorder, int worker) : recorder_(recorder), worker_(worker) {
    if (recorder_) recorder_->enter(worker_);
  }
  ~RecordedStay() {
    if (recorder_) recorder_->leave(worker_);
  }
  RecordedStay(const RecordedStay&) = delete;
  RecordedStay& operator=(const RecordedStay&) = delete;

 private:
  Recorder* recorder_;
  int worker_;
};

}  // namespace tilewright::internal
