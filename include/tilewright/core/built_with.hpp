#pragma once
#include "tilewright/core/requirements.hpp"

#include <type_traits>

#include "tilewright/version.hpp"

namespace tilewright {

// Options of a compilation as types. They are never defined: a linker prints them in the name of a function that it does not
// find.
template <int major, int minor>
struct Gcc;
template <int major, int minor>
struct Clang;
/// Sets of instructions that -march allows, as bits.
template <unsigned sets>
struct Instructions;
struct Optimised;
struct NotOptimised;
struct WithoutChecks;
struct WithChecks;  ///< of the standard library or a sanitizer
template <int version>
struct Tilewright;
/// Code that was compiled with these options.
template <class... Options>
struct LibraryWithOptionsOfThisFile;

namespace internal {

constexpr unsigned instruction_sets() {
  unsigned sets = 0;
#ifdef __SSE4_2__
  sets |= 1u << 0;
#endif
#ifdef __AVX__
  sets |= 1u << 1;
#endif
#ifdef __AVX2__
  sets |= 1u << 2;
#endif
#ifdef __FMA__
  sets |= 1u << 3;
#endif
#ifdef __F16C__
  sets |= 1u << 4;
#endif
#ifdef __AVX512F__
  sets |= 1u << 5;
#endif
#ifdef __AVX512BW__
  sets |= 1u << 6;
#endif
#ifdef __AVX512DQ__
  sets |= 1u << 7;
#endif
#ifdef __AVX512VL__
  sets |= 1u << 8;
#endif
#ifdef __AVX512FP16__
  sets |= 1u << 9;
#endif
#ifdef __AVX512BF16__
  sets |= 1u << 10;
#endif
#ifdef __AVX512VNNI__
  sets |= 1u << 11;
#endif
#ifdef __BMI2__
  sets |= 1u << 12;
#endif
#ifdef __ARM_FEATURE_FP16_VECTOR_ARITHMETIC
  sets |= 1u << 13;
#endif
#ifdef __ARM_FEATURE_SVE
  sets |= 1u << 14;
#endif
#ifdef __ARM_FEATURE_ATOMICS
  sets |= 1u << 15;
#endif
#ifdef TILEWRIGHT_VECTOR_BYTES  // vectors of the compiler, in place of xsimd's
  sets |= unsigned{TILEWRIGHT_VECTOR_BYTES} << 16;
#endif
  return sets;
}

#if defined(__clang__)
using Compiler = Clang<__clang_major__, __clang_minor__>;
#else
using Compiler = Gcc<__GNUC__, __GNUC_MINOR__>;
#endif
/// Whether the compiler optimises the file that includes this header, by -O1 or more.
#ifdef __OPTIMIZE__
using Optimisation = Optimised;
#else
using Optimisation = NotOptimised;
#endif
#if defined(_GLIBCXX_ASSERTIONS) || defined(_GLIBCXX_DEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
using Checks = WithChecks;
#else
using Checks = WithoutChecks;
#endif

}  // namespace internal

/// How the file that includes this header is compiled.
using ThisBuild =
    LibraryWithOptionsOfThisFile<Tilewright<TILEWRIGHT_VERSION>, internal::Compiler, Instructions<internal::instruction_sets()>,
                                 internal::Optimisation, internal::Checks>;

}  // namespace tilewright
