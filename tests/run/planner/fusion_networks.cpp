// labels: more strict
// Networks give the same whether the planner joins ops or makes each a step of its own.
#include "../../../examples/tutorial/net.hpp"
#include "fusion_encoder.hpp"

namespace {

namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

constexpr void adam(Tensor weight, Tensor gradient) {
  const auto state = [&](std::string_view name, const tw::Shape& shape) {
    return ops::exp(variable(weight.ir(), tw::text(name, " of ", weight.name()).view(), shape));
  };
  const Tensor m = ops::accumulate_moving_average_(state("m", weight.shape()), gradient, 0.75);
  const Tensor v = ops::accumulate_moving_average_square_(state("v", weight.shape()), gradient, 0.875);
  const Tensor step = state("step", {});
  ops::scaled_add_(weight, ops::adam_updater(m, v, {.time_step = step, .beta1 = 0.75, .beta2 = 0.875}), {.b = -0.125});
}

template <auto update, int batch>
constexpr void dense(Ir& ir) {
  train<Net>(variable(ir, "x", {batch, 28, 7, 4}) * 0.125, update);
}

struct Cnn : tw::Module<Cnn> {
  constexpr Tensor build(Tensor x) {
    const auto layer = [&](Tensor t, std::string_view name, std::int64_t channels) {
      const Tensor w = add_variable_input(tw::text("weight", name).view(), tw::zeros(), {channels, t.shape(1), 3, 3});
      const Tensor b = add_variable_input(tw::text("bias", name).view(), tw::zeros(), {channels, 1, 1});
      return ops::max_pool(ops::relu(ops::conv(t, w * 0.25) + b), {2, 2}, {.stride = {2, 2}});
    };
    x = layer(layer(x, "1", 16), "2", 32);  // with channels last in between
    return x.reshape({4, -1}).matmul(add_variable_input("weight3", tw::zeros(), {32 * 25, 10}) * 0.25);
  }
};
constexpr void cnn(Ir& ir) { train<Cnn>(variable(ir, "x", {4, 2, 28, 28}), descend); }

}  // namespace

TEST_CASE("joined ops of a dense network give what single ones give") {
  check_fusion<dense<descend, 8>, tw::cpu>(1e-5, 0.0625);
  check_fusion<dense<adam, 40>, tw::cpu>(1e-4, 0.0625);
}
TEST_CASE("joined ops of a convolutional network give what single ones give") { check_fusion<cnn, tw::cpu>(1e-5); }
TEST_CASE("joined ops of an encoder block on a simulated IPU give what single ones give") {
  check_fusion<encoder, tw::ipu_model>(1e-5);
}
