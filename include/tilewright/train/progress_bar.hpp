#pragma once
#include "tilewright/core/requirements.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "tilewright/core/platform/platform.hpp"
#include "tilewright/train/progress.hpp"

namespace tilewright::train {

/// Options of a ProgressBar.
struct ProgressBarOptions {
  std::string_view unit = "it";  ///< unit of the speed
  double per_batch = 1;  ///< units in a batch
  std::uint64_t before = 0;  ///< batches of the first epoch that an earlier run trained on
};

/// Draws a training loop's reports as a bar, one for each epoch, on standard error or another file if it is a terminal. It draws
/// at most ten times a second: `Loss: 0.0270 |##########------| 4712/7500 [2.1 s, 1.2 s left, 2244 it/s]`. The time of the first
/// epoch starts when the bar is created, and the speed is measured over the batches since then.
class ProgressBar {
 public:
  explicit ProgressBar(std::FILE* file = stderr, const ProgressBarOptions& options = {})
      : file_(file), options_(options), visible_(internal::is_terminal(file)) {}

  void operator()(const Progress& progress) {
    if (!visible_) return;
    const bool last = progress.batch == progress.batches;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (!last && seconds < next_) return;
    draw(progress, seconds, last);
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[gnu::cold, gnu::noinline]] void draw(const Progress& progress, double seconds, bool last) {
    next_ = seconds + 0.1;
    const double part = static_cast<double>(width) * static_cast<double>(progress.batch) / static_cast<double>(progress.batches);
    const std::size_t filled = part < static_cast<double>(width) ? static_cast<std::size_t>(part) : width;  // NaN: 0 of 0
    const std::string bar = std::string(filled, '#') + std::string(width - filled, '-');
    const double batches_per_second = static_cast<double>(progress.batch - options_.before) / seconds;
    std::fprintf(file_, "\rLoss: %.4f |%s| %llu/%llu [%.1f s, %.1f s left, %.0f %.*s/s] ", static_cast<double>(progress.loss),
                 bar.c_str(), static_cast<unsigned long long>(progress.batch), static_cast<unsigned long long>(progress.batches),
                 seconds, static_cast<double>(progress.batches - progress.batch) / batches_per_second,
                 options_.per_batch * batches_per_second, static_cast<int>(options_.unit.size()), options_.unit.data());
    if (!last) return;
    std::fputc('\n', file_);
    start_ = Clock::now();
    next_ = 0;
    options_.before = 0;
  }

  static constexpr std::size_t width = 40;
  std::FILE* file_;
  ProgressBarOptions options_;
  bool visible_;
  Clock::time_point start_ = Clock::now();
  double next_ = 0;  // seconds from the start
};

}  // namespace tilewright::train
