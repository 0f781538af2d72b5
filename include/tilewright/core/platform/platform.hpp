#pragma once
// What the system gives beyond the standard library: advice about memory, sleep, forks, terminals. This header,
// cores.hpp, file_mapping.hpp, platform_files.hpp, thread.hpp and distributed/platform.hpp are the only ones that ask which
// system it is (tests/rules/platform.py). With TILEWRIGHT_PORTABLE defined, nothing but the standard library is used, as on a
// system that none of them knows.
#if !defined(TILEWRIGHT_PORTABLE) && !defined(_WIN32) && __has_include(<unistd.h>)
#define TILEWRIGHT_HAS_POSIX 1
#else
#define TILEWRIGHT_HAS_POSIX 0
#endif

#if TILEWRIGHT_HAS_POSIX
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#elif defined(_WIN32) && !defined(TILEWRIGHT_PORTABLE)
#include <io.h>
#endif

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

// Without futexes, as on Windows, a thread that waits for an atomic of libstdc++ may sleep on: it looks at the value before it
// takes the lock that it sleeps with, and misses who changes the value meanwhile.
#if defined(TILEWRIGHT_PORTABLE) || (defined(__GLIBCXX__) && !defined(_GLIBCXX_HAVE_LINUX_FUTEX))
#define TILEWRIGHT_HAS_ATOMIC_WAIT 0
#include <array>
#include <condition_variable>
#include <mutex>
#else
#define TILEWRIGHT_HAS_ATOMIC_WAIT 1
#endif

namespace tilewright::internal {

/// Requests pages of 2 MB for memory that begins at a multiple of 2 MB. The request is advice to Linux; on other systems it is a
/// no-op.
inline void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if TILEWRIGHT_HAS_POSIX && defined(MADV_HUGEPAGE)
  ::madvise(data, bytes, MADV_HUGEPAGE);
#endif
}

#if TILEWRIGHT_HAS_ATOMIC_WAIT

/// Sleeps until the value is no longer `old`. The thread that changes the value must then call wake_one() or wake_all().
inline void sleep_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}
inline void wake_one(std::atomic<std::uint32_t>& value) { value.notify_one(); }
inline void wake_all(std::atomic<std::uint32_t>& value) { value.notify_all(); }

#else

/// Where threads that wait for some of the values sleep.
struct Dormitory {
  std::mutex mutex;
  std::condition_variable changed;
  int sleepers = 0;

  static Dormitory& of(const std::atomic<std::uint32_t>& value) {
    static auto& all = *new std::array<Dormitory, 64>;  // never destroyed: threads may outlive static variables
    return all[reinterpret_cast<std::uintptr_t>(&value) / 64 % all.size()];
  }
};
inline void sleep_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  Dormitory& dormitory = Dormitory::of(value);
  std::unique_lock lock(dormitory.mutex);
  ++dormitory.sleepers;
  dormitory.changed.wait(lock, [&] { return value.load(std::memory_order_acquire) != old; });
  --dormitory.sleepers;
}
inline void wake_all(std::atomic<std::uint32_t>& value) {
  Dormitory& dormitory = Dormitory::of(value);
  const std::lock_guard lock(dormitory.mutex);  // a thread that saw the old value sleeps by now
  if (dormitory.sleepers > 0) dormitory.changed.notify_all();
}
inline void wake_one(std::atomic<std::uint32_t>& value) { wake_all(value); }  // others sleep here, too

#endif

/// Returns the number of forks between the start of the program and this process; 0 without forks. Threads that were created at
/// another count do not exist here, because a fork copies only the calling thread. Costs a load; getpid is a system call.
inline unsigned fork_count() {
#if TILEWRIGHT_HAS_POSIX
  static std::atomic<unsigned> count{0};
  [[maybe_unused]] static const int counts = ::pthread_atfork(nullptr, nullptr, [] { ++count; });
  return count.load(std::memory_order_relaxed);
#else
  return 0;
#endif
}

/// Whether fork_count() distinguishes a child process from its parent.
inline constexpr bool counts_forks = TILEWRIGHT_HAS_POSIX == 1;

/// Whether is_terminal() can return true.
#if TILEWRIGHT_HAS_POSIX || (defined(_WIN32) && !defined(TILEWRIGHT_PORTABLE))
inline constexpr bool knows_terminals = true;
#else
inline constexpr bool knows_terminals = false;
#endif

/// Returns whether a file is a terminal; false if the system does not know.
inline bool is_terminal([[maybe_unused]] std::FILE* file) {
#if TILEWRIGHT_HAS_POSIX
  return ::isatty(::fileno(file)) == 1;
#elif defined(_WIN32) && !defined(TILEWRIGHT_PORTABLE)
  return ::_isatty(::_fileno(file)) != 0;
#else
  return false;
#endif
}

}  // namespace tilewright::internal
