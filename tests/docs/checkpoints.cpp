#include <iostream>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/data/data.hpp>
template <int batch>
constexpr void step(tw::Ir& ir) {
  const tw::Tensor images = tw::ops::host_load(ir.h2d_stream("image", {batch, 28, 28}));
  const tw::Tensor labels = tw::ops::host_load(ir.h2d_stream("label", {batch}, tw::int32));
  const tw::Tensor weight = ir.variable(tw::zeros(), {784, 10}, tw::float32, "fc1.weight");
  const auto [loss, gradient] = tw::ops::cross_entropy_with_grad(images.reshape({batch, 784}).matmul(weight), labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);
}
constexpr auto train_step = step<8>;
constexpr auto test_step = step<80>;
