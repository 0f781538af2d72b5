#pragma once
// What the system gives beyond the standard library: advice about memory, forks, terminals. This header, platform_files.hpp and
// distributed/platform.hpp are the only ones that ask which system this is (tests/rules/platform.py). With TILEWRIGHT_PORTABLE
// defined, nothing but the standard library is used, as on a system that none of them knows.
#if !defined(TILEWRIGHT_PORTABLE) && !defined(_WIN32) && __has_include(<unistd.h>)
#define TILEWRIGHT_HAS_POSIX 1
#else
#define TILEWRIGHT_HAS_POSIX 0
#endif

#if TILEWRIGHT_HAS_POSIX
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#elif defined(_WIN32) && !defined(TILEWRIGHT_PORTABLE)
#include <io.h>
#endif

#include <cstddef>
#include <cstdio>

namespace tilewright::internal {

/// Asks for pages of 2 MB for memory that begins at a multiple of that. Only advice, which Linux takes: no error if the system
/// has no such pages.
inline void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if TILEWRIGHT_HAS_POSIX && defined(MADV_HUGEPAGE)
  ::madvise(data, bytes, MADV_HUGEPAGE);
#endif
}

/// How many forks lie between the start of the program and this process; 0 where there is no fork. Threads that were made at
/// another count do not exist here: a fork copies only the thread that calls it. Costs a load, where getpid is a system call.
inline unsigned fork_count() {
#if TILEWRIGHT_HAS_POSIX
  static std::atomic<unsigned> count{0};
  [[maybe_unused]] static const int counts = ::pthread_atfork(nullptr, nullptr, [] { ++count; });
  return count.load(std::memory_order_relaxed);
#else
  return 0;
#endif
}

/// Whether fork_count() tells a child process from its parent.
inline constexpr bool counts_forks = TILEWRIGHT_HAS_POSIX == 1;

/// Whether is_terminal() ever says so.
#if TILEWRIGHT_HAS_POSIX || (defined(_WIN32) && !defined(TILEWRIGHT_PORTABLE))
inline constexpr bool knows_terminals = true;
#else
inline constexpr bool knows_terminals = false;
#endif

/// Whether a person watches what is written to a file, as far as the system tells: false where it does not.
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
