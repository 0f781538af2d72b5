#pragma once
// The tutorial's training step (batches of 8, gradient descent) as one writes it with a library for products of matrices:
// three products for each layer, and loops for the rest. Gradients of weights are subtracted by the product that makes them.
#include "mnist_parts.hpp"

/// `Products` has, for row-major matrices of static shape,
///     multiply<m, k, n>(a, b, c)                          c += a b
///     multiply_transposed<m, k, n>(a, b, c)               c = a b^T
///     subtract_transposed<m, k, n>(factor, a, b, c)       c -= factor a^T b
template <class Products>
class Training {
 public:
  Training() {
    std::normal_distribution<float> normal(0, 0.02f);
    const auto initialise = [&](float* weight, int count) {
      for (int i = 0; i < count; ++i) weight[i] = normal(random_);
    };
    initialise(w1_, pixels * width), initialise(w2_, width * width), initialise(w3_, width * width);
    initialise(w4_, width * classes);
  }

  void step() {
    const float* x = data_.images(steps_);
    forward<pixels, width>(x, w1_, b1_, y1_), gelu(y1_, slope1_, {0, width});
    forward<width, width>(y1_, w2_, b2_, y2_), gelu(y2_, slope2_, {0, width});
    forward<width, width>(y2_, w3_, b3_, y3_), gelu(y3_, slope3_, {0, width});
    forward<width, classes>(y3_, w4_, b4_, scores_);
    loss_ = cross_entropy<classes>(scores_, data_.labels(steps_++));
    backward<width, classes>(y3_, w4_, b4_, scores_, d3_, slope3_);
    backward<width, width>(y2_, w3_, b3_, d3_, d2_, slope2_);
    backward<width, width>(y1_, w2_, b2_, d2_, d1_, slope1_);
    backward<pixels, width>(x, w1_, b1_, d1_, nullptr, nullptr);
  }

 private:
  static constexpr float rate = 0.05f;

  template <int in, int out>
  void forward(const float* x, const float* weight, const float* bias, float* y) {
    for (int m = 0; m < batch_size; ++m) std::copy(bias, bias + out, y + m * out);
    Products::template multiply<batch_size, in, out>(x, weight, y);
  }
  template <int in, int out>
  void backward(const float* x, float* weight, float* bias, const float* dy, float* dx, const float* slope) {
    if (dx) {
      Products::template multiply_transposed<batch_size, out, in>(dy, weight, dx);
      for (int i = 0; i < batch_size * in; ++i) dx[i] *= slope[i];
    }
    Products::template subtract_transposed<in, batch_size, out>(rate, x, dy, weight);
    for (int m = 0; m < batch_size; ++m)
      for (int n = 0; n < out; ++n) bias[n] -= rate * dy[m * out + n];
  }

  std::mt19937 random_{1};
  Data data_{random_};
  static constexpr int hidden = batch_size * width;
  Floats w1_{pixels * width}, w2_{width * width}, w3_{width * width}, w4_{width * classes};
  Floats b1_{width}, b2_{width}, b3_{width}, b4_{classes};
  Floats y1_{hidden}, y2_{hidden}, y3_{hidden}, slope1_{hidden}, slope2_{hidden}, slope3_{hidden};
  Floats d1_{hidden}, d2_{hidden}, d3_{hidden}, scores_{batch_size * classes};
  volatile float loss_ = 0;
  int steps_ = 0;
};

/// The main function of such a peer, for one thread.
template <class Products>
int serve_training() {
  Training<Products> training;
  return serve([&] { training.step(); },
               [&](double seconds) { return iterations_per_second(seconds, [&](std::size_t) { training.step(); }); },
               [] { return 1; });
}
