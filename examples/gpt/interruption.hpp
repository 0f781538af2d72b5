#pragma once
#include <csignal>
#include <cstddef>

/// SIGINT and SIGTERM while this object lives: the first one is noted, so that the program can end with nothing lost; the second
/// one ends the process. There is one object at a time.
class Interruption {
 public:
  Interruption() {
    signal_ = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      struct sigaction action{};
      action.sa_handler = note;
      action.sa_flags = static_cast<int>(SA_RESETHAND);
      sigaction(signals[i], &action, &before_[i]);
    }
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() {
    for (std::size_t i = 0; i < 2; ++i) sigaction(signals[i], &before_[i], nullptr);
  }

  /// The signal that came; 0: none.
  int signal() const { return signal_; }

 private:
  static constexpr int signals[2] = {SIGINT, SIGTERM};
  static void note(int signal) { signal_ = signal; }

  inline static volatile std::sig_atomic_t signal_ = 0;
  struct sigaction before_[2]{};
};
