#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <utility>

#include "tilewright/data/loading/prefetch_thread.hpp"
#ifndef TILEWRIGHT_COMPILED  // then a library of the user's build has this code: cmake/compiled.cpp
#include "tilewright/data/loading/prefetch_thread_code.hpp"
#endif

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

  explicit Prefetch(Fill fill, const Item& empty = {})
      : fill_(std::move(fill)), buffers_{empty, empty}, thread_([this](std::size_t i) { fill_(buffers_[i % 2], i); }) {}
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// Cancels the sequence. When it returns, nothing is in preparation until start(). cancel(), start() and next() throw
  /// std::logic_error in a child process that was forked after the thread was created.
  void cancel() { thread_.cancel(); }
  /// Starts a new sequence of `count` items.
  void start(std::size_t count) { thread_.start(count); }
  /// Returns the next item when it is ready; it is valid until the next call. Call it at most `count` times. If preparing the
  /// item threw, rethrows the exception, in all later calls too: the sequence ends there.
  const Item& next() { return buffers_[thread_.next() % 2]; }
  /// Returns whether the process has a core for another thread.
  static bool has_core() { return detail::PrefetchThread<ThisBuild>::has_core(); }

 private:
  Fill fill_;
  std::array<Item, 2> buffers_;  // item i is in buffer i mod 2
  detail::PrefetchThread<ThisBuild> thread_;  // last: it ends before what it uses
};

}  // namespace tilewright::data
