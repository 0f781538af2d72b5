#pragma once
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tilewright {

/// An error in a model, found while it is traced: the text says op, given, expected and the module path.
/// Thrown by traces at run time; in a trace at compile time the text becomes a compile error.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A part of a message, usable as a template argument, which compilers print as a string. It has exactly the text's length, and
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

/// Never defined: the compiler prints its arguments, the message, when it is used.
template <Message... message>
struct error;

namespace detail {
// Clang prints no more than 36 characters of one argument, so that it gets the message in pieces.
#if defined(__clang__)
inline constexpr std::size_t longest_piece = 32;
#else
inline constexpr std::size_t longest_piece = 1'000'000;
#endif
template <auto make, std::size_t size, std::size_t... i>
auto error_in_pieces(std::index_sequence<i...>)
    -> error<Message<std::min(size - i * longest_piece, longest_piece)>(make().view().substr(i* longest_piece))...>;
template <std::size_t size>
inline constexpr std::make_index_sequence<(size + longest_piece - 1) / longest_piece> pieces{};
}  // namespace detail

/// Stops the compilation with the result of `make()` in the compiler's output: a base class, or a statement `Report<make>();`.
/// The function with that statement says `auto`: Clang instantiates such a function where it is called, with the user's line in
/// the error. Compilers print each template between this and the user's line with its arguments before the error, GCC 14 in three
/// lines: so these are few, and have no list as argument.
template <auto make, std::size_t size = make().size()>
struct Report {
  static_assert(sizeof(decltype(detail::error_in_pieces<make, size>(detail::pieces<size>))) > 0);
};

}  // namespace tilewright
