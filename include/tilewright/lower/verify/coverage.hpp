#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"

namespace tilewright::internal::detail {

/// Records which rows of a table have an owner.
class Coverage {
 public:
  constexpr explicit Coverage(std::size_t rows) : owned_(rows, false) {}
  /// Takes rows for an owner. Returns whether they are in the table and had no owner.
  constexpr bool take(std::int64_t first, std::int64_t count) {
    if (first < 0 || count < 0 || first + count > static_cast<std::int64_t>(owned_.size())) return false;
    for (std::int64_t row = first; row < first + count; ++row)
      if (std::exchange(owned_[row], true)) return false;
    return true;
  }
  constexpr bool is_complete() const {
    for (const bool owned : owned_)
      if (!owned) return false;
    return true;
  }

 private:
  List<bool> owned_;  // by row
};

}  // namespace tilewright::internal::detail
