#include <iostream>
#include <tilewright/layers/linear.hpp>
#include <tilewright/ops/nn/losses.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/check_gradients.hpp>
namespace tw = tilewright;
using namespace tw::literals;
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<32>, fc1), (tw::layers::Linear<1>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::tanh(fc1(x))); }
};
constexpr tw::Tensor square_error(Net& net, tw::Tensor x, tw::Tensor y) { return tw::ops::mean((net(x) - y) * y); }
