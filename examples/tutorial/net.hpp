#pragma once
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

/// The linear layer of PopXL's tutorial, whose first weights are normal with the standard deviation 0.02, and biases zeros.
template <int out_features, tw::layers::LinearOptions options = {}>
using Linear = tw::layers::Linear<out_features, {.bias = options.bias, .std = 0.02}>;

/// Four linear layers, all inlined: each has ops of its own.
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<512>, fc1), (Linear<512>, fc2), (Linear<512>, fc3), (Linear<10>, fc4));

  constexpr tw::Tensor build(tw::Tensor x) {
    x = x.reshape({-1, 28 * 28});
    x = tw::ops::gelu(fc1(x));
    x = tw::ops::gelu(fc2(x));
    x = tw::ops::gelu(fc3(x));
    return fc4(x);
  }
};

/// The same network with one graph for fc2 and fc3, which is called twice with different weights.
struct NetOutlined : tw::Module<NetOutlined> {
  BOOST_HANA_DEFINE_STRUCT(NetOutlined, (Linear<512>, fc1), (Linear<10>, fc4));

  constexpr tw::Tensor build(tw::Tensor x) {
    x = x.reshape({-1, 28 * 28});
    x = tw::ops::gelu(fc1(x));

    const auto [factories, shared] = tw::create_graph(Linear<512>{}, x);
    const auto fc2 = shared.bind(add_variable_inputs("fc2", factories));
    const auto fc3 = shared.bind(add_variable_inputs("fc3", factories));
    x = tw::ops::gelu(fc2.call(x));
    x = tw::ops::gelu(fc3.call(x));

    return fc4(x);
  }
};
