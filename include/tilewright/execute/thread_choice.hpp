#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "tilewright/core/logger.hpp"

namespace tilewright::internal {

/// Finds the number of threads for a program by timing its runs. A trial tries one thread, then twice as many each time, up to
/// a limit, and keeps the fastest. A trial at the start may mislead, as idle cores need some time to wake, so it is soon made
/// again, then more and more seldom; later trials come after some seconds, because machines get busy or idle. When other programs
/// take cores away, threads wait for each other and a run can take ten times as long; so between trials runs of several threads
/// are watched, and are given up for fewer when those are found to be faster.
class ThreadChoice {
 public:
  using Duration = std::chrono::steady_clock::duration;

  /// A fixed number, or 0 to find one of up to `cores`. A fixed number above `cores` is taken, with a warning in the log; a
  /// negative one is a std::invalid_argument. What is decided is logged at level DEBUG. (`cores` is 0 where nobody knows.)
  explicit ThreadChoice(int threads, int cores = static_cast<int>(std::thread::hardware_concurrency()), Logger logger = {})
      : limit_(threads > 0 ? threads : std::max(1, cores)),
        best_(limit_),
        adapts_(threads <= 0 && limit_ > 1),
        logger_(std::move(logger)) {
    if (threads < 0)
      throw std::invalid_argument("threads: " + std::to_string(threads) +
                                  ": a number of threads, or 0 for the fastest number, expected");
    if (cores > 0 && threads > cores)
      logger_.write(LogLevel::warn, "threads: ", threads, " on ", cores, " cores: at most ", cores,
                    " expected, as every step waits for threads that wait for a core");
    if (adapts_) start_trial(limit_);
  }

  int limit() const { return limit_; }
  /// Whether the next run is to be timed, and measured() called, not counted().
  bool measuring() const { return trying_ || watching_; }
  /// The number of threads for the next run.
  int threads() const { return trying_ ? tried_ : best_; }

  /// Takes note of a run that was not timed.
  void counted() {
    if (adapts_) settled_run();
  }
  /// Takes the time of a run with threads().
  void measured(Duration time) {
    if (trying_) return trial_run(time);
    watched_time_ += time;
    ++watched_runs_;
    // compares the best time with fewer threads to a mean that includes stalls: only a clear difference counts
    const Duration slow = window * (fewer_time_ * 10 / 9);
    if (watched_time_ > slow || watched_runs_ == window) {
      slow_windows_ = watched_time_ > slow ? slow_windows_ + 1 : 0;
      const Duration mean = watched_time_ / watched_runs_;
      start_window();
      if (slow_windows_ == 2) return doubt(mean);  // a single slow window may be chance
    }
    settled_run();
  }

 private:
  static constexpr int trial_runs = 12, least_trial_runs = 3;
  static constexpr Duration longest_trial = std::chrono::milliseconds(10);  // of one number of threads, after its least runs
  static constexpr int window = 32;  // timed runs that are judged together
  static constexpr int many_runs = 500, least_retry = 250, most_retry = 16'000;
  /// The pause before the next trial of all numbers: `time`, counted in runs of the best time, at least `least_runs` and at most
  /// longest_pause. Trials of long runs must be rare too, to cost less than a hundredth.
  struct Pause {
    Duration time;
    int least_runs;
  };
  /// Each pause is half as long again as the one before: cores wake after some tens or hundreds of milliseconds, and then a wrong
  /// choice lasts at most half as long as it has lasted so far.
  static constexpr Pause first_pause{std::chrono::milliseconds(10), 25}, last_pause{std::chrono::seconds(4), 300};
  static constexpr int longest_pause = 50'000;  // runs
  /// Reading the clock twice takes about 50 ns: shorter runs than this are not all watched.
  static constexpr Duration short_run = std::chrono::microseconds(20);
  static constexpr int short_runs_per_watched = 16;

  void start_trial(int most_threads) {
    trying_ = true;
    tried_ = 1;
    most_tried_ = most_threads;
    start_number();
  }
  void start_number() {
    runs_ = 0;
    spent_ = Duration::zero();
    fastest_ = Duration::max();
  }
  void start_window() {
    watched_runs_ = 0;
    watched_time_ = Duration::zero();
  }
  void trial_run(Duration time) {
    fastest_ = std::min(fastest_, time);
    spent_ += time;
    if (++runs_ < (spent_ < longest_trial ? trial_runs : least_trial_runs)) return;
    if (tried_ == 1 || fastest_ < best_time_ * 97 / 100) {
      best_ = tried_;
      fewer_time_ = tried_ == 1 ? fastest_ : best_time_;
      best_time_ = fastest_;
    }
    if (tried_ < most_tried_) {
      tried_ = std::min(2 * tried_, most_tried_);
      return start_number();
    }
    trying_ = false;
    runs_ = 0;
    if (doubted_ > 0) judge();
    else pause();
    logger_.write(LogLevel::debug, "threads: ", best_, ", with ", nanoseconds(best_time_), " ns a run, for ", runs_until_trial_,
                  " runs");
    slow_windows_ = 0;
    start_window();
    watch();
  }
  void settled_run() {
    if (++runs_ < runs_until_trial_) return watch();
    start_trial(limit_);
  }
  void pause() {
    const auto runs = pause_.time / std::max(best_time_, Duration(1));
    runs_until_trial_ = static_cast<int>(std::clamp<Duration::rep>(runs, pause_.least_runs, longest_pause));
    pause_ = {std::min(pause_.time * 3 / 2, last_pause.time), std::min(pause_.least_runs * 3 / 2, last_pause.least_runs)};
  }
  /// For runs whose mean time is above that of fewer threads: tries whether fewer threads are still faster.
  void doubt(Duration mean) {
    doubted_ = best_;
    doubted_time_ = mean;
    logger_.write(LogLevel::debug, "threads: in doubt about ", best_, ", with ", nanoseconds(mean), " ns a run");
    runs_before_doubt_ = runs_;
    start_trial(best_ - 1);
  }
  void judge() {
    if (best_time_ >= doubted_time_) {  // the runs themselves have become longer, whatever the number of threads
      fewer_time_ = best_time_;
      best_time_ = doubted_time_;
      best_ = doubted_;
      pause();
    } else {  // fewer threads for a while: a short one if the number did well for many runs, else longer each time
      retry_ = runs_before_doubt_ > many_runs ? least_retry : std::min(2 * retry_, most_retry);
      runs_until_trial_ = retry_;
    }
    doubted_ = 0;
  }
  static std::int64_t nanoseconds(Duration time) { return std::chrono::nanoseconds(time).count(); }
  void watch() { watching_ = best_ > 1 && (best_time_ > short_run || runs_ % short_runs_per_watched == 0); }

  int limit_;
  int best_;
  bool adapts_;

  bool trying_ = false;
  int tried_ = 1, most_tried_ = 1;
  Duration spent_{}, fastest_{};  // of the runs with `tried_` threads

  Duration best_time_{}, fewer_time_{};  // with `best_` threads, and the best with fewer
  int runs_ = 0;  // of this trial's number of threads, or since the trial
  int runs_until_trial_ = 0, retry_ = least_retry;
  Pause pause_ = first_pause;  // the next one

  int doubted_ = 0;  // number of threads that this trial may give up; 0: none
  Duration doubted_time_{};  // mean time of a run with it
  int runs_before_doubt_ = 0;  // runs with it since the last trial

  bool watching_ = false;
  int watched_runs_ = 0, slow_windows_ = 0;
  Duration watched_time_{};
  Logger logger_;
};

}  // namespace tilewright::internal
