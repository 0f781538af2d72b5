#pragma once
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

/// Wall-clock time since it was made.
class Timer {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A progress bar on standard error, drawn ten times a second and only on a terminal:
/// `Loss: 0.0270 |##########------| 4712/7500 [2.1 s, 2244 it/s]`.
class ProgressBar {
 public:
  explicit ProgressBar(std::size_t total) : total_(total), visible_(isatty(STDERR_FILENO) == 1) {}

  void step(double loss) {
    ++done_;
    if (!visible_ || (done_ < total_ && timer_.seconds() < next_)) return;
    next_ = timer_.seconds() + 0.1;
    const std::size_t filled = width * done_ / total_;
    const std::string bar = std::string(filled, '#') + std::string(width - filled, '-');
    std::fprintf(stderr, "\rLoss: %.4f |%s| %zu/%zu [%.1f s, %.0f it/s] ", loss, bar.c_str(), done_, total_, timer_.seconds(),
                 static_cast<double>(done_) / timer_.seconds());
    if (done_ == total_) std::fputc('\n', stderr);
  }

 private:
  static constexpr std::size_t width = 40;
  std::size_t total_;
  std::size_t done_ = 0;
  bool visible_;
  double next_ = 0;
  Timer timer_;
};
