#pragma once
// ResNet-50 (arXiv 1512.03385), version 1.5: the second convolution of a block has its stride. Images of 224 x 224, float16.
#include <tilewright/tilewright.hpp>

namespace fidelity {

namespace tw = tilewright;

/// For inference, each norm is part of the convolution before it, which then has a bias; for training, the norm is of the batch.
template <bool trains>
struct ResNet50 : tw::Module<ResNet50<trains>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    x = tw::ops::relu(conv(x, "conv1", 64, 7, 2));
    x = tw::ops::max_pool(x, {3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}});
    constexpr int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage)
      for (int block = 0; block < blocks[stage]; ++block)
        x = bottleneck(x, tw::text("layer", stage + 1, ".", block), 64 << stage, stage > 0 && block == 0 ? 2 : 1);
    x = tw::ops::average_pool(x, {7, 7}).reshape({x.shape(0), 2048});
    return x.matmul(this->add_variable_input("fc.weight", tw::zeros(), {2048, 1000}, x.dtype())) +
           this->add_variable_input("fc.bias", tw::zeros(), {1000}, x.dtype());
  }

 private:
  constexpr tw::Tensor conv(tw::Tensor x, const tw::Text& name, int channels, int kernel, int stride) {
    const auto variable = [&](std::string_view part, const tw::Shape& shape, const tw::VariableInputOptions& options = {}) {
      return this->add_variable_input(tw::text(name, ".", part).view(), tw::ones(), shape, x.dtype(), options);
    };
    const int border = kernel / 2;
    const tw::Tensor weight = variable("weight", {channels, x.shape(1), kernel, kernel});
    const tw::Tensor y = tw::ops::conv(x, weight, {.stride = {stride, stride}, .padding = {border, border, border, border}});
    if constexpr (!trains) return y + variable("bias", {channels, 1, 1});
    const tw::Tensor mean = this->add_variable_input(tw::text(name, ".mean").view(), tw::zeros(), {channels}, tw::float32,
                                                     {.by_ref = true});
    const tw::Tensor deviation = this->add_variable_input(tw::text(name, ".variance").view(), tw::ones(), {channels}, tw::float32,
                                                          {.by_ref = true});
    return tw::ops::batch_norm(y, variable("scale", {channels}), variable("shift", {channels}), mean, deviation);
  }
  constexpr tw::Tensor bottleneck(tw::Tensor x, const tw::Text& name, int width, int stride) {
    tw::Tensor y = tw::ops::relu(conv(x, tw::text(name, ".conv1"), width, 1, 1));
    y = tw::ops::relu(conv(y, tw::text(name, ".conv2"), width, 3, stride));
    y = conv(y, tw::text(name, ".conv3"), 4 * width, 1, 1);
    if (x.shape(1) != 4 * width) x = conv(x, tw::text(name, ".downsample"), 4 * width, 1, stride);
    return tw::ops::relu(y + x);
  }
};

inline constexpr std::int64_t image = 224;
/// Logits of a batch of images.
struct ResNetInference {
  std::int64_t batch;

  constexpr void operator()(tw::Ir& ir) const {
    const auto x = tw::ops::host_load(ir.h2d_stream("x", {batch, 3, image, image}, tw::float16));
    const auto [factories, forward] = tw::create_graph(ResNet50<false>{}, x);
    tw::ops::host_store(ir.d2h_stream("y", {batch, 1000}, tw::float16), forward.bind(factories.init()).call(x));
  }
};
/// The gradients of all weights for a given gradient of the logits, and a step of gradient descent.
struct ResNetTraining {
  std::int64_t batch;

  constexpr void operator()(tw::Ir& ir) const {
    const auto x = tw::ops::host_load(ir.h2d_stream("x", {batch, 3, image, image}, tw::float16));
    const auto dy = tw::ops::host_load(ir.h2d_stream("dy", {batch, 1000}, tw::float16));
    const auto [factories, forward] = tw::create_graph(ResNet50<true>{}, x);
    const auto backward = tw::autodiff(forward);
    const auto weights = factories.init();
    const auto call = forward.bind(weights).call_with_info(x);
    tw::ops::host_store(ir.d2h_stream("y", {batch, 1000}, tw::float16), call.output(0));
    const auto info = backward.grad_graph_info();
    const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info(dy, info.inputs_dict(call)));
    for (const auto& [name, weight] : weights.named_tensors())
      if (!name.ends_with(".mean") && !name.ends_with(".variance"))
        tw::ops::scaled_add_(weight, gradients[weight], {.b = -0.001});
  }
};

}  // namespace fidelity
