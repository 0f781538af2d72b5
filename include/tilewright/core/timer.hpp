#pragma once
#include <chrono>
#include <cstdio>
#include <ostream>
#include <string>
#include <string_view>

namespace tilewright {

/// Measures the wall-clock time of a block, and writes it to a stream when the block ends: `load weights: 1.234 s`.
///
///     const tw::Timer timer("load weights", std::cout);
class [[nodiscard]] Timer {
 public:
  /// Starts the clock. The stream must outlive the timer.
  Timer(std::string_view title, std::ostream& out) : title_(title), out_(out) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    char time[48];
    std::snprintf(time, sizeof time, ": %.3f s\n", seconds());
    out_ << title_ << time;
  }
  /// Returns the seconds since the start.
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::string title_;
  std::ostream& out_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tilewright
