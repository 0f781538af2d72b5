#pragma once
#include <cfenv>
#include <cstdint>
#include <type_traits>

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
/// x86: MXCSR, with bits FTZ and DAZ. ARM: FPCR, or FPSCR of 32 bits, whose bit FZ applies to float and double, not to half
/// precision. Elsewhere, only rounding to nearest is set, if the system can; denormal numbers are numbers.
class ArithmeticMode {
 public:
#if defined(__SSE__) || defined(__aarch64__) || defined(__ARM_FP)
  ArithmeticMode() { set((before_ & ~cleared) | bits); }
  ~ArithmeticMode() { set(before_); }
#elif defined(FE_TONEAREST) && !defined(__wasm__)
  ArithmeticMode() { std::fesetround(FE_TONEAREST); }
  ~ArithmeticMode() { std::fesetround(before_); }
#else
  ArithmeticMode() {}  // not defaulted: an unused object is no warning
#endif
  ArithmeticMode(const ArithmeticMode&) = delete;
  ArithmeticMode& operator=(const ArithmeticMode&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned cleared = 0x6000, bits = 0x8040 | 0x1f80;  // how to round; FTZ and DAZ, and masks of exceptions
  static unsigned get() { return _mm_getcsr(); }
  static void set(unsigned control) { _mm_setcsr(control); }
  unsigned before_ = get();
#elif defined(__aarch64__) || defined(__ARM_FP)
  using Control = std::conditional_t<sizeof(void*) == 8, std::uint64_t, std::uint32_t>;
  static constexpr Control bits = Control{1} << 24;
  static constexpr Control cleared = 3u << 22 | 0x9f00;  // how to round, and what traps
  static Control get() {
    Control control = 0;
#ifdef __aarch64__
    asm volatile("mrs %0, fpcr" : "=r"(control));
#else
    asm volatile("vmrs %0, fpscr" : "=r"(control));
#endif
    return control;
  }
  static void set(Control control) {
#ifdef __aarch64__
    asm volatile("msr fpcr, %0" : : "r"(control) : "memory");
#else
    asm volatile("vmsr fpscr, %0" : : "r"(control) : "memory");
#endif
  }
  Control before_ = get();
#elif defined(FE_TONEAREST) && !defined(__wasm__)
  int before_ = std::fegetround();
#endif
};

}  // namespace tilewright::internal
