#pragma once
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/log/logger.hpp"
#include "tilewright/core/platform/cores.hpp"
#include "tilewright/execute/threads/joint_trial.hpp"
#include "tilewright/execute/threads/thread_trial.hpp"

namespace tilewright::internal {

/// Finds the number of threads for a program by timing its runs. Candidates are four numbers in each octave: 1, 2, 3, 4, 5, 6, 7,
/// 8, 10, 12, 14, 16, 20, ... and the limit.
///
/// In the first runs, a search moves from a first guess to better neighbours, in steps of a power of two, then in finer ones.
/// Afterwards, it tries each neighbour of the best number again and again, and occasionally a distant number. The cost of these
/// trials is measured: the next trial waits until the cost is at most two hundredths of the time of the runs in between. The time
/// of runs without trials is watched, too. If it grows, for example because another program takes cores, the search tries at once
/// numbers that were better before.
///
/// Two programs that both use all cores make each other wait, and neither becomes faster with fewer threads while the other one
/// has all. So, while the times of runs differ much, programs try half of the cores at the same moments of the clock. If that is
/// better, they share the cores, until another such trial finds more threads better again.
///
/// Times are those of runs: the time between runs does not count. Functions with several callers are not inlined, and functions
/// that few runs call are cold, because every program contains them, and should compile quickly.
class ThreadChoice {
 public:
  using Clock = JointTrial::Clock;

  /// Takes a fixed number, or 0 to find one of up to `cores`. A fixed number above `cores` is used, with a warning in the log; a
  /// negative one throws std::invalid_argument. Decisions are logged at level DEBUG. `cores`: 0 if it is unknown.
  [[gnu::cold]] explicit ThreadChoice(int threads, int cores = usable_cores(), Logger logger = {})
      : limit_(threads > 0 ? threads : (std::max)(1, cores)),
        adapts_(threads <= 0 && limit_ > 1),
        threads_(limit_),
        measuring_(adapts_),
        logger_(std::move(logger)) {
    if (threads < 0)
      throw std::invalid_argument("threads: " + std::to_string(threads) +
                                  ": a number of threads, or 0 for the fastest number, expected");
    if (cores > 0 && threads > cores)
      logger_.write(LogLevel::warn, "threads: ", threads, " on ", cores, " cores: at most ", cores,
                    " expected, as every step waits for threads that wait for a core");
    if (adapts_) make_candidates();
  }
  /// Makes the search begin with a guess, or with the next lower candidate, and not with all cores.
  [[gnu::cold, gnu::noinline]] void begin_with(int guess) {
    if (!adapts_) return;
    while (best_ > 0 && at(best_).threads > guess) --best_;
    threads_ = at(best_).threads;
  }

  int limit() const { return limit_; }
  /// Returns whether to time the next run and then call measured(); otherwise call counted().
  bool measuring() const { return measuring_; }
  /// Returns the number of threads for the next run.
  int threads() const { return threads_; }

  /// Records a run that was not timed.
  void counted() {
    if (adapts_ && --untimed_runs_ == 0) measuring_ = true;
  }
  /// Records the time of a run with threads().
  void measured(Clock::time_point begin, Clock::time_point end) {
    const double time = static_cast<double>(std::max<std::int64_t>(1, std::chrono::nanoseconds(end - begin).count()));
    now_ += time;
    if (is_joint_) return joint_run(begin, end);
    if (JointTrial::is_begin(end, slots_) && begin_joint()) return;
    if (trying_) return trial_run(time);
    ++window_runs_;
    window_time_ += time;
    if (is_first()) {
      // the first run touches memory for the first time
      if (window_runs_ > 1 && window_time_ > first_length) begin_search(time);
      return;
    }
    unrest_ += (std::min)(1., time / unrest_length) * ((std::min)(1., std::abs(time / time_ - 1)) - unrest_);
    if (window_runs_ >= window_least_runs && window_time_ >= window_length) end_window();
  }

