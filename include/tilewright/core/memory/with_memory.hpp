#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <new>
#include <stdexcept>

namespace tilewright::detail {

/// Returns the product of numbers that a user gave, such as extents, and the bytes of an element; 2^64 - 1 if it is larger.
constexpr std::uint64_t saturated_product(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t result = 1, limit = (std::numeric_limits<std::uint64_t>::max)();
  for (const std::uint64_t number : numbers) {
    if (number == 0) return 0;
    result = number > limit / result ? limit : result * number;
  }
  return result;
}

/// Returns the result of make(), which takes `bytes` bytes of memory, or an unknown number if `bytes` is 0. Throws error() if
/// there is less. Call it where a number that a user gave determines how much is taken.
auto with_memory(std::uint64_t bytes, const auto& make, const auto& error) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;  // above it, sizes of containers would overflow
  try {
    if (bytes <= most) return make();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw error();
}

}  // namespace tilewright::detail
