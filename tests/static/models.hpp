#pragma once
// The tutorials' models, for the tests.
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/ops.hpp"
#include "tilewright/transform/autodiff.hpp"

namespace tw = tilewright;

template <int out_features, bool has_bias = true>
struct Linear : tw::Module<Linear<out_features, has_bias>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    auto w = this->add_variable_input("weight", tw::normal(0, 0.02), {x.shape(-1), out_features}, x.dtype());
    auto y = x.matmul(w);
    if (has_bias) y = y + this->add_variable_input("bias", tw::zeros(), {out_features}, x.dtype());
    return y;
  }
};

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

struct NetOutlined : tw::Module<NetOutlined> {
  BOOST_HANA_DEFINE_STRUCT(NetOutlined, (Linear<512>, fc1), (Linear<10>, fc4));
  constexpr tw::Tensor build(tw::Tensor x) {
    x = x.reshape({-1, 28 * 28});
    x = tw::ops::gelu(fc1(x));
    auto [factories, shared] = tw::create_graph(Linear<512>{}, x);  // one graph for fc2 and fc3
    const auto fc2 = shared.bind(add_variable_inputs("fc2", factories));
    const auto fc3 = shared.bind(add_variable_inputs("fc3", factories));
    x = tw::ops::gelu(fc2.call(x));
    x = tw::ops::gelu(fc3.call(x));
    return fc4(x);
  }
};
