#include <iostream>
#include <tilewright/data/data.hpp>
constexpr void train_step(tw::Ir& ir) {
  const tw::Tensor images = tw::ops::host_load(ir.h2d_stream("image", {8, 28, 28}));
  const tw::Tensor labels = tw::ops::host_load(ir.h2d_stream("label", {8}, tw::int32));
  const tw::Tensor weight = ir.variable(tw::zeros(), {784, 10}, tw::float32, "weight");
  const auto [loss, gradient] = tw::ops::cross_entropy_with_grad(images.reshape({8, 784}).matmul(weight), labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);
}
