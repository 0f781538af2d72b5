// Variables that optimisers update, over several runs of a session.
#include <limits>

#include "elements.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr void program(Ir& ir) {
  const Tensor gradient = ops::host_load(ir.h2d_stream("gradient", {3}));
  const auto variable = [&](std::string_view name) { return ir.variable(tw::zeros(), {3}, tw::float32, name); };
  const Tensor step = ir.variable(tw::zeros(), {}, tw::float32, "step");
  const Tensor m = ops::accumulate_moving_average_(variable("m"), gradient, 0.9);
  const Tensor v = ops::accumulate_moving_average_square_(variable("v"), gradient, 0.999);
  store("update", ops::adam_updater(m, v, {.time_step = step, .beta1 = 0.9, .beta2 = 0.999}));

  const Tensor factor = ops::host_load(ir.h2d_stream("factor", tw::Shape{}));
  const auto invalid = [&](std::string_view name) {
    return ir.variable(tw::values({std::numeric_limits<double>::quiet_NaN()}), {1}, tw::float32, name);
  };
  store("zero", ops::accumulator_zero_(invalid("a")));
  store("scaled", ops::accumulator_scale_(invalid("b"), factor));
}

template <class Session>
void check() {
  Session session({.threads = 1});
  // With corrected moments, every step of constant gradients is their sign.
  const xt::xtensor<float, 1> gradient{0.5f, -2, 1000};
  const xt::xtensor<float, 0> factor(0.f);
  for (int i = 1; i <= 3; ++i) {
    const auto outputs = session.run("gradient"_s = gradient, "factor"_s = factor);
    CHECK(session.get_tensor_data("step"_s)() == static_cast<float>(i));
    CHECK(xt::allclose(outputs["update"_s], xt::xtensor<float, 1>{1, -1, 1}, 1e-4));
    CHECK(elements(outputs["zero"_s]) == Floats{0});
    CHECK(elements(outputs["scaled"_s]) == Floats{0});
  }
}

}  // namespace

TEST_CASE("Adam counts its steps, and a factor of 0 clears what is not a number") {
  check<tw::Session<program>>();
  check<tw::Session<program, tw::ipu_model>>();
}
