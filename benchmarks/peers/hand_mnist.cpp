// The tutorial's training step written by hand for its shapes, as the yardstick for what the machine can do:
// 784-512-512-512-10 with gelu (tanh form), batches of 8, mean cross entropy, float32, gradient descent or Adam.
//
//   hand_mnist sgd|adam THREADS      measured as ../protocol.hpp says; -O3 -march=native -ffast-math
//
// What it does for speed: every loop has constant bounds. A block of 8 rows and 48 columns of a product stays in registers.
// Activations and their slopes are computed together, from one exponential. A weight's gradient stays in registers until it has
// updated the weight; the same pass over the weights makes the gradient of the layer's input. Every thread keeps its columns
// (forward) and rows (backward) of the weights from step to step.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "mnist_parts.hpp"

namespace {

constexpr int lanes = 16;

using Vector = float __attribute__((vector_size(64)));
inline Vector load(const float* p) { return *reinterpret_cast<const Vector*>(p); }
inline void store(float* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }

constexpr int padded(int n) { return (n + lanes - 1) / lanes * lanes; }

/// The part of 0..n that a thread does, in multiples of `grain`.
Range part(int n, int grain, int thread, int threads) {
  const int blocks = n / grain;
  return {blocks * thread / threads * grain, blocks * (thread + 1) / threads * grain};
}

struct SpinBarrier {
  int threads = 1;
  std::atomic<int> arrived{0}, round{0};

  void wait() {
    if (threads == 1) return;
    const int mine = round.load(std::memory_order_relaxed);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
      arrived.store(0, std::memory_order_relaxed);
      round.store(mine + 1, std::memory_order_release);
    } else {
      while (round.load(std::memory_order_acquire) == mine) __builtin_ia32_pause();
    }
  }
};

/// w -= rate * gradient.
struct GradientDescent {
  static constexpr int moments = 0;
  static constexpr float rate = 0.05f;
  void next_step() {}
  Vector updated(Vector w, Vector gradient, float*, float*) const { return w - rate * gradient; }
};

/// Adam with bias correction (arXiv 1412.6980, algorithm 1), both moments float32, as torch.optim.Adam does it.
struct Adam {
  static constexpr int moments = 2;
  static constexpr float rate = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  float power1 = 1, power2 = 1, step_size = 0, scale = 0;

  void next_step() {
    power1 *= beta1, power2 *= beta2;
    step_size = rate / (1 - power1), scale = 1 / std::sqrt(1 - power2);
  }
  Vector updated(Vector w, Vector gradient, float* first, float* second) const {
    const Vector m = beta1 * load(first) + (1 - beta1) * gradient;
    const Vector v = beta2 * load(second) + (1 - beta2) * gradient * gradient;
    store(first, m), store(second, v);
    Vector root;
    for (int i = 0; i < lanes; ++i) root[i] = std::sqrt(v[i]);
    return w - step_size * m / (root * scale + epsilon);
  }
};

/// A linear layer of `in` inputs and `out` outputs, which have zeros after them up to full vectors.
template <int in, int outputs, class Optimiser>
struct Layer {
  static constexpr int out = padded(outputs);
  static constexpr std::size_t size = std::size_t(in) * out;
  Floats weight{size}, bias{out};
  Floats m{size * (Optimiser::moments > 0)}, v{size * (Optimiser::moments > 1)};
  Floats bias_m{out}, bias_v{out};

  explicit Layer(std::mt19937& random) {
    std::normal_distribution<float> normal(0, 0.02f);
    for (int k = 0; k < in; ++k)
      for (int n = 0; n < outputs; ++n) weight[k * out + n] = normal(random);
  }

  template <int columns>
  void forward_block(const float* __restrict x, float* __restrict y, int n) const {
    Vector sum[batch_size][columns];
    for (auto& row : sum)
      for (int j = 0; j < columns; ++j) row[j] = load(bias + n + j * lanes);
    for (int k = 0; k < in; ++k) {
      const float* w = weight + k * out + n;
#pragma GCC unroll 8
      for (int m_ = 0; m_ < batch_size; ++m_)
#pragma GCC unroll 3
        for (int j = 0; j < columns; ++j) sum[m_][j] += x[m_ * in + k] * load(w + j * lanes);
    }
    for (int m_ = 0; m_ < batch_size; ++m_)
      for (int j = 0; j < columns; ++j) store(y + m_ * out + n + j * lanes, sum[m_][j]);
  }
  /// y = x W + b for some columns.
  void forward(const float* x, float* y, Range columns) const {
    int n = columns.begin;
    for (; n + 3 * lanes <= columns.end; n += 3 * lanes) forward_block<3>(x, y, n);
    if (n + 2 * lanes == columns.end) forward_block<2>(x, y, n);
    else if (n < columns.end) forward_block<1>(x, y, n);
  }

