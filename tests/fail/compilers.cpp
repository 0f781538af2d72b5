// labels: clang
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
// expect: tilewright tells of errors by exceptions: compile without -fno-exceptions, or include <tilewright/embedded.hpp> first
#ifdef CASE_no_exceptions
#endif

// CASE old_standard
// flags: -std=c++17
// precompiled: no
// expect: tilewright needs C++20: -std=c++20
#ifdef CASE_old_standard
#endif

// CASE finite_math
// flags: -ffinite-math-only
// precompiled: no
// expect: tilewright needs NaN and infinities: compile without -ffast-math, -Ofast and -ffinite-math-only
#ifdef CASE_finite_math
#endif

// CASE fast_math
// flags: -Ofast
// precompiled: no
// expect: tilewright needs NaN and infinities: compile without -ffast-math, -Ofast and -ffinite-math-only
#ifdef CASE_fast_math
#endif

// CASE associative_math
// compiler: GCC
// flags: -ffast-math -fno-finite-math-only
// precompiled: no
// expect: tilewright needs sums and quotients as written: compile without -fassociative-math, -freciprocal-math and
#ifdef CASE_associative_math
#endif

// CASE reciprocal_math
// compiler: GCC
// flags: -freciprocal-math
// precompiled: no
// expect: tilewright needs sums and quotients as written: compile without -fassociative-math, -freciprocal-math and
#ifdef CASE_reciprocal_math
#endif

// CASE low_limits
// flags: -fconstexpr-depth=10
// expect: the compiler could not evaluate the program, and its other error says why.
#ifdef CASE_low_limits
const tw::Session<program> session;
#endif

// CASE endless_build
// expect: such as build, may lack constexpr, or call itself without end
#ifdef CASE_endless_build
struct Endless : tw::Module<Endless> {
  constexpr tw::Tensor build(tw::Tensor x) { return build(x + 1); }
};
constexpr void endless_build(tw::Ir& ir) { tw::create_graph(Endless{}, tw::ops::host_load(ir.h2d_stream("x", {2, 2}))); }
const tw::Session<endless_build> session;
#endif

// CASE endless_graphs
// expect: such as build, may lack constexpr, or call itself without end
#ifdef CASE_endless_graphs
constexpr tw::Graph endless_graph(tw::Ir& ir, tw::Tensor x) {
  return ir.create_graph([&](tw::Tensor t) { return tw::call(endless_graph(ir, t), {t})[0]; }, x);
}
constexpr void endless_graphs(tw::Ir& ir) { endless_graph(ir, tw::ops::host_load(ir.h2d_stream("x", {2, 2}))); }
const tw::Session<endless_graphs> session;
#endif

// CASE undefined_sanitizer
// compiler: GCC
// flags: -fsanitize=undefined
// expect: With -fsanitize=undefined, GCC also needs -fno-sanitize=null,returns-nonnull-attribute,nonnull-attribute
#ifdef CASE_undefined_sanitizer
const tw::Session<program> session;
#endif

// CASE old_gcc
// compiler: GCC
// flags: -U__GNUC__ -D__GNUC__=11
// precompiled: no
// most-lines: 5
// expect: tilewright needs GCC 12 or Clang 18, libstdc++ or libc++ 20, xtensor 0.24, xsimd 8.1, or newer ones
#ifdef CASE_old_gcc
#endif

// CASE old_clang
// compiler: Clang
// flags: -U__clang_major__ -D__clang_major__=17 -Wno-builtin-macro-redefined
// precompiled: no
// most-lines: 5
// expect: tilewright needs GCC 12 or Clang 18, libstdc++ or libc++ 20, xtensor 0.24, xsimd 8.1, or newer ones
#ifdef CASE_old_clang
#endif

// CASE old_libcxx
// flags: -D_LIBCPP_VERSION=190107
// precompiled: no
// most-lines: 5
// expect: tilewright needs GCC 12 or Clang 18, libstdc++ or libc++ 20, xtensor 0.24, xsimd 8.1, or newer ones
#ifdef CASE_old_libcxx
#endif

// CASE old_xtensor
// flags: -DXTENSOR_CONFIG_HPP -DXTENSOR_VERSION_MAJOR=0 -DXTENSOR_VERSION_MINOR=23
// precompiled: no
// most-lines: 5
// expect: tilewright needs GCC 12 or Clang 18, libstdc++ or libc++ 20, xtensor 0.24, xsimd 8.1, or newer ones
#ifdef CASE_old_xtensor
#endif

// CASE old_xsimd
// flags: -DXSIMD_CONFIG_HPP -DXSIMD_VERSION_MAJOR=7 -DXSIMD_VERSION_MINOR=4
// precompiled: no
// most-lines: 5
// expect: tilewright needs GCC 12 or Clang 18, libstdc++ or libc++ 20, xtensor 0.24, xsimd 8.1, or newer ones
#ifdef CASE_old_xsimd
#endif

// CASE vector_bytes
// flags: -DTILEWRIGHT_VECTOR_BYTES=8
// precompiled: no
// expect: TILEWRIGHT_VECTOR_BYTES: 4 or 16 expected
#ifdef CASE_vector_bytes
#endif
