#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace tilewright::internal {

/// Compares the times of runs with two numbers of threads, the current one and a challenger. They alternate in blocks of runs, so
/// that other activity on the machine affects both. The mean of each number's blocks without the slowest one is compared: a rare
/// stall decides nothing, and repeated stalls count. A minimum would not see repeated stalls, which slow down threads that wait
/// for each other on a busy machine. All times are in nanoseconds.
class ThreadTrial {
 public:
  /// Reason of a trial: first runs of a program; regular check whether another number has become better; runs have become slow.
  enum class Reason : unsigned char { first, usual, slow };
  enum class Verdict : unsigned char { open, better, worse };  ///< of the challenger

  /// `time`: of a run with the current number.
  [[gnu::cold, gnu::noinline]] void start(double time, Reason reason) {
    const bool is_long = time >= long_run;
    slow_ = reason == Reason::slow;
    hurried_ = is_long && reason != Reason::usual;
    block_runs_ = is_long ? 1 : 1 + std::clamp(static_cast<int>((slow_ ? slow_block : block) / time), 1, most_block_runs);
    skipped_runs_ = is_long ? 0 : 1;
    longest_block_ = 4 * time * block_runs_;
    pairs_ = 0;
    price_ = total_ = 0;
    start_block(false);
  }
  /// Returns whether the next run has the challenger's number of threads.
  bool is_challenger() const { return is_challenger_; }
  /// Adds the time of a run.
  Verdict add(double time) {
    spent_ += time;
    if (++runs_ > skipped_runs_) judged_ += time;
    const bool is_too_long = spent_ > longest_block_ && runs_ > skipped_runs_ + 1;
    if (runs_ < block_runs_ && !is_too_long) return Verdict::open;
    total_ += spent_;
    blocks_[is_challenger_][static_cast<std::size_t>(pairs_)] = judged_ / (runs_ - skipped_runs_);
    if (!is_challenger_) {
      start_block(true);
      return Verdict::open;
    }
    price_ += spent_ - runs_ * blocks_[false][static_cast<std::size_t>(pairs_)];
    ++pairs_;
    start_block(false);
    return judge();
  }

  /// Returns the time of a run with one of the numbers, once a pair of blocks has ended.
  [[gnu::cold, gnu::noinline]] double mean(bool challenger) const {
    if (pairs_ == 1) return blocks_[challenger][0];
    return (sum(challenger) - *std::max_element(blocks_[challenger].begin(), end(challenger))) / (pairs_ - 1);
  }
  /// Returns the time of the challenger's runs, less the time of the same number of runs with the current number.
  double price() const { return price_; }
  /// Returns the time of all runs.
  double total() const { return total_; }

 private:
  static constexpr int most_pairs = 6, most_pairs_hurried = 5, fewest_pairs_hurried = 3;
  /// Length of a block. A scheduler takes a core away for some milliseconds at a time, which six such blocks notice. If a run has
  /// become slow, each block notices it. The run after a change of the number is skipped, because threads wake and memory moves
  /// between cores' caches.
  static constexpr double block = 3e6, slow_block = 6e6;
  static constexpr int most_block_runs = 1000;
  /// For runs of at least this time, a block is one run, and no run is skipped.
  static constexpr double long_run = 4e6;
  /// A challenger must be better by this factor, so that equally fast numbers do not alternate.
  static constexpr double better = 0.985;

  void start_block(bool challenger) {
    is_challenger_ = challenger;
    runs_ = 0;
    spent_ = judged_ = 0;
  }
  std::array<double, most_pairs>::const_iterator end(bool challenger) const { return blocks_[challenger].begin() + pairs_; }
  double sum(bool challenger) const { return std::accumulate(blocks_[challenger].begin(), end(challenger), 0.); }
  [[gnu::cold, gnu::noinline]] Verdict judge() const {
    const auto [present_least, present_most] = std::minmax_element(blocks_[false].begin(), end(false));
    const auto [least, most] = std::minmax_element(blocks_[true].begin(), end(true));
    if (pairs_ == 1) return *least > (slow_ ? 4 : 2) * *present_least ? Verdict::worse : Verdict::open;
    const double ratio = mean(true) / mean(false);
    if (!slow_ && *least > 1.08 * (std::max)(*present_least, mean(false))) return Verdict::worse;
    if (hurried_ && *most < (pairs_ == 2 ? 0.85 : 0.93) * *present_least) return Verdict::better;
    const bool is_clear = hurried_ && pairs_ >= fewest_pairs_hurried && (ratio < 0.95 || ratio > 1.05);
    if (!is_clear && pairs_ < (hurried_ ? most_pairs_hurried : most_pairs)) return Verdict::open;
    return ratio < better && sum(true) < sum(false) ? Verdict::better : Verdict::worse;
  }

  bool slow_ = false;  // whether runs have become slow
  bool hurried_ = false;  // whether a clear difference ends the trial
  int block_runs_ = 1, skipped_runs_ = 0;
  double longest_block_ = 0;

  bool is_challenger_ = false;  // of the block that runs
  int runs_ = 0;  // of it
  double spent_ = 0, judged_ = 0;  // the time of its runs; without those that are left out
  int pairs_ = 0;  // of blocks that have ended
  std::array<std::array<double, most_pairs>, 2> blocks_{};  // mean times of a run, of the present number and of the challenger
  double price_ = 0, total_ = 0;
};

}  // namespace tilewright::internal
