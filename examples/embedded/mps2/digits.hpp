#pragma once
// A perceptron for digits of 28 x 28, and a function that draws digits for the files that train.c reads.
#include <tilewright/data/handwriting.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/optim/sgd.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<32>, fc1), (tw::layers::Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::gelu(fc1(x.reshape({-1, 28 * 28})))); }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}}); }
constexpr void test_step(tw::Ir& ir) { tw::train::test_step(ir, Net{}, {{1, 28, 28}}); }

/// Draws a digit from a seed into 28 x 28 pixels, 0 to 255, and returns which one.
extern "C" [[gnu::used, gnu::visibility("default")]] inline std::int32_t draw_digit(std::uint64_t seed, std::uint8_t* pixels) {
  tw::Random random(seed);
  return tw::data::handwriting::draw_scan(pixels, random);
}
