#pragma once
// What tilewright needs of the compiler and of libraries. Headers that every program has include this first. A file that is not
// there ends the compilation with the message, where #error alone would let hundreds of others follow.
#if __cplusplus < 202002L
#error "tilewright needs C++20: -std=c++20"
#include "tilewright needs C++20"
#elif !defined(__cpp_exceptions)
#error "tilewright tells of errors by exceptions: compile without -fno-exceptions"
#include "tilewright needs exceptions"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0 && !defined(TILEWRIGHT_ALLOW_FINITE_MATH)
#error "tilewright needs NaN and infinities: compile without -ffast-math, -Ofast and -ffinite-math-only"
#include "tilewright needs NaN and infinities"
#endif

#include <version>  // the version of libc++

#include "tilewright/core/platform/foreign_headers.hpp"
#if __has_include(<xsimd/config/xsimd_config.hpp>)
#include <xsimd/config/xsimd_config.hpp>
#endif

// The oldest versions with which the tests pass: docs/compiling.md. (Apple numbers Clang in its own way.)
#if defined(__clang__) ? (__clang_major__ < 18 && !defined(__apple_build_version__)) : (!defined(__GNUC__) || __GNUC__ < 12)
#define TILEWRIGHT_LACKS_REQUIREMENTS
#elif defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
#define TILEWRIGHT_LACKS_REQUIREMENTS
#elif !defined(XSIMD_VERSION_MAJOR) || XSIMD_VERSION_MAJOR * 100 + XSIMD_VERSION_MINOR < 801
#define TILEWRIGHT_LACKS_REQUIREMENTS
#else
#ifndef XTENSOR_USE_XSIMD
#define XTENSOR_USE_XSIMD
#endif
TILEWRIGHT_FOREIGN_HEADERS_BEGIN
#if __has_include(<xtensor/core/xtensor_config.hpp>)
#include <xtensor/core/xtensor_config.hpp>
#elif __has_include(<xtensor/xtensor_config.hpp>)
#include <xtensor/xtensor_config.hpp>
#endif
TILEWRIGHT_FOREIGN_HEADERS_END
#if !defined(XTENSOR_VERSION_MAJOR) || XTENSOR_VERSION_MAJOR * 100 + XTENSOR_VERSION_MINOR < 24
#define TILEWRIGHT_LACKS_REQUIREMENTS
#endif
#endif

#ifdef TILEWRIGHT_LACKS_REQUIREMENTS
#include "tilewright/tilewright.hpp"  // says what is needed: compilers print less for a header that a program includes itself
#endif

// What stops the compilation with a text. Of an error's file, compilers first print by which it is included: so this is included first.
#include "tilewright/core/diagnostic.hpp"
