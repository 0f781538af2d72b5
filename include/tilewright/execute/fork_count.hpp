#pragma once
#if __has_include(<pthread.h>)
#include <pthread.h>

#include <atomic>
#endif

namespace tilewright::internal {

/// How many forks lie between the start of the program and this process; 0 where there is no fork. Threads that were made at
/// another count do not exist here: a fork copies only the thread that calls it. Costs a load, where getpid is a system call.
inline unsigned fork_count() {
#if __has_include(<pthread.h>)
  static std::atomic<unsigned> count{0};
  [[maybe_unused]] static const int counts = ::pthread_atfork(nullptr, nullptr, [] { ++count; });
  return count.load(std::memory_order_relaxed);
#else
  return 0;
#endif
}

}  // namespace tilewright::internal
