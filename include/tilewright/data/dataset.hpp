#pragma once
#include <array>
#include <cstdint>

#include "tilewright/kernel/xtensor.hpp"

namespace tilewright::data {

/// Labelled grey images in memory.
struct Dataset {
  xt::xtensor<float, 3> images;  ///< (count, height, width), normalised
  xt::xtensor<std::int32_t, 1> labels;  ///< (count,), the class of each image

  Dataset() : Dataset(0, 0, 0) {}
  /// Room for `count` images.
  Dataset(std::size_t count, std::size_t height, std::size_t width)
      : images(std::array{count, height, width}), labels(std::array{count}) {}

  std::size_t size() const { return labels.size(); }
  /// Elements of one image.
  std::size_t image_size() const { return images.shape(1) * images.shape(2); }
};

/// Pictures of the digits 0 to 9, 28 x 28: MNIST or generated ones.
struct Digits {
  Dataset train, test;
};

/// The usual MNIST statistics: mean and standard deviation of all pixels of the training set, scaled to [0, 1].
inline constexpr float mnist_mean = 0.1307f;
inline constexpr float mnist_standard_deviation = 0.3081f;

/// A grey value as networks read it: 0 (paper) becomes -0.4242, 255 (ink) becomes 2.8215.
constexpr float normalised(std::uint8_t grey) {
  return (static_cast<float>(grey) / 255.0f - mnist_mean) / mnist_standard_deviation;
}

}  // namespace tilewright::data
