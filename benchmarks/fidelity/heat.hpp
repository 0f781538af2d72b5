#pragma once
// The heat equation in two and three dimensions, explicit: a step adds to each inner element a part of the differences from its
// neighbours.
#include <tilewright/tilewright.hpp>

namespace fidelity {

namespace tw = tilewright;

struct HeatEquation {
  tw::Shape shape;
  std::int64_t steps = 1000;

  constexpr void operator()(tw::Ir& ir) const {
    const tw::Tensor u = ir.variable(tw::zeros(), shape, tw::float32, "u");
    const tw::Graph step = ir.create_graph([](tw::TensorByRef x) { advance(x); }, u);
    tw::repeat(step, steps, {u});
  }

 private:
  static constexpr double part = 0.1;

  /// Returns the elements of x that are `shift` further along an axis than the inner ones.
  static constexpr tw::Tensor neighbours(tw::Tensor x, int axis, std::int64_t shift) {
    tw::Positions start, stop;
    for (int i = 0; i < x.rank(); ++i) {
      start.add(i == axis ? 1 + shift : 1);
      stop.add(i == axis ? x.shape(i) - 1 + shift : x.shape(i) - 1);
    }
    return tw::ops::slice(x, start, stop);
  }
  static constexpr void advance(tw::Tensor x) {
    const tw::Tensor inner = neighbours(x, 0, 0);
    tw::Tensor sum = neighbours(x, 0, -1) + neighbours(x, 0, 1);
    for (int axis = 1; axis < x.rank(); ++axis) sum = sum + neighbours(x, axis, -1) + neighbours(x, axis, 1);
    const tw::Tensor next = inner * (1 - 2 * x.rank() * part) + sum * part;
    tw::Positions start, stop;
    for (int i = 0; i < x.rank(); ++i) start.add(1), stop.add(-1);
    tw::ops::copy_var_update_(tw::ops::slice_(x, start, stop), next);
  }
};

}  // namespace fidelity
