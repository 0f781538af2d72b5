#pragma once
// Counts what a program allocates: its own `new`, for one source of a test.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace support {

inline std::atomic<bool> counting = false;
inline std::atomic<int> allocations = 0;

inline void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  if (counting) ++allocations;
  if (void* memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment)) return memory;
  throw std::bad_alloc();
}
/// How often `f` allocates, on all threads.
int allocations_of(auto f) {
  allocations = 0;
  counting = true;
  f();
  counting = false;
  return allocations;
}

}  // namespace support

// GCC 12 warns of `new` with `free`, or `aligned_alloc` with `delete`, where one of the two is inlined.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return support::allocate(bytes); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return support::allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
