#pragma once
#include <csignal>
#include <cstddef>

/// SIGINT, SIGTERM and SIGHUP, which a terminal that closes sends, while this object lives: the first one is noted, so that the
/// program can end with nothing lost; the second one ends the process. What the process ignores, as after nohup, it goes on to
/// ignore. There is one object at a time.
class Interruption {
 public:
  Interruption() {
    signal_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action{};
      action.sa_handler = note;
      action.sa_flags = static_cast<int>(SA_RESETHAND);
      sigaction(signals[i], &action, nullptr);
    }
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() {
    for (std::size_t i = 0; i < count; ++i) sigaction(signals[i], &before_[i], nullptr);
  }

  /// The signal that came; 0: none.
  int signal() const { return signal_; }

 private:
  static constexpr std::size_t count = 3;
  static constexpr int signals[count] = {SIGINT, SIGTERM, SIGHUP};
  static void note(int signal) { signal_ = signal; }

  inline static volatile std::sig_atomic_t signal_ = 0;
  struct sigaction before_[count]{};
};
