#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace tilewright {

/// Lets a processor core rest a moment in a loop that waits.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until the value is no longer `old`: spins for a moment, then sleeps, so that a busy machine is not starved.
inline void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int spin = 0; spin < 2000; ++spin) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

/// The barrier of threads between supersteps.
class Barrier {
 public:
  void arrive_and_wait(int threads) {
    if (threads == 1) return;
    const std::uint32_t phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      phase_.notify_all();
    } else {
      wait_while(phase_, phase);
    }
  }

 private:
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> phase_{0};
};

/// Threads that run the same function, each with its number; the caller is number 0. Threads that are not needed sleep.
class Workers {
 public:
  explicit Workers(int count) {
    for (int i = 1; i < count; ++i) doors_.push_back(std::make_unique<Door>());
    for (int i = 1; i < count; ++i) threads_.emplace_back([this, i] { serve(i, *doors_[static_cast<std::size_t>(i) - 1]); });
  }
  ~Workers() {
    stop_ = true;
    for (auto& door : doors_) door->open();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return static_cast<int>(threads_.size()) + 1; }
  /// Calls job(context, number) on `active` threads and returns when all are done; does not allocate.
  void run(void (*job)(void*, int), void* context, int active) {
    job_ = job;
    context_ = context;
    active_ = active;
    for (int i = 1; i < active; ++i) doors_[static_cast<std::size_t>(i) - 1]->open();
    job(context, 0);
    done_.arrive_and_wait(active);
  }

 private:
  struct alignas(64) Door {
    std::atomic<std::uint32_t> opened{0};
    void open() {
      opened.fetch_add(1, std::memory_order_release);
      opened.notify_one();
    }
  };
  void serve(int number, Door& door) {
    for (std::uint32_t seen = 0;; ++seen) {
      wait_while(door.opened, seen);
      if (stop_) return;
      job_(context_, number);
      done_.arrive_and_wait(active_);
    }
  }

  void (*job_)(void*, int) = nullptr;
  void* context_ = nullptr;
  int active_ = 1;
  std::atomic<bool> stop_{false};
  Barrier done_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::vector<std::jthread> threads_;  // the last member, so that threads end before the members that they use
};

}  // namespace tilewright
