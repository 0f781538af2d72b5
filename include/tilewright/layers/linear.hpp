#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/layers/first_values.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/bias_add.hpp"
#include "tilewright/ops/linear/matmul.hpp"

/// Modules for models.
namespace tilewright::layers {

/// Options of Linear. `bias` is torch.nn.Linear's. The others are for initial values that PyTorch's models set after they create
/// a layer.
template <class Given = void>
struct LinearOptionsOf {
  Flag bias = true;  ///< whether the layer has the variable `bias`
  OptionalNumber std{};  ///< standard deviation of normal initial weights, with zero biases; none: uniform values, as in PyTorch
  Flag zero_bias = false;  ///< whether the initial biases are zero, also without `std`
};
using LinearOptions = LinearOptionsOf<>;
/// Accepts a number where options are expected, as in PyTorch's Linear(784, 10), so that the error can say what to write.
template <>
struct LinearOptionsOf<int> {
  int number;
  constexpr LinearOptionsOf(int given) : number(given) {}
};
template <class... Given>
LinearOptionsOf(const Given&...) -> LinearOptionsOf<>;
LinearOptionsOf(int) -> LinearOptionsOf<int>;

namespace detail {
/// Returns x weight + bias, rounded once; an invalid bias stands for none.
constexpr Tensor linear(Tensor x, Tensor weight, Tensor bias) {
  if (!bias.valid()) return x.matmul(weight);
  // on a simulated IPU, for which composed forms are not replaced, the sums would take twice the memory
  if (!x.valid() || !is_half(x.dtype()) || !x.ir().tables.rewrites.replaces_composed_forms) return x.matmul(weight) + bias;
  return apply<BiasAdd>({ops::matmul(x, weight, {.output_type = float32}), bias});
}
}  // namespace detail

/// Linear layer over the last axis: x weight + bias, torch.nn.Linear. x: (..., in_features), float16, bfloat16 or float32.
/// Result: (..., out_features), of x's dtype, rounded once; a simulated IPU also rounds the product.
///
/// Variables, of x's dtype: `weight` (in_features, out_features) and `bias` (out_features,). Initial values are PyTorch's:
/// uniform within 1 / sqrt(in_features). PyTorch stores the weight transposed, (out_features, in_features).
///
///     struct Net : tw::Module<Net> {
///       BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<512>, fc1), (tw::layers::Linear<10>, fc2));
///       constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::gelu(fc1(x))); }
///     };
template <int out_features, LinearOptionsOf options = LinearOptions{}>
struct Linear : Module<Linear<out_features, options>> {
  constexpr Tensor build(Tensor x) {
    const Tensor weight = this->add_variable_input("weight", first_weights(x), {x.shape(-1), out_features}, x.dtype());
    Tensor bias;
    if constexpr (options.bias) bias = this->add_variable_input("bias", first_bias(x), {out_features}, x.dtype());
    return detail::linear(x, weight, bias);
  }

 private:
  static constexpr Initialiser first_weights(Tensor x) {
    if constexpr (options.std.given) return normal(0, options.std.value);
    else return detail::within_root(x.shape(-1));
  }
  static constexpr Initialiser first_bias(Tensor x) {
    if constexpr (options.std.given || options.zero_bias) return zeros();
    else return detail::within_root(x.shape(-1));
  }
};
template <int in_features, LinearOptionsOf<int> out_features>
struct Linear<in_features, out_features> : Module<Linear<in_features, out_features>> {
  constexpr Tensor build(Tensor x) {
    return x.ir().fail(text("Linear<", in_features, ", ", out_features.number, ">: Linear<", out_features.number,
                            "> expected: the number of inputs is found from x, ", to_text(x.spec())));
  }
};

}  // namespace tilewright::layers
