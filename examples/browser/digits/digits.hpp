#pragma once
// A perceptron for digits of 28 x 28, which a page trains: a step of 16 images, and the logits of 100. The page's training data
// are digits that draw() draws.
#include <tilewright/data/handwriting.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/optim/sgd.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<64>, fc1), (tw::layers::Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::gelu(fc1(x.reshape({-1, 28 * 28})))); }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{16, 28, 28}}); }
constexpr void test_step(tw::Ir& ir) { tw::train::test_step(ir, Net{}, {{100, 28, 28}}); }

#ifdef __wasm__
/// Draws a digit from a seed to drawn_pixels(), 0 to 255, and returns which one.
extern "C" [[gnu::used, clang::export_name("drawn_pixels")]] inline std::uint8_t* drawn_pixels() {
  static std::uint8_t pixels[28 * 28];
  return pixels;
}
extern "C" [[gnu::used, clang::export_name("draw")]] inline std::int32_t draw(std::uint64_t seed) {
  tw::Random random(seed);
  return tw::data::handwriting::draw_scan(drawn_pixels(), random);
}
#endif
