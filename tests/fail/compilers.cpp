// Options of compilers with which tilewright does not work. Without a case, the file is what they are given for.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

constexpr void program(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {2, 2}));
  tw::ops::host_store(ir.d2h_stream("y", {2, 2}), x + 1);
}

// CASE no_exceptions
// flags: -fno-exceptions
// precompiled: no
// expect: tilewright tells of errors by exceptions: compile without -fno-exceptions
#ifdef CASE_no_exceptions
#endif

// CASE old_standard
// flags: -std=c++17
// precompiled: no
// expect: tilewright needs C++20: -std=c++20
#ifdef CASE_old_standard
#endif

// CASE low_limits
// flags: -fconstexpr-depth=10
// expect: the compiler could not evaluate the program, and the first error says why.
#ifdef CASE_low_limits
const tw::Session<program> session;
#endif

// CASE undefined_sanitizer
// compiler: GCC
// flags: -fsanitize=undefined
// expect: With -fsanitize=undefined, GCC needs -fno-sanitize=null,returns-nonnull-attribute,nonnull-attribute
#ifdef CASE_undefined_sanitizer
const tw::Session<program> session;
#endif
