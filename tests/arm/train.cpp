// Training on 64-bit ARM gives the losses of x86-64, within rounding: a convolution, pooling, a normalisation, a layer of half
// precision and the loss, with their gradients, by gradient descent.
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;

constexpr std::int64_t batch = 16, size = 8, classes = 4;

struct Net : tw::Module<Net> {
  constexpr tw::Tensor build(tw::Tensor x) {
    x = ops::conv(x, add_variable_input("filters", tw::normal(0, 0.3), {6, 1, 3, 3}), {.padding = {1, 1, 1, 1}});
    x = ops::max_pool(ops::relu(x), {2, 2}, {.stride = {2, 2}}).reshape({batch, -1});
    x = ops::layer_norm(x, add_variable_input("scale", tw::ones(), {x.shape(1)}),
                        add_variable_input("shift", tw::zeros(), {x.shape(1)}));
    const auto hidden = add_variable_input("hidden", tw::normal(0, 0.1), {x.shape(1), 19}, tw::float16);
    x = ops::gelu(x.cast(tw::float16).matmul(hidden)).cast(tw::float32);
    return ops::tanh(x).matmul(add_variable_input("classes", tw::normal(0, 0.2), {19, classes}));
  }
};
constexpr void train_step(tw::Ir& ir) {
  const auto images = ops::host_load(ir.h2d_stream("image", {batch, 1, size, size}));
  const auto labels = ops::host_load(ir.h2d_stream("label", {batch}, tw::int32));
  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();
  const auto call = forward.bind(variables).call_with_info(images);
  const auto [loss, dy] = ops::cross_entropy_with_grad(call.output(0), labels);
  ops::host_store(ir.d2h_stream("loss", {}), loss);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info(dy, info.inputs_dict(call)));
  for (const auto& v : variables.tensors()) ops::scaled_add_(v, gradients[v], {.b = -0.05});
}

/// Bars: a label's images are bright in two of the eight rows.
struct Batches {
  xt::xtensor_fixed<float, xt::xshape<batch, 1, size, size>> images;
  xt::xtensor_fixed<std::int32_t, xt::xshape<batch>> labels;
  std::uint32_t random = 1;

  void next() {
    for (std::int64_t n = 0; n < batch; ++n) {
      labels(n) = static_cast<std::int32_t>(n % classes);
      for (std::int64_t i = 0; i < size; ++i)
        for (std::int64_t j = 0; j < size; ++j) {
          random = random * 1664525u + 1013904223u;  // "Numerical Recipes", section 7.1
          images(n, 0, i, j) = static_cast<float>(random >> 8) * 0x1p-24f + (i / 2 == labels(n) ? 0.5f : 0.f);
        }
    }
  }
};

int main() {
  struct {
    int step;
    float loss;
  } constexpr expected[] = {{1, 1.409647f}, {50, 0.4208126f}, {100, 0.1870752f}, {200, 0.0750393f}};  // of x86-64
  tw::Session<train_step> session({.seed = 1, .threads = 2});
  Batches data;
  bool is_same = true;
  int step = 0;
  for (const auto& [last, expected_loss] : expected) {
    float loss = 0;
    for (; step < last; ++step) {
      data.next();
      loss = session.run("image"_s = data.images, "label"_s = data.labels)["loss"_s]();
    }
    std::printf("loss after %d steps: %.7f, %.7f expected\n", step, static_cast<double>(loss),
                static_cast<double>(expected_loss));
    is_same = is_same && std::abs(loss - expected_loss) <= 0x1p-11f * expected_loss;  // half a unit of half precision
  }
  return is_same ? 0 : 1;
}
