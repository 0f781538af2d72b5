// labels: none
// Layers in half precision: where the results of a linear layer are rounded, and layers that have windows against PyTorch's.
#include <random>

#include "half_checks.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/module/create_graph.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr std::size_t rows = 24, inputs = 16, outputs = 40;

/// A linear layer, and the gradient of its variables.
template <tw::DType dtype>
constexpr void layer(Ir& ir) {
  const Tensor x = support::load(ir, "x", {rows, inputs}, dtype), dy = support::load(ir, "dy", {rows, outputs}, dtype);
  const auto [factories, forward] = tw::create_graph(tw::layers::Linear<outputs>{}, x);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();
  const auto call = forward.bind(variables).call_with_info(x);
  store("y", call.output(0));
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info(dy, info.inputs_dict(call)));
  for (const auto& [name, variable] : variables.named_tensors()) store(name.view(), gradients[variable]);
}

static_assert(support::plan_text(layer<tw::float16>).view().find("BiasAdd") != std::string_view::npos);
static_assert(support::plan_text(layer<tw::float32>).view().find("BiasAdd") == std::string_view::npos);

/// Whether a cast of float16 to float32, and then to a dtype, is the first tensor.
constexpr bool goes_back(tw::DType dtype) {
  Ir ir;
  const Tensor x = support::load(ir, "x", {4}, tw::float16);
  return x.cast(tw::float32).cast(dtype).number() == x.number();
}
static_assert(goes_back(tw::float16) && !goes_back(tw::bfloat16));

/// Numbers of few bits, so that their products and sums are exact in float32.
template <class T, std::size_t... extents>
xt::xtensor<T, sizeof...(extents)> numbers(std::mt19937& random) {
  std::uniform_int_distribution<int> bits(-63, 63);
  auto x = xt::xtensor<T, sizeof...(extents)>::from_shape({extents...});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(static_cast<float>(bits(random)) / 32);
  return x;
}
template <tw::DType dtype, class T>
void check_roundings() {
  std::mt19937 random(1);
  tw::Session<layer<dtype>> session({.threads = 1});
  const auto x = numbers<T, rows, inputs>(random);
  const auto w = numbers<T, inputs, outputs>(random);
  const auto b = numbers<T, outputs>(random);
  const auto dy = numbers<T, rows, outputs>(random);
  session.write_variable_data("weight"_s, w);
  session.write_variable_data("bias"_s, b);
  auto outputs_of_run = session.run("x"_s = x, "dy"_s = dy);
  const xt::xtensor<T, 2> y = outputs_of_run["y"_s], dw = outputs_of_run["weight"_s];
  const xt::xtensor<T, 1> db = outputs_of_run["bias"_s];
  int twice = 0;  // results that a rounding of the product before the bias would change
  for (std::size_t j = 0; j < outputs; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < inputs; ++k) sum += static_cast<float>(x(i, k)) * static_cast<float>(w(k, j));
      const T once = static_cast<T>(sum + static_cast<float>(b(j)));
      CHECK(static_cast<float>(y(i, j)) == static_cast<float>(once));
      twice += static_cast<float>(static_cast<T>(static_cast<float>(static_cast<T>(sum)) + static_cast<float>(b(j)))) !=
               static_cast<float>(once);
    }
    float sum = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += static_cast<float>(dy(i, j));
    CHECK(static_cast<float>(db(j)) == static_cast<float>(static_cast<T>(sum)));
    for (std::size_t k = 0; k < inputs; ++k) {
      sum = 0;
      for (std::size_t i = 0; i < rows; ++i) sum += static_cast<float>(x(i, k)) * static_cast<float>(dy(i, j));
      CHECK(static_cast<float>(dw(k, j)) == static_cast<float>(static_cast<T>(sum)));
    }
  }
  CHECK(twice > 0);
}

}  // namespace

TEST_CASE("a linear layer in half precision rounds the sum of product and bias once") {
  check_roundings<tw::float16, tw::float16_t>();
  check_roundings<tw::bfloat16, tw::bfloat16_t>();
}
TEST_CASE("convolutions and pooling in half precision agree with PyTorch's, but for roundings") {
  check_half_layers<layer_cases::half_for_images<tw::float16>, tw::float16>();
  check_half_layers<layer_cases::half_for_images<tw::bfloat16>, tw::bfloat16>();
}
