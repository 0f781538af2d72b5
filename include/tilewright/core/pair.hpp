#pragma once

namespace tilewright {

/// Two values, like std::pair, whose constructors take GCC 12 half a megabyte for each two types.
template <class First, class Second>
struct Pair {
  First first{};
  Second second{};

  friend constexpr bool operator==(const Pair&, const Pair&) = default;
};

}  // namespace tilewright
