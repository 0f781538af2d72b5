#pragma once
// Rows M1, M3, M4 and M7: a scaled addition, and a convolution again and again.
#include "plans.hpp"

namespace fidelity {

struct ScaledAdd {
  int64_t elements;
  void operator()(tw::Ir& ir) const {
    const auto x = ir.variable(tw::zeros(), {elements}, tw::float32, "x"),
               y = ir.variable(tw::zeros(), {elements}, tw::float32, "y");
    tw::ops::scaled_add_(x, y, {.b = -0.5});
  }
};
/// The vertex alone: its step without the barrier.
inline Modelled row_m1(const Figure& figure) {
  const Planned step = plan(ScaledAdd{figure.at}, tw::bow.with_tiles(1));
  return modelled(step, static_cast<double>(step.plan.cycles.compute));
}

/// An image of 4 channels is convolved and copied to where it was, again and again.
struct Blur {
  int64_t height, width;
  tw::DType dtype;
  static constexpr int times = 200;

  void operator()(tw::Ir& ir) const {
    const auto picture = ir.variable(tw::zeros(), {1, 4, height, width}, dtype, "image"),
               weight = ir.variable(tw::zeros(), {4, 4, 3, 3}, dtype, "weight");
    const tw::Graph step = ir.create_graph(
        [](tw::Tensor x, tw::Tensor w) { return tw::ops::conv(x, w, {.padding = {1, 1, 1, 1}}); }, picture.spec(), weight.spec());
    tw::ops::copy_var_update_(picture, tw::ops::repeat(step, times, {picture, weight})[0]);
  }
};
inline Modelled blur(const Figure& figure) {
  const bool is_small = figure.row < 107;
  const Planned steps = plan(Blur{is_small ? 302 : 1122, is_small ? 499 : 2200, figure.at == 2 ? tw::float16 : tw::float32},
                             tw::gc2);
  if (figure.unit == "fits") return {steps.fits() ? 1.0 : 0.0, share_of_tile(steps)};
  return modelled(steps, static_cast<double>(steps.cycles_without_streams()), summary(steps));
}

}  // namespace fidelity
