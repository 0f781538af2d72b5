#pragma once
#include <cstdint>

namespace tilewright {

/// Numbers of transfers of variables in each direction.
struct Transfers {
  std::int64_t from_host = 0;
  std::int64_t to_host = 0;
  constexpr bool operator==(const Transfers&) const = default;
};

}  // namespace tilewright
