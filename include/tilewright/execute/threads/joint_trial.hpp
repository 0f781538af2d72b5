#pragma once
#include <chrono>
#include <cstdint>

#include "tilewright/execute/threads/thread_trial.hpp"

namespace tilewright::internal {

/// A trial of another number of threads that all programs on a machine make at the same time.
///
/// Two programs that both use all cores alternate on each core, and each thread waits for threads that have no core. If only one
/// program halves its threads, it is no faster, because it still waits for the other one. If both halve them, both are faster. So
/// such trials begin with a slot of the machine's clock: std::chrono::steady_clock counts from the same moment in all programs,
/// by CLOCK_MONOTONIC of clock_gettime(2). On systems where it does not, trials coincide only by chance.
///
/// All times without a unit are in nanoseconds.
class JointTrial {
 public:
  using Clock = std::chrono::steady_clock;
  using Verdict = ThreadTrial::Verdict;

  /// Programs with longer runs than this may come too late for the others.
  static constexpr double longest_run = 60e6;

  /// Returns whether a slot has just begun, and its number is a multiple of `every`.
  static bool is_begin(Clock::time_point now, int every) { return part(now) < join && (count(now) >> slot_bits) % every == 0; }

  /// Starts a trial. `usual`: the time of a run with the current number.
  void start(double usual) {
    usual_ = usual;
    sums_[0] = sums_[1] = {};
    is_challenger_ = true;
  }
  /// Returns whether the next run has the challenger's number of threads.
  bool is_challenger() const { return is_challenger_; }
  /// Records a run and returns the verdict.
  [[gnu::cold, gnu::noinline]] Verdict add(Clock::time_point begin, Clock::time_point end) {
    if (is_challenger_ ? part(begin) >= judge && part(end) <= change : part(begin) >= judge_present) {
      Sum& sum = sums_[is_challenger_];
      sum.time += static_cast<double>(count(end) - count(begin));
      ++sum.runs;
    }
    const bool is_next_slot = part(end) < part(begin);
    if (is_challenger_ && sums_[1].time > least && mean(true) > hopeless * usual_) return Verdict::worse;
    if (part(end) >= change) is_challenger_ = false;
    if (part(end) < last && !is_next_slot) return Verdict::open;
    return sums_[0].runs > 0 && sums_[1].runs > 0 && mean(true) < better * mean(false) ? Verdict::better : Verdict::worse;
  }
  /// Returns the mean time of a run with one of the numbers, once it is judged.
  double mean(bool challenger) const { return sums_[challenger].time / sums_[challenger].runs; }

 private:
  struct Sum {
    double time = 0;
    int runs = 0;
  };
  /// A slot has 1.07 s. Programs join in its first part. Runs count once all programs have joined, and again once all have
  /// changed back to the current number.
  static constexpr int slot_bits = 30;
  static constexpr std::int64_t join = 60'000'000, judge = 70'000'000, change = 150'000'000, judge_present = 200'000'000,
                                last = 280'000'000;
  /// A challenger is better if its runs take at most this part of the time. If two programs have a thread for each core, half of
  /// them is faster by a tenth or more.
  static constexpr double better = 0.95;
  /// After the time `least`, the trial ends early if the challenger is slower by the factor `hopeless`.
  static constexpr double least = 20e6, hopeless = 1.3;

  static std::int64_t count(Clock::time_point time) { return std::chrono::nanoseconds(time.time_since_epoch()).count(); }
  static std::int64_t part(Clock::time_point time) { return count(time) & ((std::int64_t{1} << slot_bits) - 1); }

  double usual_ = 0;
  bool is_challenger_ = false;
  Sum sums_[2];  // of the runs with the current number, and with the challenger's
};

}  // namespace tilewright::internal
