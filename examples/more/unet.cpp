// A small U-Net (Ronneberger, Fischer and Brox, 2015) finds the pixels of a shape in a noisy image. One half of the network makes
// the image smaller, the other half makes it larger again; at each size, a skip connection hands what the first half has seen to
// the second. The images are generated: a bright disc or rectangle, behind it a ramp of grey that means nothing, and strong
// noise.
//
// labels: more
// test:
// expect-regex: intersection over union on held-out images: 0\.[89]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <tilewright/data/arrays.hpp>
#include <tilewright/layers/conv.hpp>
#include <tilewright/layers/pool.hpp>
#include <tilewright/ops/nn/binary_cross_entropy.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/evaluate.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/minimise.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor, tw::train::minimise;

constexpr int side = 32;  // of the images, in pixels
constexpr int batch = 16;
constexpr int test_batch = 32;

/// Two convolutions of 3 x 3 pixels, which keep the size of the image.
template <int channels>
struct Block : tw::Module<Block<channels>> {
  using Conv = tw::layers::Conv2d<channels, 3, {.padding = 1}>;
  BOOST_HANA_DEFINE_STRUCT(Block<channels>, (Conv, conv1), (Conv, conv2));
  constexpr Tensor build(Tensor x) { return ops::relu(conv2(ops::relu(conv1(x)))); }
};

struct UNet : tw::Module<UNet> {
  using Pool = tw::layers::MaxPool2d<2>;  // half as wide and high
  using Up2 = tw::layers::ConvTranspose2d<16, 2, {.stride = {2, 2}}>;  // twice as wide and high
  using Up1 = tw::layers::ConvTranspose2d<8, 2, {.stride = {2, 2}}>;
  using Head = tw::layers::Conv2d<1, 1>;
  BOOST_HANA_DEFINE_STRUCT(UNet, (Block<8>, down1), (Block<16>, down2), (Block<32>, bottom), (Pool, pool1), (Pool, pool2),
                           (Up2, up2), (Block<16>, merge2), (Up1, up1), (Block<8>, merge1), (Head, head));

  /// For each pixel, the logit of the probability that it belongs to the shape.
  constexpr Tensor build(Tensor image) {  // (batch, 1, 32, 32)
    const Tensor large = down1(image);  // (batch, 8, 32, 32)
    const Tensor middle = down2(pool1(large));  // (batch, 16, 16, 16)
    const Tensor small = bottom(pool2(middle));  // (batch, 32, 8, 8)
    const Tensor merged = merge2(ops::concat({middle, up2(small)}, 1));
    return head(merge1(ops::concat({large, up1(merged)}, 1)));  // (batch, 1, 32, 32)
  }
};

constexpr Tensor loss(UNet& net, Tensor image, Tensor mask) { return ops::binary_cross_entropy_with_logits(net(image), mask); }
constexpr void train(tw::Ir& ir) {
  minimise(ir, UNet{}, loss, tw::optim::AdamWParameters{.lr = 2e-3},
           {{"image", {batch, 1, side, side}}, {"mask", {batch, 1, side, side}}});
}

/// The logits of all pixels of the images.
constexpr void segment(tw::Ir& ir) {
  const Tensor images = ops::host_load(ir.h2d_stream("image", {test_batch, 1, side, side}));
  const auto [factories, net] = tw::create_graph(ir, UNet{}, images);
  ops::host_store(ir.d2h_stream("logits", {test_batch, 1, side, side}), net.bind(factories.init()).call(images));
}

/// Images, and masks that are 1 where the shape is and 0 elsewhere.
auto draw(std::mt19937& random, std::size_t count) {
  using Images = xt::xtensor<float, 4>;  // (images, 1, height, width)
  tw::data::Arrays result("image"_s = Images({count, 1, side, side}), "mask"_s = Images({count, 1, side, side}));
  constexpr float brightness = 1;
  std::uniform_int_distribution<int> any_place(8, side - 9), any_size(4, 8), coin(0, 1);
  std::uniform_real_distribution<float> any_slope(-1, 1);
  std::normal_distribution<float> noise(0, 0.7F);
  for (std::size_t i = 0; i < count; ++i) {
    const int x = any_place(random), y = any_place(random), half_width = any_size(random), half_height = any_size(random);
    const bool is_disc = coin(random) == 1;
    const float slope = any_slope(random);
    for (int row = 0; row < side; ++row)
      for (int column = 0; column < side; ++column) {
        const int dx = std::abs(column - x), dy = std::abs(row - y);
        const bool inside = is_disc ? dx * dx + dy * dy <= half_width * half_width : dx <= half_width && dy <= half_height;
        const float background = slope * static_cast<float>(column - side / 2) / side;
        result["mask"_s](i, 0, row, column) = inside ? 1 : 0;
        result["image"_s](i, 0, row, column) = background + (inside ? brightness : 0) + noise(random);
      }
  }
  return result;
}

int main() {
  std::mt19937 random(1);
  const auto held_out = draw(random, 128);

  tw::Session<train> session({.seed = 1});
  const auto report = [](const tw::train::Progress& progress) {
    if (progress.step % 100 == 0) std::printf("step %d: loss %.4f\n", static_cast<int>(progress.step), double{progress.loss});
  };
  tw::train::run_steps(session, [&](std::uint64_t) { return draw(random, batch); }, {.steps = 500}, report);

  // Of the pixels that are in the shape or that the network takes for it, the share that is both.
  tw::Session<segment> segmentation;
  segmentation.load_from_session(session);
  int both = 0, either = 0;
  tw::train::evaluate(segmentation, held_out, [&](const auto& outputs, const auto& some, std::size_t count) {
    const float *logits = outputs["logits"_s].data(), *mask = some["mask"_s].data();
    for (std::size_t pixel = 0; pixel < count * side * side; ++pixel) {
      const bool found = logits[pixel] > 0, there = mask[pixel] > 0;
      both += found && there;
      either += found || there;
    }
  });
  std::printf("intersection over union on held-out images: %.3f\n", static_cast<double>(both) / either);
}