  /// W is updated by the gradient x^T dy, and dx = dy W^T made of what it was, for some rows of W.
  template <bool needs_dx>
  void backward(const float* __restrict x, const float* __restrict dy, float* __restrict dx, Range rows,
                const Optimiser& optimiser) {
    for (int k = rows.begin; k < rows.end; ++k) {
      Vector sum[batch_size]{};
      for (int n = 0; n < out; n += lanes) {
        float* w = weight + k * out + n;
        const Vector old = load(w);
        Vector even{}, odd{};  // two chains of additions
#pragma GCC unroll 8
        for (int m_ = 0; m_ < batch_size; ++m_) {
          const Vector g = load(dy + m_ * out + n);
          if (needs_dx) sum[m_] += g * old;
          (m_ % 2 ? odd : even) += x[m_ * in + k] * g;
        }
        store(w, optimiser.updated(old, even + odd, m + k * out + n, v + k * out + n));
      }
      if (needs_dx)
        for (int m_ = 0; m_ < batch_size; ++m_) {
          float total = 0;
          for (int i = 0; i < lanes; ++i) total += sum[m_][i];
          dx[m_ * in + k] = total;
        }
    }
  }
  void update_bias(const float* dy, const Optimiser& optimiser) {
    for (int n = 0; n < out; n += lanes) {
      Vector gradient{};
      for (int m_ = 0; m_ < batch_size; ++m_) gradient += load(dy + m_ * out + n);
      store(bias + n, optimiser.updated(load(bias + n), gradient, bias_m + n, bias_v + n));
    }
  }
};

template <class Optimiser>
class Training {
 public:
  explicit Training(int threads) : threads_(threads) { barrier_.threads = threads; }
  int threads() const { return threads_; }

  double iterations_per_second(double seconds) {
    const Stopwatch watch;
    stop_ = false, steps_ = 0;
    std::vector<std::thread> others;
    for (int t = 1; t < threads_; ++t) others.emplace_back([this, t] { run(t, [] { return false; }); });
    run(0, [&] { return watch.seconds() >= seconds; });
    const double elapsed = watch.seconds();
    for (auto& other : others) other.join();
    return steps_ / elapsed;
  }

 private:
  void run(int thread, const auto& time_is_up) {
    do {
      step(thread, data_.images(steps_), data_.labels(steps_));
      if (thread == 0) ++steps_, stop_ = time_is_up();
      barrier_.wait();
    } while (!stop_);
  }

  void step(int thread, const float* x, const std::int32_t* labels) {
    const Range columns = part(512, lanes, thread, threads_), rows = part(512, 1, thread, threads_);
    layer1_.forward(x, y1_, columns), gelu(y1_, slope1_, columns), barrier_.wait();
    layer2_.forward(y1_, y2_, columns), gelu(y2_, slope2_, columns), barrier_.wait();
    layer3_.forward(y2_, y3_, columns), gelu(y3_, slope3_, columns), barrier_.wait();
    if (thread == 0) {
      optimiser_.next_step();
      layer4_.forward(y3_, scores_, {0, padded(classes)});
      loss_ = cross_entropy<padded(classes)>(scores_, labels);
    }
    barrier_.wait();
    const auto times = [&](float* d, const float* slope) {  // the gradient on its way through gelu
      for (int m = 0; m < batch_size; ++m)
        for (int n = rows.begin; n < rows.end; ++n) d[m * 512 + n] *= slope[m * 512 + n];
      barrier_.wait();
    };
    layer4_.template backward<true>(y3_, scores_, d3_, rows, optimiser_), times(d3_, slope3_);
    layer3_.template backward<true>(y2_, d3_, d2_, rows, optimiser_), times(d2_, slope2_);
    layer2_.template backward<true>(y1_, d2_, d1_, rows, optimiser_), times(d1_, slope1_);
    layer1_.template backward<false>(x, d1_, nullptr, part(784, 1, thread, threads_), optimiser_);
    if (thread != threads_ - 1) return;
    layer1_.update_bias(d1_, optimiser_), layer2_.update_bias(d2_, optimiser_), layer3_.update_bias(d3_, optimiser_);
    layer4_.update_bias(scores_, optimiser_);
  }

  int threads_;
  std::mt19937 random_{1};
  Optimiser optimiser_{};
  Layer<784, width, Optimiser> layer1_{random_};
  Layer<512, width, Optimiser> layer2_{random_}, layer3_{random_};
  Layer<512, classes, Optimiser> layer4_{random_};
  Data data_{random_};
  static constexpr int hidden = batch_size * width;
  Floats y1_{hidden}, y2_{hidden}, y3_{hidden}, slope1_{hidden}, slope2_{hidden}, slope3_{hidden};
  Floats d1_{hidden}, d2_{hidden}, d3_{hidden}, scores_{batch_size * padded(classes)};
  volatile float loss_ = 0;
  SpinBarrier barrier_;
  int steps_ = 0;
  bool stop_ = false;  // changed and read on different sides of a barrier
};

template <class Optimiser>
int serve_training(int threads) {
  Training<Optimiser> training(threads);
  return serve([&] { training.iterations_per_second(0); }, [&](double s) { return training.iterations_per_second(s); },
               [&] { return training.threads(); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s sgd|adam THREADS\n", argv[0]), 2;
  const int threads = std::max(1, std::atoi(argv[2]));
  return std::strcmp(argv[1], "adam") == 0 ? serve_training<Adam>(threads) : serve_training<GradientDescent>(threads);
}
