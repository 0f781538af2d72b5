// A recurrent network learns an effect by ear: a low-pass filter of second order, and soft distortion after it. Then it takes the
// effect's place in a callback for 64 samples at 48 kHz. It runs there as one object, which calls no allocator and takes no lock.
//
// Sequences are trained in pieces of 64 samples. Each begins with the state that the piece before it has left, as in the
// callback. Wright et al., "Real-Time Guitar Amplifier Emulation with Deep Learning", Applied Sciences 10(3), 2020, train
// amplifiers so.
//
// labels: none
// test:
// expect-regex: error: 0\.0[0-9]+ % of the signal's energy
// expect-regex: load: [0-9.]+ % of real time
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <span>
#include <tilewright/layers/linear.hpp>
#include <tilewright/layers/recurrent.hpp>
#include <tilewright/ops/nn/losses.hpp>
#include <tilewright/session/static_session.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/minimise.hpp>
#include <utility>
#include <vector>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor;

constexpr int sample_rate = 48'000, block_size = 64, hidden = 16;
constexpr int batch = 32, steps = 1'500, seconds_heard = 2;

/// x: (batch, samples, 1). state: (1, batch, hidden). Gives the samples of the effect, and the state after them.
struct Effect : tw::Module<Effect> {
  BOOST_HANA_DEFINE_STRUCT(Effect, (tw::layers::GRU<hidden>, gru), (tw::layers::Linear<1>, head));
  constexpr std::pair<Tensor, Tensor> build(Tensor x, Tensor state) {
    const auto [states, last] = gru(x, state);
    return {head(states), last};
  }
};

constexpr std::pair<Tensor, Tensor> square_error(Effect& effect, Tensor x, Tensor state, Tensor y) {
  const auto [heard, next] = effect(x, state);
  return {ops::mse_loss(heard, y), next};
}
constexpr void train(tw::Ir& ir) {
  const Tensor rate = ops::host_load(ir.h2d_stream("rate", {}));
  tw::train::minimise(ir, Effect{}, square_error, tw::optim::AdamParameters{.lr = rate},
                      {{"x", {batch, block_size, 1}}, {"state", {1, batch, hidden}}, {"y", {batch, block_size, 1}}},
                      {.outputs = {"next"}});
}
constexpr void play(tw::Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {1, block_size, 1})),
               state = ops::host_load(ir.h2d_stream("state", {1, 1, hidden}));
  const auto [factories, effect] = tw::create_graph(ir, Effect{}, x, state);
  const auto call = effect.bind(factories.init()).call_with_info(x, state);
  ops::host_store(ir.d2h_stream("y", {1, block_size, 1}), call.output(0));
  ops::host_store(ir.d2h_stream("next", {1, 1, hidden}), call.output(1));
}

/// The effect that is learnt: a low-pass of second order at 3 kHz with Q = 1 (Bristow-Johnson's cookbook), then tanh.
class LowPassAndDistortion {
 public:
  float operator()(float x) {
    const double y = b * (double{x} + 2 * x1_ + x2_) - a1 * y1_ - a2 * y2_;
    x2_ = std::exchange(x1_, double{x});
    y2_ = std::exchange(y1_, y);
    return static_cast<float>(std::tanh(2 * y));
  }

 private:
  static inline const double w = 2 * std::numbers::pi * 3'000 / sample_rate, alpha = std::sin(w) / 2, a0 = 1 + alpha;
  static inline const double b = (1 - std::cos(w)) / 2 / a0, a1 = -2 * std::cos(w) / a0, a2 = (1 - alpha) / a0;
  double x1_ = 0, x2_ = 0, y1_ = 0, y2_ = 0;
};

/// Notes of random pitch and loudness, each of 1,500 samples, with noise.
class Notes {
 public:
  explicit Notes(unsigned seed) : random_(seed) {}
  float operator()() {
    if (at_++ % 1'500 == 0) {
      frequency_ = 60 * std::exp2(7 * draw()) / sample_rate;
      loudness_ = 0.1 + 0.7 * draw();
      noise_ = 0.2 * draw();
    }
    phase_ = std::fmod(phase_ + frequency_, 1.0);
    return static_cast<float>(loudness_ * std::sin(2 * std::numbers::pi * phase_) + noise_ * (2 * draw() - 1));
  }

 private:
  double draw() { return static_cast<double>(random_()) / 0x1p32; }
  std::mt19937 random_;
  int at_ = 0;
  double frequency_ = 0, loudness_ = 0, noise_ = 0, phase_ = 0;
};

constinit static tw::StaticSession<play, tw::one_core> player;

/// What an audio driver calls, for each block of samples, on a thread that must not wait.
bool callback(std::span<const float, block_size> in, std::span<float, block_size> out) {
  const bool is_done = player.run("x"_s = in, "y"_s = out).is_done();
  std::ranges::copy(player.stream("next"_s), player.stream("state"_s).begin());
  return is_done;
}

int main() {
  tw::Session<train> session({.seed = 1});
  std::vector<Notes> notes;
  for (unsigned seed = 1; seed <= batch; ++seed) notes.emplace_back(seed);
  std::vector<LowPassAndDistortion> effects(batch);
  xt::xtensor<float, 3> x({batch, block_size, 1}), y({batch, block_size, 1}), state = xt::zeros<float>({1, batch, hidden});
  for (int step = 0; step < steps; ++step) {
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t i = 0; i < block_size; ++i) y(b, i, 0) = effects[b](x(b, i, 0) = notes[b]());
    const float rate = 5e-3f * std::min(1.0f, 2 * (1 - static_cast<float>(step) / steps));
    const auto outputs = session.run("rate"_s = rate, "x"_s = x, "state"_s = state, "y"_s = y);
    state = outputs["next"_s];
    if (step % 300 == 0) std::printf("step %d: loss %.5f\n", step, double{outputs["loss"_s]()});
  }

  if (!player.init().is_done() || !player.load_from_session(session).is_done()) return 1;
  Notes held_out(0);
  LowPassAndDistortion effect;
  double error = 0, energy = 0, busy = 0;
  for (int i = 0; i < seconds_heard * sample_rate / block_size; ++i) {
    std::array<float, block_size> in{}, out{};
    for (float& sample : in) sample = held_out();
    const auto start = std::chrono::steady_clock::now();
    if (!callback(in, out)) return 1;
    busy += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (std::size_t s = 0; s < block_size; ++s) {
      const double expected = effect(in[s]);
      error += (out[s] - expected) * (out[s] - expected);
      energy += expected * expected;
    }
  }
  std::printf("the object has %zu bytes\n", sizeof player);
  std::printf("error: %.3f %% of the signal's energy\n", 100 * error / energy);
  std::printf("load: %.2f %% of real time\n", 100 * busy / seconds_heard);
}
