#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace tilewright {

/// An op's attributes, packed: a struct of 8-byte members, as words.
struct PackedAttributes {
  static constexpr std::size_t capacity = 40;  ///< in words
  std::int64_t words[capacity]{};  ///< one for each member; 0 after the last
  std::size_t count = 0;           ///< of members
  friend constexpr bool operator==(const PackedAttributes& a, const PackedAttributes& b) {
    if (a.count != b.count) return false;
    for (std::size_t i = 0; i < a.count; ++i)
      if (a.words[i] != b.words[i]) return false;
    return true;
  }
};

template <class A>
[[nodiscard]] constexpr PackedAttributes pack(const A& attributes) {
  static_assert(sizeof(A) % 8 == 0 && sizeof(A) / 8 <= PackedAttributes::capacity,
                "attributes are at most PackedAttributes::capacity members of 8 bytes");
  const auto words = std::bit_cast<std::array<std::int64_t, sizeof(A) / 8>>(attributes);
  PackedAttributes packed;
  for (std::size_t i = 0; i < words.size(); ++i) packed.words[i] = words[i];
  packed.count = words.size();
  return packed;
}
template <class A>
constexpr A unpack(const PackedAttributes& packed) {
  if constexpr (std::is_empty_v<A>) {  // libc++'s array of no elements has the size of one
    return {};
  } else {
    std::array<std::int64_t, sizeof(A) / 8> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = packed.words[i];
    return std::bit_cast<A>(words);
  }
}

}  // namespace tilewright
