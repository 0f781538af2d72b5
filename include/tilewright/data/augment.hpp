#pragma once
// Random changes of images for a loader's Transform.
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/core/random/random.hpp"
#include "tilewright/data/data_error.hpp"
#include "tilewright/data/shuffle.hpp"

namespace tilewright::data {

/// Position of the channels among the axes of an image. An image of two axes, (height, width), has no channels.
enum class ChannelAxis : std::uint8_t {
  first,  ///< (channels, height, width), as ops::conv takes images
  last    ///< (height, width, channels), as files have pixels
};

/// Whether T is an array of two or three axes in memory, such as an xt::xtensor, a strided view of one, or an array of a Sample.
template <class T>
concept Image = requires(T&& image) {
  requires std::tuple_size_v<typename std::remove_cvref_t<T>::shape_type> == 2 ||
                   std::tuple_size_v<typename std::remove_cvref_t<T>::shape_type> == 3;
  image.data();
  image.strides();
};

namespace detail {
/// An image as (height, width, channels), whatever the order of its axes.
template <class Element>
struct Pixels {
  Element* data;
  std::array<std::ptrdiff_t, 3> extents, strides;

  Element& operator()(std::ptrdiff_t row, std::ptrdiff_t column, std::ptrdiff_t channel) const {
    return data[row * strides[0] + column * strides[1] + channel * strides[2]];
  }
  /// Calls f(row, column) for all pixels; from the last row or column if `up` or `left`.
  void for_each(bool up, bool left, auto f) const {
    for (std::ptrdiff_t i = 0; i < extents[0]; ++i)
      for (std::ptrdiff_t k = 0; k < extents[1]; ++k) f(up ? extents[0] - 1 - i : i, left ? extents[1] - 1 - k : k);
  }
};
template <Image T>
auto pixels(T& image, ChannelAxis channels) {
  const auto extent = [&](std::size_t axis) { return static_cast<std::ptrdiff_t>(image.shape()[axis]); };
  const auto stride = [&](std::size_t axis) { return static_cast<std::ptrdiff_t>(image.strides()[axis]); };
  using Result = Pixels<std::remove_reference_t<decltype(*image.data())>>;
  auto* data = image.data();
  if constexpr (requires { image.data_offset(); }) data += image.data_offset();  // of a view
  if constexpr (std::tuple_size_v<typename T::shape_type> == 2) {
    return Result{data, {extent(0), extent(1), 1}, {stride(0), stride(1), 0}};
  } else {
    const std::size_t row = channels == ChannelAxis::first ? 1 : 0, channel = channels == ChannelAxis::first ? 0 : 2;
    return Result{data, {extent(row), extent(row + 1), extent(channel)}, {stride(row), stride(row + 1), stride(channel)}};
  }
}
/// Returns a uniform number of -most to most.
inline std::ptrdiff_t draw_offset(Random& random, std::size_t most) {
  return static_cast<std::ptrdiff_t>(draw_below(2 * most + 1, random)) - static_cast<std::ptrdiff_t>(most);
}
inline void require_within(std::string_view function, std::size_t most, std::ptrdiff_t extent, const char* what) {
  if (most > static_cast<std::size_t>(extent))
    throw DataError(function, std::to_string(most) + " " + what + " of an image with " + std::to_string(extent),
                    "at most " + std::to_string(extent));
}
}  // namespace detail

/// Mirrors an image in place: left becomes right.
template <Image T>
void flip_horizontal(T&& image, ChannelAxis channels = ChannelAxis::first) {
  const auto pixels = detail::pixels(image, channels);
  const auto [rows, columns, depth] = pixels.extents;
  for (std::ptrdiff_t row = 0; row < rows; ++row)
    for (std::ptrdiff_t column = 0; column < columns / 2; ++column)
      for (std::ptrdiff_t i = 0; i < depth; ++i) std::swap(pixels(row, column, i), pixels(row, columns - 1 - column, i));
}
/// Mirrors an image in place: top becomes bottom.
template <Image T>
void flip_vertical(T&& image, ChannelAxis channels = ChannelAxis::first) {
  const auto pixels = detail::pixels(image, channels);
  const auto [rows, columns, depth] = pixels.extents;
  for (std::ptrdiff_t row = 0; row < rows / 2; ++row)
    for (std::ptrdiff_t column = 0; column < columns; ++column)
      for (std::ptrdiff_t i = 0; i < depth; ++i) std::swap(pixels(row, column, i), pixels(rows - 1 - row, column, i));
}
/// Moves the content of an image in place: `rows` down and `columns` to the right, or up and to the left if they are negative.
/// Pixels without content become `fill`.
template <Image T>
void shift(T&& image, std::ptrdiff_t rows, std::ptrdiff_t columns, typename std::remove_cvref_t<T>::value_type fill = {},
           ChannelAxis channels = ChannelAxis::first) {
  const auto pixels = detail::pixels(image, channels);
  const auto [height, width, depth] = pixels.extents;
  const std::ptrdiff_t down = std::clamp(rows, -height, height), right = std::clamp(columns, -width, width);
  pixels.for_each(down > 0, right > 0, [&](std::ptrdiff_t row, std::ptrdiff_t column) {  // reads a pixel before it is written
    const std::ptrdiff_t from_row = row - down, from_column = column - right;
    const bool has_content = from_row >= 0 && from_row < height && from_column >= 0 && from_column < width;
    for (std::ptrdiff_t i = 0; i < depth; ++i) pixels(row, column, i) = has_content ? pixels(from_row, from_column, i) : fill;
  });
}

/// Mirrors an image left to right with a probability, as torchvision's RandomHorizontalFlip. Draws one number. Throws DataError
/// for a probability outside of 0 to 1.
template <Image T>
void random_flip(T&& image, Random& random, double probability = 0.5, ChannelAxis channels = ChannelAxis::first) {
  if (!(probability >= 0 && probability <= 1))
    throw DataError("random_flip", "a probability of " + std::to_string(probability), "0 to 1");
  if (random.uniform() < probability) flip_horizontal(image, channels);
}
/// Moves the content of an image by at most `rows` up or down and at most `columns` left or right. All moves are equally
/// probable. Pixels without content become `fill`. Draws two numbers. Throws DataError for moves beyond the image's size.
template <Image T>
void random_shift(T&& image, Random& random, std::size_t rows, std::size_t columns,
                  typename std::remove_cvref_t<T>::value_type fill = {}, ChannelAxis channels = ChannelAxis::first) {
  const auto extents = detail::pixels(image, channels).extents;
  detail::require_within("random_shift", rows, extents[0], "rows");
  detail::require_within("random_shift", columns, extents[1], "columns");
  const std::ptrdiff_t down = detail::draw_offset(random, rows);
  shift(image, down, detail::draw_offset(random, columns), fill, channels);
}
/// Pads an image by `padding` pixels of `fill` on each side, and crops it at a random place to its size, as torchvision's
/// RandomCrop with padding. Draws two numbers. Throws DataError for a padding beyond the image's size.
template <Image T>
void random_crop(T&& image, Random& random, std::size_t padding, typename std::remove_cvref_t<T>::value_type fill = {},
                 ChannelAxis channels = ChannelAxis::first) {
  const auto extents = detail::pixels(image, channels).extents;
  detail::require_within("random_crop", padding, (std::min)(extents[0], extents[1]), "pixels of padding");
  random_shift(image, random, padding, padding, fill, channels);  // a crop of a padded image is the image, moved
}

}  // namespace tilewright::data
