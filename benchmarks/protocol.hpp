#pragma once
#include <chrono>
#include <cstdio>

/// What a measured program and suite.py say to each other, on standard input and output:
///
///     program: ready                      its first result is there
///     suite:   0.5                        seconds to run
///     program: it/s 5123.4 threads 2      iterations a second in that time, and the threads used
///
/// and so on, until the suite closes standard input. So all programs of a comparison are alive at the same time and take turns.
/// `first` gives the first result; `rate(seconds)` runs and gives iterations a second; `threads()` is asked after it.
template <class First, class Rate, class Threads>
int serve(First&& first, Rate&& rate, Threads&& threads) {
  first();
  std::puts("ready");
  std::fflush(stdout);
  for (double seconds = 0; std::scanf("%lf", &seconds) == 1;) {
    const double result = rate(seconds);
    std::printf("it/s %.3f threads %d\n", result, threads());
    std::fflush(stdout);
  }
  return 0;
}

/// Wall-clock time since it was made, in seconds.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Iterations a second of step(0), step(1), ..., for so many seconds.
template <class Step>
double iterations_per_second(double seconds, Step&& step) {
  const Stopwatch watch;
  for (std::size_t i = 0;; ++i) {
    step(i);
    if (const double elapsed = watch.seconds(); elapsed >= seconds) return static_cast<double>(i + 1) / elapsed;
  }
}