 private:
  using Reason = ThreadTrial::Reason;
  using Verdict = ThreadTrial::Verdict;
  /// A number of threads and its times, in nanoseconds.
  struct Candidate {
    int threads;
    int level;  // 0: a power of two, or the limit; 1: between two of them; 2: between those
    double time = 0;  // of a run, when last tried; 0: not yet
    int trials = 0;  // after the first search
  };
  static constexpr double first_length = 1e6;
  /// Runs without trials are judged in windows. A window has at least this length and this number of runs.
  static constexpr double window_length = 10e6;
  static constexpr int window_least_runs = 4;
  /// slow: two consecutive windows that are slower than the usual time by this factor start a trial. chance: if the trial then
  /// finds that runs are slower by less than this factor, the slow windows count as chance.
  static constexpr double slow = 1.15, chance = 1.07;
  /// Reading the clock twice takes about 50 ns, so only one window of four is timed for runs shorter than this.
  static constexpr double short_run = 20e3;
  static constexpr int untimed_windows = 3;
  /// Limits of the cost of trials, as a share of the time. Idle cores need some time to wake, so the first trials may mislead;
  /// they are soon repeated.
  static constexpr double start_length = 1e9, start_share = 0.1, share_of_each = 0.0025, most_share = 0.015, far_share = 0.005;
  /// Part of a trial's time that always counts as cost, so that equally fast numbers are not tried all the time.
  static constexpr double least_cost = 0.05;
  /// Distant candidates that cost more than this are not tried.
  static constexpr double most_far_cost = 30e6;
  /// First searches of longer runs than this skip the finest steps.
  static constexpr double long_run = 10e6;

  /// For long runs, each trial of a neighbour delays the next trial of that neighbour. The delay is as if runs with it took
  /// longer by this share.
  static constexpr double tried_again = 0.04;
  /// Searches of long runs after the first one skip candidates that took longer than the best by this factor.
  static constexpr double hopeless = 1.2;
  /// Joint trials begin with each slot, or with each second slot after a trial that found nothing better.
  static constexpr int slots_in_vain = 2;
  /// Joint trials begin only if the times of runs differ from the usual time by at least this share, in the mean over about
  /// `unrest_length`. Runs that wait for cores differ by more. Noise with a standard deviation of a tenth differs by this much.
  static constexpr double least_unrest = 0.08, unrest_length = 400e6;

  static constexpr int most_power = 1 << 12;  // so that there are at most 64 candidates on any machine

