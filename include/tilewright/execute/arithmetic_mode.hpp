#pragma once
#include <cfenv>
#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tilewright::internal {

/// The arithmetic of floating point numbers that ops are written for, while it lives, on this thread: so results depend neither
/// on the number of threads nor on what the caller has set.
///  - Numbers are rounded to the nearest.
///  - Nothing traps, such as a division by 0.
///  - The processor takes denormal numbers for 0 and makes none: they take it a hundred times as long as others, and moments of
///    gradients that vanish end there.
/// x86: MXCSR, with bits FTZ and DAZ. ARM64: FPCR, whose bit FZ holds for float and double, not for half precision. Elsewhere it
/// rounds to the nearest.
class ArithmeticMode {
 public:
#if defined(__SSE__) || defined(__aarch64__)
  ArithmeticMode() { set((before_ & ~cleared) | bits); }
#else
  ArithmeticMode() { std::fesetround(FE_TONEAREST); }
#endif
  ~ArithmeticMode() { set(before_); }
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
#else
  static void set(int mode) { std::fesetround(mode); }
  int before_ = std::fegetround();
#endif
};

}  // namespace tilewright::internal
