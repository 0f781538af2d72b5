#pragma once
#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tilewright {

/// While it lives, the processor takes denormal numbers of this thread for 0 and makes none: they take it a hundred times as
/// long as others, and moments of gradients that vanish end there. (x86: bits FTZ and DAZ of MXCSR; elsewhere it does nothing.)
class FlushDenormals {
 public:
#if defined(__SSE__)
  FlushDenormals() { _mm_setcsr(before_ | 0x8040u); }
  ~FlushDenormals() { _mm_setcsr(before_); }
#else
  FlushDenormals() {}
  ~FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE__)
  unsigned before_ = _mm_getcsr();
#endif
};

}  // namespace tilewright
