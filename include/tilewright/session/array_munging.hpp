#pragma once
// Arrays of the host for variables with groups of replicas: popxl.addons' array_munging.
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "tilewright/core/text.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/session/host_array.hpp"

namespace tilewright::array_munging {

namespace detail {
using tilewright::detail::host_shape_of;

/// Returns an axis counted from the first. Throws std::invalid_argument, whose text begins with `what`.
inline std::size_t axis_from_first(const Text& what, std::int64_t axis, std::size_t axes) {
  const auto count = static_cast<std::int64_t>(axes);
  if (axis < -count || axis >= count)
    throw std::invalid_argument(text(what, ": axis ", axis, ": one from ", -count, " to ", count - 1, " expected").string());
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}
inline std::size_t at_least_one(const Text& what, std::int64_t count) {
  if (count < 1) throw std::invalid_argument(text(what, ": at least 1 expected").string());
  return static_cast<std::size_t>(count);
}
/// Returns the product of some extents.
constexpr std::size_t product(const auto& shape, std::size_t first, std::size_t last) {
  std::size_t result = 1;
  for (std::size_t axis = first; axis < last; ++axis) result *= shape[axis];
  return result;
}
}  // namespace detail

/// Cuts an array into `count` equal shards along an axis: (4, 6) in 2 shards along axis 1 is (2, 4, 3). The result's first axis
/// is over shards, as the array of a variable with that many groups of replicas has it. A negative axis counts from the last.
/// Throws std::invalid_argument for a count below 1 or one that does not divide the extent, and for an axis that the array does
/// not have.
template <class T, std::size_t rank>
[[nodiscard]] xt::xtensor<T, rank + 1> shard(const xt::xtensor<T, rank>& array, std::int64_t count, std::int64_t axis = 0) {
  const Text what = text("shard: ", to_text(detail::host_shape_of(array)), " in ", count, " shards");
  const std::size_t parts = detail::at_least_one(what, count), at = detail::axis_from_first(what, axis, rank);
  if (array.shape(at) % parts != 0)
    throw std::invalid_argument(text(what, " along axis ", at, ": a divisor of ", array.shape(at), " expected").string());
  std::array<std::size_t, rank + 1> extents{parts};
  std::copy(array.shape().begin(), array.shape().end(), extents.begin() + 1);
  extents[at + 1] /= parts;
  xt::xtensor<T, rank + 1> result(extents);
  const std::size_t rows = detail::product(extents, 1, at + 1), block = detail::product(extents, at + 1, rank + 1);
  for (std::size_t part = 0; part < parts; ++part)
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(array.data() + (row * parts + part) * block, block, result.data() + (part * rows + row) * block);
  return result;
}

/// Joins shards along an axis of a shard, the inverse of shard: (2, 4, 3) along axis 1 is (4, 6). A negative axis counts from the
/// last. Throws std::invalid_argument for an axis that a shard does not have.
template <class T, std::size_t rank>
  requires(rank >= 2)
[[nodiscard]] xt::xtensor<T, rank - 1> unshard(const xt::xtensor<T, rank>& shards, std::int64_t axis = 0) {
  const Text what = text("unshard: ", to_text(detail::host_shape_of(shards)));
  const std::size_t at = detail::axis_from_first(what, axis, rank - 1), parts = shards.shape(0);
  const std::size_t rows = detail::product(shards.shape(), 1, at + 1), block = detail::product(shards.shape(), at + 1, rank);
  std::array<std::size_t, rank - 1> extents{};
  std::copy(shards.shape().begin() + 1, shards.shape().end(), extents.begin());
  extents[at] *= parts;
  xt::xtensor<T, rank - 1> result(extents);
  for (std::size_t part = 0; part < parts; ++part)
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(shards.data() + (part * rows + row) * block, block, result.data() + (row * parts + part) * block);
  return result;
}

/// Repeats an array `count` times along a new axis, by default the first, as the array of a variable with that many groups of
/// replicas has it: (4, 6) twice is (2, 4, 6). A negative axis counts from the last of the result. Throws std::invalid_argument
/// for a count below 1, and for an axis that the result does not have.
template <class T, std::size_t rank>
xt::xtensor<T, rank + 1> repeat(const xt::xtensor<T, rank>& array, std::int64_t count, std::int64_t axis = 0) {
  const Text what = text("repeat: ", to_text(detail::host_shape_of(array)), " ", count, " times");
  const std::size_t times = detail::at_least_one(what, count), at = detail::axis_from_first(what, axis, rank + 1);
  std::array<std::size_t, rank + 1> extents{};
  extents[at] = times;
  for (std::size_t own = 0; own < rank; ++own) extents[own < at ? own : own + 1] = array.shape(own);
  xt::xtensor<T, rank + 1> result(extents);
  const std::size_t rows = detail::product(extents, 0, at), block = detail::product(extents, at + 1, rank + 1);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t time = 0; time < times; ++time)
      std::copy_n(array.data() + row * block, block, result.data() + (row * times + time) * block);
  return result;
}

}  // namespace tilewright::array_munging
