// labels: strict
// Variables that optimisers update, over several runs of a session.
#include <limits>

#include "../../support/elements.hpp"

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

/// One step for gradients of 0.1, with the first moment in half precision; the weight and its time step are views.
constexpr void step_of_tutorial(Ir& ir) {
  const auto variable = [&](std::string_view name, double value, tw::DType dtype) {
    return ir.variable(tw::values({value, value, value, value}), {2, 2}, dtype, name);
  };
  const Tensor weight = variable("weight", 1, tw::float32), gradient = variable("gradient", 0.1, tw::float32);
  const Tensor m = variable("m", 0, tw::float16), v = variable("v", 0, tw::float32);
  const Tensor step = ir.variable(tw::zeros(), {1, 1}, tw::float32, "step");
  ops::accumulate_moving_average_(m, gradient, 0.9);
  ops::accumulate_moving_average_square_(v, gradient, 0.999);
  const tw::AdamOptions options{.time_step = ops::reshape_(step, {}), .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-5};
  ops::scaled_add_(ops::transpose_(weight), ops::adam_updater(m, v, options), {.b = -ir.constant(1e-3)});
  store("step after", step.reshape({}) + 0);
}
template <class Session>
void check_tutorial() {
  Session session({.threads = 1});
  CHECK(session.run()["step after"_s]() == 1);
  CHECK(static_cast<float>(session.get_tensor_data("m"_s)(0, 1)) == 1310 * 0x1p-17f);  // (1 - 0.9) times the half next to 0.1
  CHECK(session.get_tensor_data("v"_s)(1, 0) == Approx(1e-5).epsilon(3e-7));  // 9.9998715e-06 with 1 - 0.999 in float32
  CHECK(session.get_tensor_data("weight"_s)(1, 1) == 0.9990005f);
  CHECK(session.run()["step after"_s]() == 2);
}

}  // namespace

TEST_CASE("a step of Adam with a first moment in half precision has the tutorial's numbers") {
  check_tutorial<tw::Session<step_of_tutorial>>();
  check_tutorial<TestSession<step_of_tutorial, tw::ipu_model>>();
}
TEST_CASE("Adam counts its steps, and a factor of 0 clears what is not a number") {
  check<tw::Session<program>>();
  check<TestSession<program, tw::ipu_model>>();
}
