#pragma once
// A made-up machine that runs a program again and again, whose session chooses the number of threads: how long a run takes with
// each number, noise, stalls, cores that are slow to wake, and a neighbour that takes cores. Times are in seconds. No time
// passes, and the same seed gives the same machine.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tilewright/execute/thread_choice.hpp"
#include "tilewright/execute/threads/shares.hpp"

/// Times of a run with 1, 2, ... threads.
using Curve = std::vector<double>;

/// The least time is `best`, with `peak` threads. Twice as many threads divide the time by 2 to the power of `slope` below the
/// peak, and multiply it by nearly as much above.
inline Curve peaked_curve(int cores, int peak, double best, double slope) {
  Curve curve;
  for (int threads = 1; threads <= cores; ++threads) {
    const double octaves = std::log2(static_cast<double>(threads) / peak);
    curve.push_back(best * std::exp2(octaves < 0 ? -octaves * slope : octaves * slope * 0.7));
  }
  return curve;
}
/// From iterations a second with 1, 4, 8, 12 and 16 threads; between those, speed grows by straight lines.
inline Curve measured_curve(const std::array<double, 5>& speed) {
  constexpr std::array at{1, 4, 8, 12, 16};
  Curve curve;
  for (int threads = 1; threads <= 16; ++threads) {
    std::size_t i = 1;
    while (at[i] < threads) ++i;
    const double part = static_cast<double>(threads - at[i - 1]) / (at[i] - at[i - 1]);
    curve.push_back(1 / (speed[i - 1] + part * (speed[i] - speed[i - 1])));
  }
  return curve;
}

/// What disturbs the runs.
struct Disturbances {
  double noise = 0.03;  ///< standard deviation of a run's time, as a share of it
  double stalls_a_second = 0, stall = 0;  ///< by chance, each of this length
  double asleep_until = 0, asleep_factor = 1;  ///< runs of several threads take so much longer before that
  double neighbour_from = 0, neighbour_to = 0;
  int neighbour_cores = 0;  ///< that it takes
};

class MadeUpMachine {
 public:
  MadeUpMachine(Curve curve, const Disturbances& disturbances, std::uint64_t seed)
      : curve_(std::move(curve)), with_(disturbances), random_(seed * 0x9e3779b97f4a7c15 + 1) {
    for (double& factor : noise_) {  // of the logarithm, the normal distribution as a sum of 12 uniform ones
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += uniform();
      factor = std::exp(with_.noise * sum);
    }
    next_stall_ = with_.stalls_a_second > 0 ? exponential(1 / with_.stalls_a_second) : 1e30;
    find_best();
  }

  int cores() const { return static_cast<int>(curve_.size()); }
  double now() const { return now_; }
  void pass(double time) { now_ += time; }
  /// Sets the cores that the neighbour takes from now on.
  void set_neighbour(int cores) {
    with_.neighbour_from = 0;
    with_.neighbour_to = 1e30;
    with_.neighbour_cores = cores;
  }

  /// How long a run takes; the clock goes on by that.
  double run(int threads) {
    const double begin = now_;
    double work = curve_[static_cast<std::size_t>(threads) - 1] * noise_[next() % noise_.size()];
    if (threads > 1 && is_asleep()) work *= with_.asleep_factor;
    if (is_crowded(threads)) run_in_slices(work, wait(threads));
    else now_ += work;
    stalled_ = 0;
    if (next_stall_ < now_) {
      if (next_stall_ >= begin) now_ += stalled_ = with_.stall;
      next_stall_ = now_ + exponential(1 / with_.stalls_a_second);
    }
    return now_ - begin;
  }
  double stalled() const { return stalled_; }  ///< in the last run

  /// The mean time of a run at the present time, without stalls.
  double mean(int threads) const {
    double work = curve_[static_cast<std::size_t>(threads) - 1];
    if (threads > 1 && is_asleep()) work *= with_.asleep_factor;
    if (is_crowded(threads)) work *= (slice + wait(threads)) / slice;
    return work;
  }
  /// That of the best number.
  double best_mean() {
    if (is_asleep() != was_asleep_ || has_neighbour() != had_neighbour_) find_best();
    return best_mean_;
  }

