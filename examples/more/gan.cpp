// A generative adversarial network (Goodfellow et al., 2014) for points of the plane: the data are eight Gaussians on a circle.
// The generator turns noise into points; the discriminator tells points of the data from points that were made. Each run of the
// training program is one step of the discriminator and one of the generator, with an optimiser each.
//
// labels: none
// test:
// expect-regex: modes hit: [78] of 8
// expect-regex: points near a mode: ([89][0-9]|100)\.[0-9] %
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <tilewright/data/arrays.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/minimise.hpp>

namespace tw = tilewright;
using namespace tw::literals;
namespace ops = tw::ops;
using tw::Tensor, tw::layers::Linear, tw::train::minimise, tw::train::only;

constexpr int batch = 256;        // points in a step
constexpr int noise_size = 8;  // numbers that the generator makes a point of
constexpr int made_points = 2000;  // to look at after training
constexpr tw::optim::AdamParameters adam{.lr = 1e-3, .beta1 = 0.5};  // for both networks; less momentum than usual

/// Layers that are alike in both networks: two hidden layers, and `out` results.
template <int out>
struct Perceptron : tw::Module<Perceptron<out>> {
  BOOST_HANA_DEFINE_STRUCT(Perceptron<out>, (Linear<64>, hidden1), (Linear<64>, hidden2), (Linear<out>, head));
  constexpr Tensor build(Tensor x) { return head(ops::relu(hidden2(ops::relu(hidden1(x))))); }
};
using Generator = Perceptron<2>;      // the coordinates of a point
using Discriminator = Perceptron<1>;  // the logit of the probability that a point is of the data

struct Gan : tw::Module<Gan> {
  BOOST_HANA_DEFINE_STRUCT(Gan, (Generator, generator), (Discriminator, discriminator));
  constexpr Tensor judge_made(Tensor noise) { return discriminator(generator(noise)); }  // logits of points that are made
};

/// The discriminator should give real points logits above 0, and made ones logits below 0. Both calls share its variables.
constexpr Tensor discriminator_loss(Gan& gan, Tensor real, Tensor noise) {
  const Tensor of_real = gan.discriminator(real), of_made = gan.judge_made(noise);
  return ops::mean(ops::softplus(-of_real)) + ops::mean(ops::softplus(of_made));
}
constexpr Tensor generator_loss(Gan& gan, Tensor noise) { return ops::mean(ops::softplus(-gan.judge_made(noise))); }
constexpr void train(tw::Ir& ir) {
  const Tensor noise = ops::host_load(ir.h2d_stream("noise", {batch, noise_size}));
  const auto networks = minimise(ir, Gan{}, discriminator_loss, adam, {{"real", {batch, 2}}, noise},
                                 {.groups = {only("discriminator.*")}, .prefix = "discriminating"});
  minimise(ir, Gan{}, generator_loss, adam, {noise},
           {.groups = {only("generator.*")}, .variables = networks, .prefix = "generating"});
}

/// Makes points of noise, by the generator alone.
constexpr void make(tw::Ir& ir) {
  const auto noise = ops::host_load(ir.h2d_stream("noise", {made_points, noise_size}));
  const auto [factories, generator] = tw::create_graph(ir, Generator{}, noise);
  ops::host_store(ir.d2h_stream("points", {made_points, 2}), generator.bind(factories.init("generator")).call(noise));
}

using Rows = xt::xtensor<float, 2>;

/// The data: the mode of a point is one of eight places on a circle, and the point lies around it by a normal distribution.
constexpr int modes = 8;
constexpr float radius = 2, spread = 0.1F;
float mode_x(int mode) { return radius * std::cos(2 * std::numbers::pi_v<float> * static_cast<float>(mode) / modes); }
float mode_y(int mode) { return radius * std::sin(2 * std::numbers::pi_v<float> * static_cast<float>(mode) / modes); }

int main() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> any_mode(0, modes - 1);

  tw::Session<train> session({.seed = 1});
  const auto draw = [&](std::uint64_t) {  // the batch of a step
    tw::data::Arrays points("real"_s = Rows({batch, 2}), "noise"_s = Rows({batch, noise_size}));
    for (std::size_t i = 0; i < batch; ++i) {
      const int mode = any_mode(random);
      points["real"_s](i, 0) = mode_x(mode) + spread * normal(random);
      points["real"_s](i, 1) = mode_y(mode) + spread * normal(random);
    }
    for (float& number : points["noise"_s]) number = normal(random);
    return points;
  };
  tw::train::run_steps(session, draw, {.steps = 4000}, [](const tw::train::Progress& progress, const auto& losses) {
    if (progress.step % 500 == 0)
      std::printf("step %d: loss of the discriminator %.3f, of the generator %.3f\n", static_cast<int>(progress.step),
                  static_cast<double>(losses["discriminating.loss"_s]()), static_cast<double>(losses["generating.loss"_s]()));
  });

  // A made point is near a mode if it is within three standard deviations of it; a mode is hit if it has a quarter of its share.
  tw::Session<make> maker;
  maker.load_from_session(session);
  Rows made_noise({made_points, noise_size});
  for (float& number : made_noise) number = normal(random);
  const auto points = maker.run("noise"_s = made_noise)["points"_s];
  int near[modes] = {}, near_any = 0, hit = 0;
  for (std::size_t i = 0; i < made_points; ++i)
    for (int mode = 0; mode < modes; ++mode)
      if (std::hypot(points(i, 0) - mode_x(mode), points(i, 1) - mode_y(mode)) < 3 * spread) ++near[mode], ++near_any;
  for (const int count : near) hit += count >= made_points / modes / 4;
  std::printf("modes hit: %d of %d\n", hit, modes);
  std::printf("points near a mode: %.1f %%\n", 100.0 * near_any / made_points);
}
