#pragma once
// What the hand-written peers share: data, and the parts of the tutorial's training step that are no products of matrices.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <random>

#include "../protocol.hpp"

inline constexpr int batch_size = 8, batches = 16, label_batches = 13, pixels = 28 * 28, width = 512, classes = 10;

/// Zeros at addresses that vectors may be loaded from.
class Floats {
 public:
  explicit Floats(std::size_t count) : data_(new(std::align_val_t{64}) float[count]()) {}
  operator float*() const { return data_.get(); }

 private:
  struct Delete {
    void operator()(float* p) const { operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<float[], Delete> data_;
};

struct Range {
  int begin, end;
};

/// Batches in memory: see workloads/session.hpp.
class Data {
 public:
  explicit Data(std::mt19937& random) {
    std::uniform_real_distribution<float> pixel(-1, 1);
    for (int i = 0; i < batches * batch_size * pixels; ++i) images_[i] = pixel(random);
    for (auto& label : labels_) label = static_cast<std::int32_t>(random() % classes);
  }
  const float* images(int step) const { return images_ + step % batches * batch_size * pixels; }
  const std::int32_t* labels(int step) const { return labels_.data() + step % label_batches * batch_size; }

 private:
  Floats images_{batches * batch_size * pixels};
  std::array<std::int32_t, label_batches * batch_size> labels_;
};

/// y becomes gelu(y), and slope its derivative there. 0.5 (1 + tanh(u)) is a sigmoid of 2u.
inline void gelu(float* __restrict y, float* __restrict slope, Range columns) {
  for (int m = 0; m < batch_size; ++m)
    for (int n = columns.begin; n < columns.end; ++n) {
      const float x = y[m * width + n], xx = 0.044715f * x * x;
      const float s = 1 / (1 + std::exp(-2 * 0.7978845608f * x * (1 + xx)));
      slope[m * width + n] = s + 2 * 0.7978845608f * x * s * (1 - s) * (1 + 3 * xx);
      y[m * width + n] = x * s;
    }
}

/// The mean cross entropy of scores, in rows `stride` apart, and labels; the scores become its gradient.
template <int stride>
float cross_entropy(float* scores, const std::int32_t* labels) {
  float loss = 0;
  for (int m = 0; m < batch_size; ++m, scores += stride) {
    const float top = *std::max_element(scores, scores + classes);
    float sum = 0;
    for (int n = 0; n < classes; ++n) sum += scores[n] = std::exp(scores[n] - top);
    loss -= std::log(scores[labels[m]] / sum) / batch_size;
    for (int n = 0; n < classes; ++n) scores[n] = (scores[n] / sum - (n == labels[m])) / batch_size;
  }
  return loss;
}
