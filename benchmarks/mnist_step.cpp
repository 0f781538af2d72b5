// The tutorial's network: one step of training with batches of 8, and inference with batches of 80, in iterations a second.
#include <benchmark/benchmark.h>

#include <xtensor/xrandom.hpp>

#include "../examples/tutorial/net.hpp"
#include "../examples/tutorial/steps.hpp"

using namespace tw::literals;

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
  run_session<tw::Session<train_step<Net, 8, 28, 28>, target>>(state, "image"_s = images, "label"_s = labels);
}
BENCHMARK(train<tw::cpu>)->Name("train/cpu")->ArgName("threads")->Arg(1)->Arg(0)->UseRealTime();
BENCHMARK(train<tw::ipu_model>)->Name("train/ipu_model")->ArgName("threads")->Arg(1)->Arg(0)->UseRealTime();

void infer(benchmark::State& state) {
  const xt::xtensor<float, 3> images = xt::random::rand<float>({80, 28, 28});
  run_session<tw::Session<test_step<Net, 80, 28, 28>>>(state, "image"_s = images);
}
BENCHMARK(infer)->Name("infer/cpu")->ArgName("threads")->Arg(1)->Arg(0)->UseRealTime();
