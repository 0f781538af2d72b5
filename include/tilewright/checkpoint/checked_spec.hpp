#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tilewright/core/tensor_spec.hpp"

namespace tilewright::detail {

/// Returns the spec of a tensor whose extents come from a file. Calls fail(found, expected), which must not return, if there are
/// more than six axes, or if a product of the nonzero extents and the element's size exceeds 2^63 - 1.
inline TensorSpec checked_spec(std::span<const std::uint64_t> extents, DType dtype, const auto& fail) {
  if (extents.size() > max_rank) fail(std::to_string(extents.size()) + " axes", "at most " + std::to_string(max_rank));
  TensorSpec spec{Shape{}, dtype};
  auto room = static_cast<std::uint64_t>((std::numeric_limits<std::int64_t>::max)() / size_of(dtype));
  for (const std::uint64_t extent : extents) {
    if (extent > room) fail("a shape of 2^63 bytes or more", "a shape that fits in memory");
    if (extent != 0) room /= extent;
    spec.shape.push_back(static_cast<std::int64_t>(extent));
  }
  return spec;
}

/// Checks a spec that a program gives in the same way. Calls fail(found, expected) also for a negative extent.
inline void check_spec(const TensorSpec& spec, const auto& fail) {
  const std::span extents(spec.shape.extents, static_cast<std::size_t>(spec.shape.rank));
  if (std::ranges::any_of(extents, [](std::int64_t extent) { return extent < 0; }))
    fail("a shape of " + to_text(spec.shape).string(), "extents of 0 or more");
  checked_spec(std::vector<std::uint64_t>(extents.begin(), extents.end()), spec.dtype, fail);
}

/// Returns whether the bytes can be elements of a dtype. A bool that is neither 0 nor 1 would be undefined behaviour.
inline bool are_elements(DType dtype, std::span<const std::byte> bytes) {
  if (dtype != boolean) return true;
  for (const std::byte byte : bytes)
    if (byte > std::byte{1}) return false;
  return true;
}

}  // namespace tilewright::detail
