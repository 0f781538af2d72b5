#pragma once
#include <cstddef>
#include <functional>
#include <memory>

#include "tilewright/core/built_with.hpp"

namespace tilewright::data::detail {

/// The thread of a Prefetch, which knows items by their numbers. `Build`: the options that this code is compiled with, as a part
/// of the names of its functions.
template <class Build>
class PrefetchThread {
 public:
  /// `fill` makes an item in the buffer of its parity.
  explicit PrefetchThread(std::function<void(std::size_t index)> fill);
  PrefetchThread(const PrefetchThread&) = delete;
  PrefetchThread& operator=(const PrefetchThread&) = delete;
  /// Waits for the item in preparation.
  ~PrefetchThread();

  // as those of Prefetch
  void cancel();
  void start(std::size_t count);
  /// Returns the number of the item that is ready.
  std::size_t next();

  /// Returns whether the process has a core for another thread.
  static bool has_core();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright::data::detail
