#pragma once
// Images of 28 x 28 pixels for programs that are compiled beside the README's: ten fixed images with noise, and their numbers.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

inline constexpr int pixels = 28 * 28, classes = 10;

struct Digits {
  std::vector<float> images;  // rows of `pixels`, in [0, 1]
  std::vector<std::int64_t> labels;
};

inline Digits made_up_digits(int count, unsigned seed) {
  std::mt19937 same(1), random(seed);
  std::uniform_real_distribution<float> grey(0, 1);
  std::vector<float> means(classes * pixels);
  for (auto& mean : means) mean = grey(same);
  Digits digits;
  for (int i = 0; i < count; ++i) {
    const int label = static_cast<int>(random() % classes);
    digits.labels.push_back(label);
    for (int pixel = 0; pixel < pixels; ++pixel)
      digits.images.push_back(0.2f * means[static_cast<std::size_t>(label * pixels + pixel)] + 0.8f * grey(random));
  }
  return digits;
}
