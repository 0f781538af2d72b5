#pragma once
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

inline constexpr double learning_rate = 0.05;

/// A step of gradient descent: it takes a batch of "image"s and their "label"s and gives the "loss".
template <class Model, int batch_size, int... image_shape>
constexpr void train_step(tilewright::Ir& ir) {
  tilewright::train::train_step(ir, Model{}, tilewright::optim::SgdParameters{.lr = learning_rate},
                                {{batch_size, image_shape...}});
}
/// Only the forward pass: it takes "image"s and gives the model's "outputs".
template <class Model, int batch_size, int... image_shape>
constexpr void test_step(tilewright::Ir& ir) {
  tilewright::train::test_step(ir, Model{}, {{batch_size, image_shape...}});
}
