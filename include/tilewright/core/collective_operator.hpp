#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilewright {

/// How a collective reduces the elements at one position of the tensor on each replica of a group.
enum class CollectiveOperator : std::uint8_t {
  add,
  mean,  ///< for integers, rounded towards zero
  mul,
  min,  ///< NaN if one of the elements is NaN
  max,  ///< NaN if one of the elements is NaN
  logical_and,  ///< 1 or 0: whether all elements are other than 0
  logical_or,   ///< 1 or 0: whether any element is other than 0
  square_add,  ///< sum of the squares
  local  ///< the replica's own element, without a reduction
};

constexpr std::string_view to_text(CollectiveOperator op) {
  constexpr std::string_view names[] = {"add", "mean", "mul", "min", "max", "logical_and", "logical_or", "square_add", "local"};
  return names[static_cast<std::size_t>(op)];
}

}  // namespace tilewright