  // ---- candidates
  [[gnu::cold, gnu::noinline]] void make_candidates() {
    for (int number = 1; number <= limit_; ++number) {
      const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(number))), above = number - power;
      if (number == limit_ || above == 0) candidates_.push_back({number, 0});
      else if (2 * above == power) candidates_.push_back({number, 1});
      else if (4 * above % power == 0 && power < most_power) candidates_.push_back({number, 2});
    }
    best_ = count() - 1;
  }
  Candidate& at(int index) { return candidates_[static_cast<std::size_t>(index)]; }
  int count() const { return static_cast<int>(candidates_.size()); }
  /// Returns the next candidate of at most a level, up or down from the best one, or -1 if there is none. The numbers must differ
  /// by a least factor, which depends on the level. A step from 7 threads to 8, or on 20 cores from 20 to 16, says too little
  /// about the candidates beyond it.
  [[gnu::cold, gnu::noinline]] int neighbour(int direction, int level) {
    constexpr double factors[]{1.3, 1.15, 1};
    const double threads = at(best_).threads, factor = factors[level];
    int index = best_ + direction;
    for (; index >= 0 && index < count() && !is_shut(index); index += direction)
      if (at(index).level <= level && (std::max)(at(index).threads / threads, threads / at(index).threads) >= factor)
        return index;
    return -1;
  }
  /// Returns the expected time of a run with a number other than the best. An untried number is taken to be no better than the
  /// best, and with fewer threads slower in proportion. After runs have become slow, the square root of that proportion is used,
  /// so that few numbers are skipped.
  [[gnu::cold, gnu::noinline]] double expected_time(int index) {
    if (at(index).time > 0) return at(index).time;
    const double ratio = (std::max)(1., static_cast<double>(at(best_).threads) / at(index).threads);
    return reason_ == Reason::slow ? usual_time_ * std::sqrt(ratio) : time_ * ratio;
  }

  // ---- runs between trials
  bool is_first() const { return time_ == 0; }
  void begin_search(double time) {
    time_ = time;
    search(Reason::first);
  }
  void start_window() {
    window_runs_ = 0;
    window_time_ = 0;
  }
  [[gnu::cold, gnu::noinline]] void end_window() {
    const double mean = window_time_ / window_runs_;
    const int runs = window_runs_;
    earn(window_time_);
    start_window();
    if (mean > slow * time_) {
      if (++slow_windows_ == 2) doubt(mean);
      return;
    }
    slow_windows_ = 0;
    time_ += (mean - time_) / 2;
    if (try_neighbour() || try_far() || time_ > short_run) return;
    if (now_ < start_length && time_ > short_run / 4) return;
    measuring_ = false;
    untimed_runs_ = untimed_windows * runs;
    now_ += untimed_runs_ * time_;
    earn(untimed_runs_ * time_);
  }
  /// Adds to the allowed cost of later trials, for a run without a trial.
  void earn(double time) {
    credit_ += time * (now_ < start_length ? start_share : (std::min)(share_of_each * count(), most_share));
    far_credit_ += time * far_share;
  }
  /// Handles runs that have become slower. Perhaps other programs use the cores, and fewer threads are faster.
  [[gnu::cold, gnu::noinline]] void doubt(double mean) {
    slow_windows_ = 0;
    usual_time_ = time_;
    time_ = mean;
    slots_ = 1;
    if (threads_ == 1) return;
    logger_.write(LogLevel::debug, "threads: in doubt about ", threads_, ", with ", static_cast<std::int64_t>(mean), " ns a run");
    search(Reason::slow);
  }
  /// Tries a neighbour, if trials may cost something again. Neighbours take turns. Long runs are few, so the neighbour that seems
  /// best comes first: the search may have misjudged it.
  [[gnu::cold, gnu::noinline]] bool try_neighbour() {
    if (credit_ < 0) return false;
    int chosen = -1;
    double least = 0;
    for (int tries = 0; tries < 6; ++tries) {
      turn_ = (turn_ + 1) % 6;
      const int level = turn_ / 2, direction = turn_ % 2 == 0 ? 1 : -1, index = neighbour(direction, level);
      if (index < 0 || (level > 0 && index == neighbour(direction, level - 1))) continue;
      const double rank = expected_time(index) * (1 + tried_again * at(index).trials);
      if (chosen >= 0 && rank >= least) continue;
      chosen = index;
      least = rank;
      if (time_ < long_run) break;
    }
    if (chosen < 0) return false;
    ++at(chosen).trials;
    challenge(chosen);
    return true;
  }
  [[gnu::cold, gnu::noinline]] bool try_far() {
    for (int tries = 0; far_credit_ >= 0 && tries < count(); ++tries) {
      far_turn_ = (far_turn_ + 1) % count();
      if (std::abs(far_turn_ - best_) <= 1 || far_turn_ == neighbour(1, 0) || far_turn_ == neighbour(-1, 0)) continue;
      if (is_shut(far_turn_) || (expected_time(far_turn_) / time_ - 1) * (std::max)(time_, window_length / 5) > most_far_cost)
        continue;
      is_far_ = true;
      return challenge(far_turn_), true;
    }
    return false;
  }

  // ---- searches: trials of one neighbour of the best after the other
  [[gnu::cold, gnu::noinline]] void search(Reason reason) {
    reason_ = reason;
    searching_ = true;
    tried_ = bit(best_);
    direction_ = -1;
    search_on();
  }
  /// Tries the next neighbour: first in steps of powers of two, and further in the direction that was better.
  [[gnu::cold, gnu::noinline]] void search_on() {
    if (reason_ == Reason::slow)  // all that may be better by what is known: with one thread too many, all wait
      for (int index = best_ - 1; index >= 0; --index)
        if (at(index).level < 2 && !is_tried(index) && expected_time(index) < time_) return challenge(index);
    const int levels = reason_ != Reason::usual && time_ > long_run && at(best_).level < 2 ? 2 : 3;
    for (int level = 0; level < levels; ++level)
      for (const int direction : {direction_, -direction_})
        if (const int index = neighbour(direction, level); index >= 0 && !is_tried(index) && !is_hopeless(index))
          return challenge(index);
    end_search();
  }
  /// Returns whether a search of long runs skips a candidate, because an earlier trial found it much slower.
  bool is_hopeless(int index) { return reason_ == Reason::usual && time_ > long_run && at(index).time > hopeless * time_; }
  [[gnu::cold, gnu::noinline]] void end_search() {
    searching_ = false;
    reason_ = Reason::usual;
    logger_.write(LogLevel::debug, "threads: ", at(best_).threads, ", with ", static_cast<std::int64_t>(time_), " ns a run");
    settle();
  }
  void settle() {
    trying_ = is_far_ = false;
    threads_ = at(best_).threads;
    slow_windows_ = 0;
    start_window();
  }
  static std::uint64_t bit(int index) { return std::uint64_t{1} << index; }
  bool is_tried(int index) const { return (tried_ & bit(index)) != 0; }

  /// Makes the challenger the best candidate.
  void take_challenger(double time) {
    best_ = challenger_;
    time_ = time;
  }

  // ---- joint trials
  /// Returns whether two programs with this number of threads need more cores than there are.
  bool is_above_half(int index) { return 2 * at(index).threads > limit_; }
  /// Returns whether a candidate is left to joint trials. While programs share the cores, only joint trials try more than half of
  /// them. If two programs tried more at different times, each would make the other one wait, and mislead its trials.
  bool is_shut(int index) { return shares_ && is_above_half(index); }
  /// Starts a trial of half of the cores. While programs share the cores, it tries one of the larger numbers, in turn.
  [[gnu::cold, gnu::noinline]] bool begin_joint() {
    if (is_first() || (trying_ && reason_ == Reason::first) || time_ > JointTrial::longest_run) return false;
    if (shares_) {
      joint_turn_ = is_above_half(joint_turn_ - 1) ? joint_turn_ - 1 : count() - 1;
      challenger_ = joint_turn_;
    } else {
      if (!is_above_half(best_) || unrest_ < least_unrest) return false;
      challenger_ = best_;
      while (is_above_half(challenger_)) --challenger_;
    }
    searching_ = trying_ = is_far_ = false;
    reason_ = Reason::usual;
    is_joint_ = measuring_ = true;
    joint_.start(time_);
    threads_ = at(challenger_).threads;
    return true;
  }
  [[gnu::cold, gnu::noinline]] void joint_run(Clock::time_point begin, Clock::time_point end) {
    const Verdict verdict = joint_.add(begin, end);
    threads_ = at(joint_.is_challenger() ? challenger_ : best_).threads;
    if (verdict == Verdict::open) return;
    is_joint_ = false;
    if (verdict == Verdict::better) {
      take_challenger(joint_.mean(true));
      shares_ = !is_above_half(best_);
      joint_turn_ = count();
      slots_ = 1;
      return end_search();
    }
    if (!shares_) {
      slots_ = slots_in_vain;
    } else if (unrest_ < least_unrest && !is_above_half(joint_turn_ - 1)) {
      shares_ = false;  // the machine is quiet, and none of the numbers above is better
    }
    settle();
  }

  // ---- a trial
  [[gnu::cold, gnu::noinline]] void challenge(int index) {
    trying_ = measuring_ = true;
    challenger_ = index;
    tried_ |= bit(index);
    trial_.start(time_, reason_);
    threads_ = at(best_).threads;
  }
  void trial_run(double time) {
    const Verdict verdict = trial_.add(time);
    if (verdict != Verdict::open) return end_trial(verdict == Verdict::better);
    threads_ = at(trial_.is_challenger() ? challenger_ : best_).threads;
  }
  [[gnu::cold, gnu::noinline]] void end_trial(bool is_better) {
    if (reason_ == Reason::usual && (now_ > start_length || !searching_)) {
      const double cost = (std::max)(trial_.price(), 0.) + least_cost * trial_.total();
      double& credit = is_far_ ? far_credit_ : credit_;
      credit = (std::min)(credit, -cost);
    }
    const double present = at(best_).time = trial_.mean(false), challenger = at(challenger_).time = trial_.mean(true);
    if (is_better) {
      if (!std::exchange(searching_, true)) tried_ = bit(best_) | bit(challenger_);
      direction_ = challenger_ > best_ ? 1 : -1;
      take_challenger(challenger);
    } else if (reason_ == Reason::slow && present < chance * usual_time_) {
      time_ = usual_time_;
      return end_search();
    } else {
      time_ = reason_ == Reason::first ? present : time_ + (present - time_) / 4;
    }
    is_far_ = false;
    if (searching_) search_on();
    else settle();
  }

  int limit_;
  bool adapts_;
  int threads_;  // of the next run
  bool measuring_;
  List<Candidate> candidates_;  // by their number of threads
  int best_ = 0, challenger_ = 0;  // of them

  double now_ = 0;  // the time of all runs
  double time_ = 0;  // of a run with the best number; 0: before the first search
  double usual_time_ = 0;  // before runs became slow
  int window_runs_ = 0, slow_windows_ = 0;
  double window_time_ = 0;
  int untimed_runs_ = 0;  // until the next window
  double unrest_ = 0;  // by how much the times of runs differ from time_, as a share of it

  bool trying_ = false;  // whether the next run is one of a trial
  ThreadTrial trial_;
  Reason reason_ = Reason::first;
  bool is_far_ = false;  // whether the trial is one of try_far()
  bool searching_ = false;
  int direction_ = -1;  // of the search
  std::uint64_t tried_ = 0;  // a bit for each candidate of the search
  JointTrial joint_;
  bool is_joint_ = false;  // whether the next run is one of a joint trial
  bool shares_ = false;  // whether such a trial has found half as many threads better, and none more since
  int slots_ = 1;  // joint trials begin with each slot whose number is a multiple of it
  int joint_turn_ = 0;  // the last challenger of joint trials while cores are shared
  double credit_ = 0, far_credit_ = 0;  // what trials may cost; below 0: what runs must earn first
  int turn_ = 0, far_turn_ = 0;
  Logger logger_;
};

}  // namespace tilewright::internal
