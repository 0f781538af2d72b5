#pragma once
// Programs whose run is made on a stack that was painted before: what a run has written to is what it needs, at least.
#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

/// How much of a stack a run uses.
template <class Session>
class PaintedRun {
 public:
  explicit PaintedRun(Session& session) : session_(session) {
    memory_ = static_cast<unsigned char*>(
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory_ == MAP_FAILED) std::abort();
    std::memset(memory_, paint, size);
    pthread_attr_t attributes;
    pthread_t thread;
    if (::pthread_attr_init(&attributes) != 0 || ::pthread_attr_setstack(&attributes, memory_, size) != 0 ||
        ::pthread_create(&thread, &attributes, &PaintedRun::run, this) != 0)
      std::abort();
    ::pthread_join(thread, nullptr);
    ::pthread_attr_destroy(&attributes);
  }
  ~PaintedRun() { ::munmap(memory_, size); }
  PaintedRun(const PaintedRun&) = delete;
  PaintedRun& operator=(const PaintedRun&) = delete;

  /// Bytes from the frame that calls `run` to the farthest that was written.
  long bytes() const {
    const unsigned char* farthest = memory_;
    while (farthest < first_ && *farthest == paint) ++farthest;
    return static_cast<long>(first_ - farthest);
  }

 private:
  static constexpr std::size_t size = 16 << 20;
  static constexpr unsigned char paint = 0xa5;

  [[gnu::noinline]] static void* run(void* self) {
    auto& own = *static_cast<PaintedRun*>(self);
    own.first_ = static_cast<unsigned char*>(__builtin_frame_address(0));
    own.session_.run();
    return nullptr;
  }
  Session& session_;
  unsigned char* memory_ = nullptr;
  const unsigned char* first_ = nullptr;
};

/// Checks the constant of a program without inputs against what a run of it paints: at least as much, and at most four times.
template <auto build>
int check_stack(const char* name) {
  tw::Session<build> session({.threads = 1});
  const long painted = PaintedRun(session).bytes(), stated = tw::stack_bytes<build, tw::cpu>;
  std::printf("%-14s painted %7ld, stated %7ld, %.2f times\n", name, painted, stated,
              static_cast<double>(stated) / static_cast<double>(painted));
  return painted > 0 && painted <= stated && stated <= 4 * painted ? 0 : 1;
}
