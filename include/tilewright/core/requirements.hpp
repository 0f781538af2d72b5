#pragma once
// What the compiler must be told; tilewright.hpp includes this first. A file that is not there ends the compilation with the
// message, where #error alone would let hundreds of others follow.
#if __cplusplus < 202002L
#error "tilewright needs C++20: -std=c++20"
#include "tilewright needs C++20"
#elif !defined(__cpp_exceptions)
#error "tilewright tells of errors by exceptions: compile without -fno-exceptions"
#include "tilewright needs exceptions"
#endif
