// What it costs that threads meet: once between supersteps, and once a run to wake the workers.
#include <benchmark/benchmark.h>

#include <tilewright/execute/threads/workers.hpp>

namespace tw = tilewright;

void barrier(benchmark::State& state) {
  static tw::internal::Barrier barrier;
  for (auto _ : state) barrier.arrive_and_wait(state.threads());
}
BENCHMARK(barrier)->Threads(2)->UseRealTime();

void workers(benchmark::State& state) {
  tw::internal::Workers workers(2);
  for (auto _ : state) workers.run([](void*, int) {}, nullptr, 2);
}
BENCHMARK(workers)->UseRealTime();
