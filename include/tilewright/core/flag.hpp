#pragma once
#include <type_traits>

namespace tilewright {

/// A bool, to which nothing else converts: compilers accept the text of a pattern, or a number, where a bool is expected.
struct Flag {
  bool value = false;  ///< the bool

  constexpr Flag() = default;
  template <class Given>
    requires std::is_scalar_v<Given>
  constexpr Flag(Given given) : value(given) {
    static_assert(std::is_same_v<Given, bool>, "true or false expected: this option takes no text, pattern or number");
  }
  constexpr operator bool() const { return value; }
};

}  // namespace tilewright
