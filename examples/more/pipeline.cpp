// Trains the network of mnist.cpp in pipelines: its first two layers are on one IPU, the others on a second one, and both work
// side by side on different micro-batches. There are four replicas of both. The host's cores stand for the IPUs. The replicas can
// be in two or four processes, with the same results: `./dev launch 2 pipeline`.
//
// labels: instances more
// test: --limit-batches 180 --threads 2
// processes: 2
// expect: These are generated digits
// expect-regex: ^Trained 180 steps in [0-9.]+ s: [0-9]+ it/s$
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
// test: --data $TILEWRIGHT_MNIST --limit-batches 150
// test-needs: TILEWRIGHT_MNIST
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
#include "../tutorial/net.hpp"
#include "../tutorial/steps.hpp"
#include "../tutorial/training.hpp"

inline constexpr int micro_batches = 8, batch_size = 8;

/// The two halves of Net.
struct Front : tw::Module<Front> {
  BOOST_HANA_DEFINE_STRUCT(Front, (Linear<512>, fc1), (Linear<512>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return tw::ops::gelu(fc2(tw::ops::gelu(fc1(x.reshape({-1, 28 * 28}))))); }
};
struct Back : tw::Module<Back> {
  BOOST_HANA_DEFINE_STRUCT(Back, (Linear<512>, fc3), (Linear<10>, fc4));
  constexpr tw::Tensor build(tw::Tensor x) { return fc4(tw::ops::gelu(fc3(x))); }
};

/// A half on its IPU: its graph, the gradient graph, which adds to running means, and the variables of both.
struct Half {
  tw::BoundGraph forward, backward;
  tw::GradGraphInfo info;
  tw::NamedTensors variables, means;

  /// `wants_dx`: whether the gradient graph also gives the gradient of the half's input.
  template <class Model>
  static constexpr Half make(tw::Ir& ir, const Model& model, const tw::TensorSpec& x, int ipu, bool wants_dx) {
    const auto device = tw::ipu(ir, ipu);
    const auto [factories, forward] = tw::create_graph(ir, model, x);
    tw::AutodiffOptions options;
    if (wants_dx) options.grads_required = {{forward.graph().input(0)}};
    const auto [mean_factories, backward] = tw::autodiff_with_accumulation(forward, forward.args(), options);
    const auto variables = factories.init(), means = mean_factories.init("gradients");
    return {forward.bind(variables), backward.bind(means), backward.grad_graph_info(), variables, means};
  }
  /// Descends along the mean of all replicas' gradients.
  constexpr void update(double lr) const {
    for (const auto& [name, variable] : variables.named_tensors()) {
      const tw::Tensor mean = means[tw::text("accum.", name).view()];
      tw::ops::collectives::replicated_all_reduce_(mean, {.op = tw::CollectiveOperator::mean});
      tw::ops::scaled_add_(variable, mean, {.b = -lr});
    }
    tw::ops::accumulator_zero_(means["mean_accum_counter"]);
  }
};

constexpr void train_in_pipeline(tw::Ir& ir) {
  ir.set_replication_factor(4);
  const auto images = ir.h2d_stream("image", {batch_size, 28, 28});
  const auto labels = ir.h2d_stream("label", {batch_size}, tw::int32);
  const auto losses = ir.d2h_stream("loss", {});
  const Half front = Half::make(ir, Front{}, {{batch_size, 28, 28}}, 0, false),
             back = Half::make(ir, Back{}, {{batch_size, 512}}, 1, true);
  {
    auto pipeline = tw::pipelined_execution(ir, micro_batches);
    tw::CallSiteInfo call(ir);
    tw::Tensor x, dx;
    {
      const auto stage = pipeline.stage(0);
      call = front.forward.call_with_info(tw::ops::host_load(images));
      x = call.output(0).copy_to_ipu(1);
    }
    {
      const auto stage = pipeline.stage(1);
      const auto device = tw::ipu(ir, 1);
      const auto label = tw::ops::host_load(labels);
      const auto head = back.forward.call_with_info(x);
      const auto [loss, dy] = tw::ops::cross_entropy_with_grad(head.output(0), label);
      tw::ops::host_store(losses, loss);
      dx = back.backward.call(dy, back.info.inputs_dict(head))[0].copy_to_ipu(0);
    }
    {
      const auto stage = pipeline.stage(2);
      front.backward.call(dx, pipeline.stash_and_restore_activations(call, front.info));
    }
  }
  for (const Half* half : {&front, &back}) half->update(4 * learning_rate);
}

int main(int argc, char** argv) {
  return run_in_processes(argc, argv, "Trains a network on MNIST in pipelines of two IPUs, and tests it.",
                          [](const Options& options, const tw::data::Digits& digits) {
                            tw::visit_device<tw::cpu>(options.device, [&](auto device) {
                              train_and_test<train_in_pipeline, test_step<Net, 80, 28, 28>, device.value.with_ipus(2)>(options,
                                                                                                                       digits);
                            });
                          });
}
