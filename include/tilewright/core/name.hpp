#pragma once
#include <boost/hana/fwd/string.hpp>
#include <cstddef>
#include <string_view>
#include <utility>

namespace tilewright {

/// The characters of a name as a template argument.
template <std::size_t N>
struct NameText {
  char characters[N]{};
  constexpr NameText(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i];
  }
  constexpr std::string_view view() const { return {characters, N - 1}; }
};

/// A name with its value, the result of `"image"_s = images`.
template <class Name, class T>
struct NamedArgument {
  using name = Name;
  T&& value;
};

/// A name that the compiler knows: `"image"_s`. `key()` is its key in Boost.Hana maps.
template <NameText text>
struct Name {
  static constexpr std::string_view view() { return text.view(); }
  static constexpr auto key() {
    return []<std::size_t... i>(std::index_sequence<i...>) {
      return boost::hana::string<text.characters[i]...>{};
    }(std::make_index_sequence<text.view().size()>{});
  }
  template <class T>
  constexpr NamedArgument<Name, T> operator=(T&& value) const {
    return {std::forward<T>(value)};
  }
};

inline namespace literals {
template <NameText text>
constexpr Name<text> operator""_s() {
  return {};
}
}  // namespace literals

}  // namespace tilewright
