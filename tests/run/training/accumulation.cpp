// labels: strict tsan
// Gradients accumulated over micro-batches, with and without recomputation.
#include "tilewright/transform/accumulation.hpp"

#include "../../support/elements.hpp"
#include "tilewright/transform/recompute_graph.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

struct Layer : tw::Module<Layer> {
  constexpr Tensor build(Tensor x) {
    const Tensor w = add_variable_input("weight", tw::values({0.5, -1, 0.25, 2, 0, 1}), {3, 2});
    return ops::tanh(x.matmul(w)) + add_variable_input("bias", tw::zeros(), {2});
  }
};

/// Forward and backward of one micro-batch, whose gradients go to the accumulators: the body of a loop.
struct MicroStep : tw::Module<MicroStep> {
  tw::HostToDeviceStream images;
  bool recomputes = false;
  constexpr MicroStep(tw::HostToDeviceStream stream, bool recompute) : images(stream), recomputes(recompute) {}

  constexpr void build() {
    const Tensor x = ops::host_load(images);
    const auto [factories, forward] = tw::create_graph(Layer{}, x);
    auto [accumulators, backward] = tw::autodiff_with_accumulation(forward, forward.args());
    if (recomputes) backward = tw::recompute_graph(backward);
    const auto call = forward.bind(add_variable_inputs("layer", factories)).call_with_info(x);
    const Tensor y = call.output(0);
    backward.bind(add_variable_inputs("gradients", accumulators))
        .call_with_info(y, backward.grad_graph_info().inputs_dict(call));  // the loss is |y|^2 / 2
  }
};

template <bool recomputes>
constexpr void accumulate(Ir& ir) {
  ir.set_num_host_transfers(4);
  const auto [factories, micro_step] = tw::create_graph(ir, MicroStep(ir.h2d_stream("x", {5, 3}), recomputes));
  const auto variables = factories.init();
  tw::repeat(micro_step.bind(variables), 4);
  store("weight", variables["gradients.accum.weight"]);
  store("bias", variables["gradients.accum.bias"]);
  store("count", variables["gradients.mean_accum_counter"]);
  ops::accumulator_zero_(variables["gradients.mean_accum_counter"]);
}
/// The same with one large batch: its gradient is the sum over micro-batches.
constexpr void direct(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {20, 3}));
  const auto [factories, forward] = tw::create_graph(Layer{}, x);
  const auto backward = tw::autodiff(forward, {.grads_required = {{forward.args()["weight"], forward.args()["bias"]}}});
  const auto call = forward.bind(factories.init()).call_with_info(x);
  const auto [dw, db] = backward.call(call.output(0), backward.grad_graph_info().inputs_dict(call)).as<2>();
  store("weight", dw);
  store("bias", db);
}

}  // namespace

TEST_CASE("gradients of micro-batches add up to their mean") {
  xt::xtensor<float, 2> x({20, 3});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 7) / 8 - 0.375f;
  const xt::xtensor<float, 3> parts = xt::reshape_view(x, {4, 5, 3});
  tw::Session<direct> expected;
  tw::Session<accumulate<false>> kept({.threads = 2});
  TestSession<accumulate<true>, tw::ipu_model> recomputed;
  const auto all = expected.run("x"_s = x);
  for (int run = 0; run < 2; ++run) {  // the second run starts again
    const auto check = [&](const auto& outputs) {
      CHECK(outputs["count"_s](0) == 4);
      for (std::size_t i = 0; i < 6; ++i)
        CHECK(outputs["weight"_s].data()[i] == Approx(all["weight"_s].data()[i] / 4).epsilon(1e-5));
      for (std::size_t i = 0; i < 2; ++i) CHECK(outputs["bias"_s].data()[i] == Approx(all["bias"_s].data()[i] / 4).epsilon(1e-5));
    };
    check(kept.run("x"_s = parts));
    check(recomputed.run("x"_s = parts));
  }
}
