#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace tilewright::detail {

/// A text as a constant, which a constant expression computes once and Report shows. A longer text loses its end.
struct ConstantText {
  std::array<char, 4096> characters{};
  std::size_t length = 0;
  constexpr std::size_t size() const { return length; }
  constexpr std::string_view view() const { return {characters.data(), length}; }
  constexpr void set(std::string_view text) {
    length = (std::min)(text.size(), characters.size());
    for (std::size_t i = 0; i < length; ++i) characters[i] = text[i];
  }
};

}  // namespace tilewright::detail
