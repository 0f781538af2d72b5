#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "tilewright/core/platform/cores.hpp"
#include "tilewright/core/platform/platform.hpp"
#include "tilewright/data/loading/prefetch_thread.hpp"

namespace tilewright::data::detail {

template <class Build>
struct PrefetchThread<Build>::State {
  bool is_forked() const { return thread.joinable() && internal::fork_count() != forks; }
  void require_thread() const {
    if (is_forked())
      throw std::logic_error(
          "a thread that makes items ahead, made before a fork, which the child process does not have: a loader "
          "made after the fork, or one with prefetch = false, expected");
  }
  /// Prepares the next item without a thread.
  void make_next() {
    if (error) return;
    try {
      fill(made);
      ++made;
    } catch (...) {
      error = std::current_exception();
    }
  }
  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      // item taken - 1 is in use, and its buffer with it: that of item taken is free
      changed.wait(lock, [this] { return ends || (made < count && made <= taken && !error); });
      if (ends) return;
      filling = true;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        fill(made);  // nobody else writes `made` while this thread fills
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      filling = false;
      if (thrown) error = thrown;
      else ++made;
      changed.notify_all();
    }
  }

  std::function<void(std::size_t)> fill;
  std::mutex mutex{};
  std::condition_variable changed{};  // the caller and the thread never wait at the same time
  std::size_t count = 0, made = 0, taken = 0;
  bool filling = false, ends = false;
  std::exception_ptr error{};
  unsigned forks = 0;  // when the thread was made
  std::jthread thread{};  // last: it ends before what it uses
};

template <class Build>
PrefetchThread<Build>::PrefetchThread(std::function<void(std::size_t index)> fill) : state_(new State{.fill = std::move(fill)}) {}
template <class Build>
PrefetchThread<Build>::~PrefetchThread() {
  if (state_->is_forked()) {
    static_cast<void>(state_.release());  // never destroyed: its members might wait for a thread that does not exist
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
  }
  state_->changed.notify_all();
}

template <class Build>
void PrefetchThread<Build>::cancel() {
  state_->require_thread();
  std::unique_lock lock(state_->mutex);
  state_->count = 0;
  state_->changed.wait(lock, [this] { return !state_->filling; });
}
template <class Build>
void PrefetchThread<Build>::start(std::size_t count) {
  cancel();
  const std::lock_guard lock(state_->mutex);
  state_->count = count;
  state_->made = state_->taken = 0;
  state_->error = nullptr;
  if (!state_->thread.joinable()) {
    state_->forks = internal::fork_count();
    try {
      state_->thread = std::jthread([state = state_.get()] { state->work(); });
    } catch (const std::system_error&) {  // next() does without
    } catch (const std::bad_alloc&) {
    }
  }
  state_->changed.notify_all();
}
template <class Build>
std::size_t PrefetchThread<Build>::next() {
  state_->require_thread();
  if (!state_->thread.joinable()) state_->make_next();
  std::unique_lock lock(state_->mutex);
  ++state_->taken;
  state_->changed.notify_all();
  state_->changed.wait(lock, [this] { return state_->made >= state_->taken || state_->error; });
  if (state_->made < state_->taken) std::rethrow_exception(state_->error);
  return state_->taken - 1;
}

template <class Build>
bool PrefetchThread<Build>::has_core() {
  return internal::usable_cores() > 1;
}

}  // namespace tilewright::data::detail
