#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

namespace tilewright {

/// Finds the number of threads for a program by measuring its first runs: one thread, then twice as many each time. More are
/// kept only where they are clearly faster. It measures anew after some thousands of runs, because a machine gets busy or idle.
class ThreadChoice {
 public:
  /// A fixed number, or 0 to measure.
  explicit ThreadChoice(int threads)
      : limit_(threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
        tried_(threads > 0 ? limit_ : 1),
        best_(tried_),
        adapts_(tried_ != limit_),
        measuring_(adapts_) {}

  int limit() const { return limit_; }
  bool measuring() const { return measuring_; }
  /// The number of threads for the next run.
  int threads() const { return measuring_ ? tried_ : best_; }

  /// Counts a run that was not measured.
  void counted() {
    if (!adapts_ || ++run_ < runs_between) return;
    measuring_ = true;
    tried_ = 1;
    run_ = 0;
  }
  /// Takes the time of a run with threads().
  void measured(std::chrono::steady_clock::duration time) {
    if (run_++ >= warm_up) fastest_ = std::min(fastest_, time);
    if (run_ < warm_up + runs) return;
    if (tried_ == 1 || fastest_ < best_time_ * 9 / 10) {
      best_ = tried_;
      best_time_ = fastest_;
    }
    measuring_ = tried_ < limit_;
    tried_ = std::min(2 * tried_, limit_);
    run_ = 0;
    fastest_ = std::chrono::steady_clock::duration::max();
  }

 private:
  static constexpr int warm_up = 3, runs = 10, runs_between = 5000;
  int limit_;
  int tried_;
  int best_;
  bool adapts_;
  bool measuring_;
  int run_ = 0;
  std::chrono::steady_clock::duration fastest_ = std::chrono::steady_clock::duration::max();
  std::chrono::steady_clock::duration best_time_{};
};

}  // namespace tilewright
