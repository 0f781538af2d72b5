#pragma once
// Code that may crash, hang or take all memory, in a process of its own.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;  ///< a sanitizer takes memory of its own, and threads of a forked child end it
#endif

/// What a child process tells: where it is, and what it found wrong.
struct Report {
  char at[200]{};
  char found[16000]{};
  void add(const std::string& line) {
    const std::size_t used = std::strlen(found);
    std::snprintf(found + used, sizeof found - used, "%s\n", line.c_str());
  }
};

/// Calls f in a child with little memory and time; what it found wrong, or how it ended.
template <class F>
std::string in_child(const F& f, rlim_t memory = rlim_t{2} << 30, unsigned seconds = 20) {
  void* const shared = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return "mmap failed";
  auto* const report = new (shared) Report;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (!is_sanitized) {
      const rlimit limit{memory, memory};
      setrlimit(RLIMIT_AS, &limit);
    }
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(seconds);
    try {
      f(*report);
    } catch (const std::exception& error) {
      report->add(report->at + std::string(": an exception: ") + error.what());
    } catch (...) {
      report->add(report->at + std::string(": an exception without a text"));
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::string found = report->found;
  if (WIFSIGNALED(status))
    found += std::string(report->at) + ": ended by signal " + std::to_string(WTERMSIG(status)) +
             (WTERMSIG(status) == SIGALRM ? ": it takes too long" : "") + "\n";
  else if (WEXITSTATUS(status) != 0)
    found += std::string(report->at) + ": exit status " + std::to_string(WEXITSTATUS(status)) + "\n";
  munmap(shared, sizeof(Report));
  return found;
}