 private:
  /// How long a thread that shares its core runs at once, on average.
  static constexpr double slice = 3e-3;
  /// And how long it waits then. Several threads wait for the one that has half a core; one alone moves between cores.
  double wait(int threads) const { return threads > 1 ? 4e-3 : slice * (1.0 + with_.neighbour_cores - cores()) / cores(); }
  bool is_asleep() const { return now_ < with_.asleep_until; }
  bool has_neighbour() const { return now_ >= with_.neighbour_from && now_ < with_.neighbour_to; }
  bool is_crowded(int threads) const { return has_neighbour() && threads > cores() - with_.neighbour_cores; }
  void find_best() {
    was_asleep_ = is_asleep();
    had_neighbour_ = has_neighbour();
    best_mean_ = mean(1);
    for (int threads = 2; threads <= cores(); ++threads) best_mean_ = std::min(best_mean_, mean(threads));
  }
  void run_in_slices(double work, double wait) {
    if (now_ > slice_end_ + 1) slice_end_ = now_ + about(slice);  // the first slice
    while (work > 0) {
      while (now_ >= slice_end_) {
        const double begin = slice_end_ + about(wait);
        now_ = std::max(now_, begin);
        slice_end_ = begin + about(slice);
      }
      const double part = std::min(work, slice_end_ - now_);
      now_ = part < work ? slice_end_ : now_ + part;
      work -= part;
    }
  }
  std::uint64_t next() {  // xorshift
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    return random_ ^= random_ << 17;
  }
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
  double about(double mean) { return mean * (0.5 + uniform()); }
  double exponential(double mean) { return -mean * std::log(uniform()); }

  Curve curve_;
  Disturbances with_;
  std::uint64_t random_;
  std::array<double, 4096> noise_{};
  double now_ = 0, next_stall_ = 0, slice_end_ = -2, stalled_ = 0;
  double best_mean_ = 0;
  bool was_asleep_ = false, had_neighbour_ = false;  // when the best mean was found
};

class MadeUpProgram {
 public:
  /// What reading the clock costs before and after a run that is timed.
  static constexpr double clock_reads = 50e-9;

  explicit MadeUpProgram(MadeUpMachine machine, int first_guess = 0)
      : machine_(std::move(machine)), choice_(0, machine_.cores()) {
    if (first_guess > 0) choice_.begin_with(first_guess);
  }

  /// One run. The time that it would have taken with the best number of threads, and with the same stall.
  double run() {
    const double begin = machine_.now(), best = machine_.best_mean();
    threads_ = choice_.threads();
    const bool is_timed = choice_.measuring();
    const double time = machine_.run(threads_);
    if (is_timed) {
      const auto at = [](double seconds) {
        return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(std::llround(1e9 * seconds)));
      };
      choice_.measured(at(machine_.now() - time), at(machine_.now()));
      machine_.pass(clock_reads);
      clock_time_ += clock_reads;
    } else {
      choice_.counted();
    }
    spent_ = machine_.now() - begin;
    return best + machine_.stalled();
  }
  double spent() const { return spent_; }  ///< by the last run
  int threads() const { return threads_; }  ///< of the last run
  double clock_time() const { return clock_time_; }  ///< that reading the clock has cost
  MadeUpMachine& machine() { return machine_; }
  const tilewright::internal::ThreadChoice& choice() const { return choice_; }

 private:
  MadeUpMachine machine_;
  tilewright::internal::ThreadChoice choice_;
  double spent_ = 0, clock_time_ = 0;
  int threads_ = 0;
};

/// Shares of the best speed: in each second, the time that the runs would have taken with the best number, over the time they
/// took.
struct Shares {
  std::vector<double> seconds{};

  /// Of the seconds from one to before another.
  double mean(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += seconds.at(i);
    return sum / static_cast<double>(to - from);
  }
  double least(std::size_t from, std::size_t to) const {
    double least = seconds.at(from);
    for (std::size_t i = from; i < to; ++i) least = std::min(least, seconds.at(i));
    return least;
  }
};
inline Shares shares(MadeUpProgram& program, int seconds) {
  Shares result;
  for (int second = 0; second < seconds; ++second) {
    const double begin = program.machine().now();
    double best = 0;
    while (program.machine().now() < second + 1) best += program.run();
    result.seconds.push_back(best / (program.machine().now() - begin));
  }
  return result;
}
