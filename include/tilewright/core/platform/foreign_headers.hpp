#pragma once
// Macros around includes of xtensor and xsimd, of which -Wshadow warns, and GCC's warnings of uninitialised values falsely.
#if !defined(__GNUC__)
#define TILEWRIGHT_FOREIGN_HEADERS_BEGIN
#define TILEWRIGHT_FOREIGN_HEADERS_END
#elif defined(__clang__)
#define TILEWRIGHT_FOREIGN_HEADERS_BEGIN _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define TILEWRIGHT_FOREIGN_HEADERS_END _Pragma("GCC diagnostic pop")
#else
#define TILEWRIGHT_FOREIGN_HEADERS_BEGIN                                        \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") \
      _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"") _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")
#define TILEWRIGHT_FOREIGN_HEADERS_END _Pragma("GCC diagnostic pop")
#endif
