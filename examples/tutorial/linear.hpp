#pragma once
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

/// x W + b, for x of shape (..., in_features).
template <int out_features, bool has_bias = true>
struct Linear : tw::Module<Linear<out_features, has_bias>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    auto w = this->add_variable_input("weight", tw::normal(0, 0.02), {x.shape(-1), out_features}, x.dtype());
    auto y = x.matmul(w);
    if (has_bias) y = y + this->add_variable_input("bias", tw::zeros(), {out_features}, x.dtype());
    return y;
  }
};
