// The tutorial's network: one step of training with batches of 8, and inference with batches of 80, in iterations a second.
#include <benchmark/benchmark.h>

#include <xtensor/xrandom.hpp>

#include "../examples/tutorial/net.hpp"

using namespace tw::literals;

constexpr void train_step(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {8, 28, 28}, tw::float32));
  const auto labels = tw::ops::host_load(ir.h2d_stream("label", {8}, tw::int32));
  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();

  const auto forward_call = forward.bind(variables).call_with_info(images);
  const auto [loss, gradient] = tw::ops::cross_entropy_with_grad(forward_call.output(0), labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);

  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(gradient, info.inputs_dict(forward_call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(forward_call, backward_call);
  for (const auto& variable : variables.tensors()) tw::ops::scaled_add_(variable, gradients[variable], {.b = -0.05});
}
constexpr void test_step(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {80, 28, 28}, tw::float32));
  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const tw::Tensor outputs = forward.bind(factories.init()).call(images);
  tw::ops::host_store(ir.d2h_stream("outputs", outputs.spec()), outputs);
}

/// Runs a session on the same inputs again and again; 0 threads: as many as the session finds good.
template <class Session>
void run_session(benchmark::State& state, const auto&... inputs) {
  Session session({.threads = static_cast<int>(state.range(0))});
  for (int i = 0; i < 100; ++i) session.run(inputs...);  // it measures its first runs to choose
  for (auto _ : state) session.run(inputs...);
  state.counters["it/s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["threads_used"] = session.threads();
}

template <tw::Target target>
void train(benchmark::State& state) {
  const xt::xtensor<float, 3> images = xt::random::rand<float>({8, 28, 28});
  const xt::xtensor<std::int32_t, 1> labels = xt::arange<std::int32_t>(8);
  run_session<tw::Session<train_step, target>>(state, "image"_s = images, "label"_s = labels);
}
BENCHMARK(train<tw::cpu>)->Name("train/cpu")->ArgName("threads")->Arg(1)->Arg(0)->UseRealTime();
BENCHMARK(train<tw::ipu_model>)->Name("train/ipu_model")->ArgName("threads")->Arg(1)->Arg(0)->UseRealTime();

void infer(benchmark::State& state) {
  const xt::xtensor<float, 3> images = xt::random::rand<float>({80, 28, 28});
  run_session<tw::Session<test_step>>(state, "image"_s = images);
}
BENCHMARK(infer)->Name("infer/cpu")->ArgName("threads")->Arg(1)->Arg(0)->UseRealTime();
