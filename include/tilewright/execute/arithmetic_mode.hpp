#pragma once
#include <cfenv>
#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tilewright::internal {

/// Sets the floating-point arithmetic for which ops are written on this thread until the object is destroyed. So results
/// depend neither on the number of threads nor on the caller's settings.
///  - Numbers are rounded to nearest.
///  - Nothing traps, such as a division by 0.
///  - The processor treats denormal numbers as 0 and produces none: they take it a hundred times as long as others, and moments
///    of vanishing gradients become denormal.
/// x86: MXCSR, with bits FTZ and DAZ. ARM64: FPCR, whose bit FZ applies to float and double, not to half precision. WebAssembly
/// has no such settings: denormal numbers are numbers there. Elsewhere, only rounding to nearest is set.
class ArithmeticMode {
 public:
#if defined(__SSE__) || defined(__aarch64__)
  ArithmeticMode() { set((before_ & ~cleared) | bits); }
#elif !defined(__wasm__)
  ArithmeticMode() { std::fesetround(FE_TONEAREST); }
#else
  ArithmeticMode() {}
#endif
#if !defined(__wasm__)
  ~ArithmeticMode() { set(before_); }
#endif
  ArithmeticMode(const ArithmeticMode&) = delete;
  ArithmeticMode& operator=(const ArithmeticMode&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned cleared = 0x6000, bits = 0x8040 | 0x1f80;  // how to round; FTZ and DAZ, and masks of exceptions
  static unsigned get() { return _mm_getcsr(); }
  static void set(unsigned control) { _mm_setcsr(control); }
  unsigned before_ = get();
#elif defined(__aarch64__)
  static constexpr std::uint64_t bits = std::uint64_t{1} << 24;
  static constexpr std::uint64_t cleared = 3u << 22 | 0x9f00;  // how to round, and what traps
  static std::uint64_t get() {
    std::uint64_t control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void set(std::uint64_t control) { asm volatile("msr fpcr, %0" : : "r"(control) : "memory"); }
  std::uint64_t before_ = get();
#elif !defined(__wasm__)
  static void set(int mode) { std::fesetround(mode); }
  int before_ = std::fegetround();
#endif
};

}  // namespace tilewright::internal
