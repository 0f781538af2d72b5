#pragma once
#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "tilewright/core/platform/platform.hpp"

namespace tilewright::data {

/// Prepares the items of a sequence on a separate thread, one ahead of the item in use: double buffering. The thread sleeps when
/// it has nothing to do. Waking it costs some microseconds, so an item should cost many times as much. If the system cannot
/// create a thread, calls of next() prepare the items, until a later sequence gets a thread.
///
///     tw::data::Prefetch<std::vector<float>> squares([](std::vector<float>& item, std::size_t i) { item.assign(9, i * i); });
///     squares.start(100);
///     for (int i = 0; i < 100; ++i) use(squares.next());
template <class Item>
class Prefetch {
 public:
  /// Prepares item `index` in place. The buffer holds an older item of the same parity, or at first `empty`.
  using Fill = std::function<void(Item& item, std::size_t index)>;

  explicit Prefetch(Fill fill, const Item& empty = {}) : fill_(std::move(fill)), buffers_{empty, empty} {}
  /// Waits for the item in preparation.
  ~Prefetch() {
    if (is_forked()) {
      new std::jthread(std::move(thread_));  // never destroyed: joining a thread that does not exist might not end
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
  }
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// Cancels the sequence. When it returns, nothing is in preparation until start(). cancel(), start() and next() throw
  /// std::logic_error in a child process that was forked after the thread was created.
  void cancel() {
    require_thread();
    std::unique_lock lock(mutex_);
    count_ = 0;
    changed_.wait(lock, [this] { return !filling_; });
  }
  /// Starts a new sequence of `count` items.
  void start(std::size_t count) {
    cancel();
    const std::lock_guard lock(mutex_);
    count_ = count;
    made_ = taken_ = 0;
    error_ = nullptr;
    if (!thread_.joinable()) {
      forks_ = internal::fork_count();
      try {
        thread_ = std::jthread([this] { work(); });
      } catch (const std::system_error&) {  // next() does without
      } catch (const std::bad_alloc&) {
      }
    }
    changed_.notify_all();
  }
  /// Returns the next item when it is ready; it is valid until the next call. Call it at most `count` times. If preparing the
  /// item threw, rethrows the exception, in all later calls too: the sequence ends there.
  const Item& next() {
    require_thread();
    if (!thread_.joinable()) make_next();
    std::unique_lock lock(mutex_);
    ++taken_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return made_ >= taken_ || error_; });
    if (made_ < taken_) std::rethrow_exception(error_);
    return buffers_[(taken_ - 1) % 2];
  }

 private:
  bool is_forked() const { return thread_.joinable() && internal::fork_count() != forks_; }
  void require_thread() const {
    if (is_forked())
      throw std::logic_error(
          "a thread that makes items ahead, made before a fork, which the child process does not have: a loader "
          "made after the fork, or one with prefetch = false, expected");
  }
  /// Prepares the next item without a thread.
  void make_next() {
    if (error_) return;
    try {
      fill_(buffers_[made_ % 2], made_);
      ++made_;
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      // item taken - 1 is in use, and its buffer with it: that of item taken is free
      changed_.wait(lock, [this] { return ends_ || (made_ < count_ && made_ <= taken_ && !error_); });
      if (ends_) return;
      filling_ = true;
      lock.unlock();
      std::exception_ptr error;
      try {
        fill_(buffers_[made_ % 2], made_);  // nobody else writes `made_` while this thread fills
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      filling_ = false;
      if (error) error_ = error;
      else ++made_;
      changed_.notify_all();
    }
  }

  Fill fill_;
  std::array<Item, 2> buffers_;  // item i is in buffer i mod 2
  std::mutex mutex_;
  std::condition_variable changed_;  // the caller and the thread never wait at the same time
  std::size_t count_ = 0, made_ = 0, taken_ = 0;
  bool filling_ = false, ends_ = false;
  std::exception_ptr error_;
  unsigned forks_ = 0;  // when the thread was made
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace tilewright::data
