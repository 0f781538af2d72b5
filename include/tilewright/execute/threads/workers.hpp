#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/memory/owned.hpp"
#include "tilewright/core/platform/platform.hpp"
#include "tilewright/core/platform/thread.hpp"
#include "tilewright/core/text.hpp"

namespace tilewright::internal {

/// Pauses a processor core briefly in a loop that waits.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until the value is no longer `old`: spins briefly, then sleeps, so that other programs get the core.
inline void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int spin = 0; spin < 2000; ++spin) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  sleep_while(value, old);
}

/// Barrier of threads between supersteps.
class Barrier {
 public:
  /// Thrown by arrive_and_wait when not all threads will arrive.
  struct Broken {};

  /// Returns when `threads` threads have arrived; throws Broken if one of them called break_up() instead.
  void arrive_and_wait(int threads) {
    if (threads == 1) return;
    const std::uint32_t phase = phase_.load(std::memory_order_acquire);
    if (broken_.load(std::memory_order_relaxed)) [[unlikely]]
      throw Broken();
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      wake_all(phase_);
    } else {
      wait_while(phase_, phase);
      if (broken_.load(std::memory_order_relaxed)) [[unlikely]]
        throw Broken();
    }
  }
  /// Announces that the calling thread will not arrive. Threads that wait, and those that arrive later, leave by Broken.
  [[gnu::cold]] void break_up() {
    broken_.store(true, std::memory_order_relaxed);
    phase_.fetch_add(1, std::memory_order_release);
    wake_all(phase_);
  }
  /// Resets a broken barrier. No thread may be near it.
  [[gnu::cold]] void mend() {
    arrived_.store(0, std::memory_order_relaxed);
    broken_.store(false, std::memory_order_relaxed);
  }

 private:
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> phase_{0};
  std::atomic<bool> broken_{false};  // in the cache line of phase_: reading both costs no more than reading one
};

/// Threads that run the same function, each with its number; the caller is number 0. Idle threads sleep.
class Workers {
 public:
  /// `stack_bytes`: smallest stack of each thread. Throws std::runtime_error if the system creates fewer threads than requested;
  /// those that were created end.
  [[gnu::cold]] explicit Workers(int count, std::size_t stack_bytes = 0) : forks_(fork_count()) {
    try {
      for (int i = 1; i < count; ++i) {  // one by one: `count` may be more than there is memory for
        Door& door = *doors_.emplace_back(Owned<Door>(new Door));
        door.thread.emplace(stack_bytes, [this, i, &door] { serve(i, door); });
      }
    } catch (const std::exception& error) {
      if (!doors_.empty() && !doors_.back()->thread) doors_.pop_back();
      const int made = this->count();
      stop();
      doors_.clear();  // for memory: the text needs some
      throw std::runtime_error(
          text("threads: ", count, " asked for, ", made, " could be made (", error.what(), "): a smaller number expected")
              .string());
    }
  }
  ~Workers() {
    if (is_forked()) new List(std::move(doors_));  // never destroyed: joining threads that do not exist might not end
    else stop();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Returns the number of threads, including the caller.
  int count() const { return static_cast<int>(doors_.size()) + 1; }
  /// Calls job(context, number) on `active` threads and returns when all have ended; does not allocate. If calls threw, rethrows
  /// the exception of one of them. Throws std::logic_error in a child process that was forked after the threads were created.
  void run(void (*job)(void*, int), void* context, int active) {
    if (is_forked()) [[unlikely]]
      throw std::logic_error(text("threads: ", count(),
                                  " made before a fork, of which the child process has one: a session made after the fork, or "
                                  "one of one thread, expected")
                                 .string());
    job_ = job;
    context_ = context;
    active_ = active;
    for (int i = 1; i < active; ++i) doors_[static_cast<std::size_t>(i) - 1]->open();
    work(0);
    done_.arrive_and_wait(active);
    if (has_failed_.load(std::memory_order_relaxed)) [[unlikely]] {
      has_failed_.store(false, std::memory_order_relaxed);
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
  }

 private:
  struct alignas(64) Door {
    std::atomic<std::uint32_t> opened{0};
    std::optional<Thread> thread{};  // the last member, so that it ends before what it waits for
    void open() {
      opened.fetch_add(1, std::memory_order_release);
      wake_one(opened);
    }
  };
  bool is_forked() const { return !doors_.empty() && fork_count() != forks_; }
  void stop() {
    stop_ = true;
    for (auto& door : doors_) door->open();
  }
  void work(int number) noexcept {
    try {
      job_(context_, number);
    } catch (...) {
      if (!has_failed_.exchange(true, std::memory_order_relaxed)) failure_ = std::current_exception();
    }
  }
  void serve(int number, Door& door) {
    for (std::uint32_t seen = 0;; ++seen) {
      wait_while(door.opened, seen);
      if (stop_) return;
      work(number);
      done_.arrive_and_wait(active_);
    }
  }

  void (*job_)(void*, int) = nullptr;
  void* context_ = nullptr;
  int active_ = 1;
  unsigned forks_;  // when the threads were made
  std::atomic<bool> stop_{false};
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;  // of the first call that threw
  Barrier done_;
  List<Owned<Door>> doors_;  // the last member, so that threads end before the members that they use
};

}  // namespace tilewright::internal
