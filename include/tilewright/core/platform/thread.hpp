#pragma once
#include <cstddef>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "tilewright/core/memory/owned.hpp"
#include "tilewright/core/platform/platform.hpp"

namespace tilewright::internal {

#if TILEWRIGHT_HAS_POSIX

/// A thread with a stack of at least the given size. Its destructor waits for the thread's end. A larger default stack of the
/// system is kept: 8 MB with glibc, 512 KB on macOS, 128 KB with musl.
class Thread {
 public:
  /// Throws std::system_error if the system cannot create the thread.
  [[gnu::cold]] Thread(std::size_t stack_bytes, std::function<void()> function) {
    Owned<std::function<void()>> own(new std::function<void()>(std::move(function)));
    pthread_attr_t attributes;
    validate(::pthread_attr_init(&attributes));
    std::size_t usual = 0;
    int error = ::pthread_attr_getstacksize(&attributes, &usual);
    const std::size_t wanted = (stack_bytes + of_system + page - 1) / page * page;
    if (error == 0 && usual < wanted) error = ::pthread_attr_setstacksize(&attributes, wanted);
    if (error == 0) error = ::pthread_create(&thread_, &attributes, &Thread::run, own.get());
    ::pthread_attr_destroy(&attributes);
    validate(error);
    own.release();
    is_joinable_ = true;
  }
  Thread(Thread&& other) noexcept : thread_(other.thread_), is_joinable_(std::exchange(other.is_joinable_, false)) {}
  Thread& operator=(Thread&&) = delete;
  ~Thread() {
    if (is_joinable_) ::pthread_join(thread_, nullptr);
  }

 private:
  static constexpr std::size_t page = 64 * 1024;  // the largest of usual machines
  static constexpr std::size_t of_system = 64 * 1024;  // a guard and variables of threads, which some systems take from the stack

  static void validate(int error) {
    if (error != 0) throw std::system_error(error, std::generic_category());
  }
  static void* run(void* function) {
    const Owned<std::function<void()>> own(static_cast<std::function<void()>*>(function));
    (*own)();
    return nullptr;
  }
  pthread_t thread_{};
  bool is_joinable_ = false;
};

#else

/// A thread whose destructor waits for its end. The system determines the size of its stack: 1 MB on Windows, if the program's
/// header does not set another.
class Thread {
 public:
  /// Throws std::system_error if the system cannot create the thread.
  Thread(std::size_t, std::function<void()> function) : thread_(std::move(function)) {}

 private:
  std::jthread thread_;
};

#endif

}  // namespace tilewright::internal
