#pragma once
#include <tilewright/layers/linear.hpp>
#include <tilewright/train/train.hpp>

#include "machine.hpp"

namespace scratchpad {

/// The network of the README.
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<512>, fc1), (tw::layers::Linear<512>, fc2), (tw::layers::Linear<10>, fc3));
  constexpr tw::Tensor build(tw::Tensor x) {
    x = tw::ops::gelu(fc1(x.reshape({-1, 28 * 28})));
    return fc3(tw::ops::gelu(fc2(x)));
  }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}}); }

}  // namespace scratchpad
