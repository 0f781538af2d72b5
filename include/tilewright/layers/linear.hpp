#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/arithmetic.hpp"
#include "tilewright/ops/bias_add.hpp"
#include "tilewright/ops/matmul.hpp"

/// Modules for models. Not yet stable: names and parameters may change in any version.
namespace tilewright::layers {

struct LinearOptions {
  bool bias = true;
  double std = 0.02;  ///< standard deviation of the first weights
};

/// x weight + bias, over the last axis. x: (..., in_features), float16, bfloat16 or float32; result: (..., out_features), of x's
/// dtype, rounded once; on a simulated IPU the product is rounded, too.
///
/// Variables, of x's dtype: `weight` (in_features, out_features), normal with mean 0; `bias` (out_features,), zeros. PyTorch's
/// weight is (out_features, in_features): the transposed one.
///
///     struct Net : tw::Module<Net> {
///       BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<512>, fc1), (tw::layers::Linear<10>, fc2));
///       constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::gelu(fc1(x))); }
///     };
template <int out_features, LinearOptions options = {}>
struct Linear : Module<Linear<out_features, options>> {
  constexpr Tensor build(Tensor x) {
    const Tensor weight = this->add_variable_input("weight", normal(0, options.std), {x.shape(-1), out_features}, x.dtype());
    if constexpr (!options.bias) {
      return x.matmul(weight);
    } else {
      const Tensor bias = this->add_variable_input("bias", zeros(), {out_features}, x.dtype());
      // on a simulated IPU, for which composed forms are not replaced, the sums would take twice the memory
      if (!x.valid() || !is_half(x.dtype()) || !x.ir().replaces_composed_forms) return x.matmul(weight) + bias;
      return apply<BiasAdd>({ops::matmul(x, weight, {.output_type = float32}), bias});
    }
  }
};

}  // namespace tilewright::layers
