#pragma once
// What tilewright needs of the compiler and of libraries. Headers that every program has include this first. A file that is not
// there ends the compilation with the message, where #error alone would let hundreds of others follow.
#if __cplusplus < 202002L
#error "tilewright needs C++20: -std=c++20"
#include "tilewright needs C++20"
#elif !defined(__cpp_exceptions) && !defined(TILEWRIGHT_EMBEDDED)
#error "tilewright tells of errors by exceptions: compile without -fno-exceptions, or include <tilewright/embedded.hpp> first"
#include "tilewright needs exceptions"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0 && !defined(TILEWRIGHT_ALLOW_FINITE_MATH)
#error "tilewright needs NaN and infinities: compile without -ffast-math, -Ofast and -ffinite-math-only"
#include "tilewright needs NaN and infinities"
#elif (defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)) && !defined(TILEWRIGHT_ALLOW_FINITE_MATH)
#error \
    "tilewright needs sums and quotients as written: compile without -fassociative-math, -freciprocal-math and -funsafe-math-optimizations"
#include "tilewright needs sums and quotients as written"
#elif defined(__clang__) && !defined(TILEWRIGHT_ALLOW_FINITE_MATH)  // Clang has no macro for these options
#pragma clang fp reassociate(off) reciprocal(off)
#endif

#include <version>  // the version of libc++

#include "tilewright/core/platform/vectors.hpp"

#if __has_include(<xsimd/config/xsimd_config.hpp>)
#include <xsimd/config/xsimd_config.hpp>
#endif

// The oldest versions with which the tests pass: docs/start/compiling.md. (Apple numbers Clang in its own way.)
#if defined(__clang__) ? (__clang_major__ < 18 && !defined(__apple_build_version__)) : (!defined(__GNUC__) || __GNUC__ < 12)
#define TILEWRIGHT_LACKS_REQUIREMENTS
#elif defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000 && !defined(TILEWRIGHT_EMBEDDED)
#define TILEWRIGHT_LACKS_REQUIREMENTS
#elif !defined(TILEWRIGHT_VECTOR_BYTES) && \
    (!defined(XSIMD_VERSION_MAJOR) || XSIMD_VERSION_MAJOR * 100 + XSIMD_VERSION_MINOR < 801)
#define TILEWRIGHT_LACKS_REQUIREMENTS
#elif !__has_include(<xtensor/core/xtensor_config.hpp>) && !__has_include(<xtensor/xtensor_config.hpp>)
#define TILEWRIGHT_LACKS_REQUIREMENTS
#endif

#ifdef TILEWRIGHT_LACKS_REQUIREMENTS
#include "tilewright/tilewright.hpp"  // says what is needed: compilers print less for a header that a program includes itself
#endif

// Throws the error that follows. Without exceptions, the program ends there at run time; such functions run while the compiler
// evaluates a program, and the error is one of the compiler, at the same line. (A macro, because compilers show this line, which
// has the text, only if it throws itself.)
#if defined(__cpp_exceptions)
#define TW_THROW throw
#else
#define TW_THROW ::tilewright::detail::EndOfProgram() =
#endif

// What stops the compilation with a text. It stands here because compilers first print by which files an error's file is
// included: headers that programs include have this one first.
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace tilewright {

/// A part of a message as a template argument, which compilers print as a string. It has exactly the text's length, and
/// backquotes for quotes, because compilers write \' for those.
template <std::size_t N>
struct Message {
  char characters[N + 1]{};
  constexpr explicit Message(std::string_view text) {
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i] == '\'' ? '`' : text[i];
    characters[N] = '\0';  // written once more: Clang prints arrays as strings only if their last element was written
  }
  constexpr std::string_view view() const { return {characters, N}; }
};

/// Never defined: a use makes the compiler print its arguments, the message.
template <Message... message>
struct error;

namespace detail {
/// Ends the program when an error is assigned to it.
struct EndOfProgram {
  template <class Error>
  [[noreturn]] void operator=(const Error&) const {
    __builtin_trap();
  }
};

// Clang prints no more than 36 characters of one argument, so that it gets the message in pieces.
#if defined(__clang__)
inline constexpr std::size_t longest_piece = 32;
#else
inline constexpr std::size_t longest_piece = 1'000'000;
#endif
template <auto make, std::size_t size, std::size_t... i>
auto error_in_pieces(std::index_sequence<i...>)
    -> error<Message<(std::min)(size - i * longest_piece, longest_piece)>(make().view().substr(i* longest_piece))...>;
template <std::size_t size>
inline constexpr std::make_index_sequence<(size + longest_piece - 1) / longest_piece> pieces{};
}  // namespace detail

/// Stops the compilation with the result of `make()` in the compiler's output. Use it as a base class, or in a statement
/// `Report<make>();`. The function with that statement must have the return type `auto`: Clang instantiates it at the call, with
/// the user's line in the error. Before the error, compilers print each template that leads from the user's line to it, with all
/// arguments; GCC 14 prints three lines for each. So there are few such templates, and none has a list as an argument.
template <auto make, std::size_t size = make().size()>
struct Report {
  static_assert(sizeof(decltype(detail::error_in_pieces<make, size>(detail::pieces<size>))) > 0);
};

}  // namespace tilewright
