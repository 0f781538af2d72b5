#pragma once
#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tilewright::internal {

/// While it lives, the processor takes denormal numbers of this thread for 0 and makes none: they take it a hundred times as
/// long as others, and moments of gradients that vanish end there. x86: bits FTZ and DAZ of MXCSR. ARM64: bit FZ of FPCR, which
/// holds for float and double, not for half precision. Elsewhere it does nothing.
class FlushDenormals {
 public:
#if defined(__SSE__) || defined(__aarch64__)
  FlushDenormals() { set(before_ | bits); }
  ~FlushDenormals() { set(before_); }
#else
  FlushDenormals() {}
  ~FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned bits = 0x8040;
  static unsigned get() { return _mm_getcsr(); }
  static void set(unsigned control) { _mm_setcsr(control); }
  unsigned before_ = get();
#elif defined(__aarch64__)
  static constexpr std::uint64_t bits = std::uint64_t{1} << 24;
  static std::uint64_t get() {
    std::uint64_t control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void set(std::uint64_t control) { asm volatile("msr fpcr, %0" : : "r"(control) : "memory"); }
  std::uint64_t before_ = get();
#endif
};

}  // namespace tilewright::internal
