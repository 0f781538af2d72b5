#pragma once
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

/// A part of a message, usable as a template argument. Compilers print it as a string: exactly as long as its text.
template <std::size_t N>
struct Message {
  char characters[N + 1]{};
  constexpr explicit Message(std::string_view text) {
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i];
    characters[N] = '\0';  // written once more: Clang prints arrays as strings only if their last element was written
  }
};

/// Never defined: the compiler prints its arguments, the message, when it is used.
template <Message... message>
struct error;

/// Stops the compilation with a message of `size` characters, the result of `make()`, in the compiler's output.
/// Clang prints no more than 36 characters of one argument, so that it gets the message in pieces.
template <std::size_t size, auto make>
constexpr void report() {
#if defined(__clang__)
  constexpr std::size_t piece = 32;
#else
  constexpr std::size_t piece = size;
#endif
  []<std::size_t... i>(std::index_sequence<i...>) {
    static_assert(sizeof(error<Message<(i + 1) * piece < size ? piece : size - i * piece>(
                      std::string_view(make().view()).substr(i * piece))...>) > 0);
  }(std::make_index_sequence<(size + piece - 1) / piece>());
}

}  // namespace tilewright
