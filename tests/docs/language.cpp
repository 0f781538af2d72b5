#include <iostream>
#include <optional>
#include <string>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/data/text.hpp>
#include <tilewright/tilewright.hpp>
constexpr void train_step(tw::Ir& ir) {
  const tw::Tensor tokens = tw::ops::host_load(ir.h2d_stream("tokens", {12, 64}, tw::int32));
  const tw::Tensor targets = tw::ops::host_load(ir.h2d_stream("targets", {12, 64}, tw::int32));
  const tw::Tensor table = ir.variable(tw::zeros(), {65, 65}, tw::float32, "table");
  const tw::Tensor logits = tw::ops::gather(table, tokens.reshape({-1}));
  const auto [loss, gradient] = tw::ops::cross_entropy_with_grad(logits, targets.reshape({-1}));
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);
}
