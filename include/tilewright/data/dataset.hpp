#pragma once
#include <cstdint>

#include "tilewright/kernel/xtensor.hpp"

namespace tilewright {

/// Labelled grey images in memory. MNIST and generated digits are 28 x 28 with labels 0 to 9.
struct Dataset {
  xt::xtensor<float, 3> images;         ///< [count, height, width], normalised
  xt::xtensor<std::int32_t, 1> labels;  ///< [count], the class of each image
};

/// The usual MNIST statistics: mean and standard deviation of all pixels of the training set, scaled to [0, 1]
/// (tests/run/data_idx.cpp computes them from the published files).
inline constexpr float mnist_mean = 0.1307f;
inline constexpr float mnist_standard_deviation = 0.3081f;

/// A grey value as networks read it: MNIST's training pixels have mean 0 and standard deviation 1.
/// 0 (paper) becomes -0.4242, 255 (ink) becomes 2.8215.
constexpr float mnist_normalised(std::uint8_t pixel) {
  return (static_cast<float>(pixel) / 255.0f - mnist_mean) / mnist_standard_deviation;
}

}  // namespace tilewright
