#pragma once
// Programs whose run is made on a stack and with a frame that were painted before: what a run has written to is what it needs, at
// least. With TILEWRIGHT_STACK_OF_OBJECT, the run is that of a StaticSession, whose frame is a part of the object.
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <tilewright/session/static_session.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

namespace tw = tilewright;

/// Aligned memory that this program allocates: each block stands between zones that nobody owns.
namespace zones {

inline constexpr std::size_t zone = std::size_t{1} << 16;  ///< bytes behind each block; before it are as many as its alignment
struct Block {
  unsigned char* data = nullptr;
  std::size_t bytes = 0, before = 0;
};
/// The first blocks that were asked for without an exception, which only the memory of sessions is, since `count` was set to 0.
inline std::array<Block, 4> first_blocks;
inline std::size_t count = first_blocks.size();

inline void* allocate(std::size_t bytes, std::align_val_t alignment) noexcept {
  const auto before = static_cast<std::size_t>(alignment);
  const std::size_t all = (before + bytes + zone + before - 1) / before * before;
  auto* const base = static_cast<unsigned char*>(std::aligned_alloc(before, all));
  return base == nullptr ? nullptr : base + before;
}
// noinline: GCC would compare the `new` of a caller with this `free`, and warn.
[[gnu::noinline]] inline void release(void* data, std::align_val_t alignment) noexcept {
  if (data != nullptr) std::free(static_cast<unsigned char*>(data) - static_cast<std::size_t>(alignment));
}

}  // namespace zones

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* const data = zones::allocate(bytes, alignment)) return data;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  void* const data = zones::allocate(bytes, alignment);
  if (zones::count < zones::first_blocks.size())
    zones::first_blocks[zones::count++] = {static_cast<unsigned char*>(data), bytes, static_cast<std::size_t>(alignment)};
  return data;
}
void operator delete(void* data, std::align_val_t alignment) noexcept { zones::release(data, alignment); }
void operator delete(void* data, std::size_t, std::align_val_t alignment) noexcept { zones::release(data, alignment); }

/// The frame of a session, with the zones around it.
class PaintedFrame {
 public:
  /// `frame`: bytes of the memory of a run, as the session allocates it behind variables, constants and remote memory.
  explicit PaintedFrame(std::size_t frame) : block_(zones::first_blocks[3]), is_written_(all(), 0) {
    if (block_.bytes != frame) std::printf("the session allocates %zu bytes, not %zu\n", block_.bytes, frame), std::abort();
  }
  void paint(unsigned char paint) { std::memset(begin(), paint, all()); }
  /// Notes the bytes that no longer have the paint.
  void look(unsigned char paint) {
    for (std::size_t i = 0; i < all(); ++i) is_written_[i] |= begin()[i] != paint;
  }
  /// Returns the bytes from the start of the frame to behind the last that was written, and -1 if one before was written.
  long bytes() const {
    std::size_t end = all();
    while (end > 0 && is_written_[end - 1] == 0) --end;
    for (std::size_t i = 0; i < block_.before; ++i)
      if (is_written_[i] != 0) return -1;
    return end < block_.before ? 0 : static_cast<long>(end - block_.before);
  }

 private:
  unsigned char* begin() const { return block_.data - block_.before; }
  std::size_t all() const { return block_.before + block_.bytes + zones::zone; }

  zones::Block block_;
  std::vector<unsigned char> is_written_;
};

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
    (void)own.session_.run();
    return nullptr;
  }
  Session& session_;
  unsigned char* memory_ = nullptr;
  const unsigned char* first_ = nullptr;
};

/// Returns whether the bytes stated for a stack are at least those painted, and at most 16 KB more; prints them.
inline bool holds(const char* name, long painted, long stated) {
  std::printf("%-14s stack painted %7ld, stated %7ld, %6ld more", name, painted, stated, stated - painted);
  return painted > 0 && painted <= stated && stated <= painted + 16 * 1024;
}
#ifdef TILEWRIGHT_STACK_OF_OBJECT
template <auto build, tw::Target target = tw::one_core>
int check_memory(const char* name) {
  constexpr bool fits = tw::detail::host_need<tw::Program<build, target>::plan, target>().empty();
  if constexpr (!fits) return 0;
  else {
    const auto object = std::make_unique<tw::StaticSession<build, target>>();
    bool is_right = object->init(1).is_done();
    is_right &= holds(name, PaintedRun(*object).bytes(), tw::stack_bytes<build, target>);
    std::puts("");
    return is_right && object->run().is_done() ? 0 : 1;
  }
}
#else
/// Checks the constants of a program without inputs against what runs of it paint. The frame has the same, but for what fills its
/// last line of a cache.
template <auto build, tw::Target target = tw::cpu>
int check_memory(const char* name) {
  tw::Session<build, target> alone({.threads = 1});
  zones::count = 0;
  tw::Session<build, target> shared({.threads = 2});  // a worker that is alone does not need all of the frame
  constexpr auto& plan = tw::Program<build, target>::plan;
  constexpr std::int64_t of_replica = tw::internal::align(plan.memory.frame), replicas = plan.replicas;
  PaintedFrame frame(replicas * of_replica);
  long painted = 0;
  for (const unsigned char paint : std::array<unsigned char, 2>{0xa5, 0x5a}) {  // a run may write what was painted
    painted = std::max(painted, PaintedRun(alone).bytes());
    frame.paint(paint);
    painted = std::max(painted, PaintedRun(shared).bytes());
    frame.look(paint);
  }
  const long in_frame = tw::internal::align(frame.bytes());
  const bool stack_holds = holds(name, painted, tw::stack_bytes<build, target>);
  std::printf("; frame painted %8ld, stated %8ld\n", in_frame, static_cast<long>(replicas * of_replica));
  return stack_holds && in_frame == replicas * of_replica ? 0 : 1;
}
#endif
