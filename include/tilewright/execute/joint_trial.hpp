#pragma once
#include <chrono>
#include <cstdint>

#include "tilewright/execute/thread_trial.hpp"

namespace tilewright::internal {

/// A trial of another number of threads that all programs on a machine make at the same time.
///
/// Two programs that both use all cores take turns on each core, and each thread waits for others that have no core. Then half as
/// many threads of one program alone are no faster: they wait as before for the other program's. Half as many of both are. So
/// such trials begin with a slot of the machine's clock: std::chrono::steady_clock counts from the same moment in all programs,
/// by CLOCK_MONOTONIC of clock_gettime(2). Where it does not, trials meet by chance only.
///
/// All times without a unit are in nanoseconds.
class JointTrial {
 public:
  using Clock = std::chrono::steady_clock;
  using Verdict = ThreadTrial::Verdict;

  /// Programs with longer runs than this may come too late for the others.
  static constexpr double longest_run = 60e6;

  /// Whether a slot has just begun whose number is a multiple of `every`.
  static bool is_begin(Clock::time_point now, int every) { return part(now) < join && (count(now) >> slot_bits) % every == 0; }

  /// `usual`: the time of a run with the present number.
  void start(double usual) {
    usual_ = usual;
    sums_[0] = sums_[1] = {};
    is_challenger_ = true;
  }
  /// Whether the next run is one with the challenger's number of threads.
  bool is_challenger() const { return is_challenger_; }
  /// Takes a run.
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
  /// The time of a run with one of the numbers, once it is judged.
  double mean(bool challenger) const { return sums_[challenger].time / sums_[challenger].runs; }

 private:
  struct Sum {
    double time = 0;
    int runs = 0;
  };
  /// A slot has 1.07 s. Programs join it in its first part; runs are judged when all have joined, and again after all have
  /// changed back to the present number.
  static constexpr int slot_bits = 30;
  static constexpr std::int64_t join = 60'000'000, judge = 70'000'000, change = 150'000'000, judge_present = 200'000'000,
                                last = 280'000'000;
  /// A challenger is better by this factor. Of two programs with as many threads as cores, halves are better by a tenth at least.
  static constexpr double better = 0.95;
  /// After so much time a challenger that is slower by this factor is given up.
  static constexpr double least = 20e6, hopeless = 1.3;

  static std::int64_t count(Clock::time_point time) { return std::chrono::nanoseconds(time.time_since_epoch()).count(); }
  static std::int64_t part(Clock::time_point time) { return count(time) & ((std::int64_t{1} << slot_bits) - 1); }

  double usual_ = 0;
  bool is_challenger_ = false;
  Sum sums_[2];  // of the present number's runs, and of the challenger's
};

}  // namespace tilewright::internal
