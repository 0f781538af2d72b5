// A pipeline of two equal stages on one and on two threads, beside the same network as one part.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <tilewright/tilewright.hpp>
#include <vector>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;

namespace {

inline constexpr int steps = 32, batch = 64, width = 512, layers = 3;  // layers of a stage

template <std::size_t count>
constexpr tw::Tensor part_of(tw::Tensor x, const std::array<tw::Tensor, count>& weights) {
  for (const tw::Tensor& weight : weights) x = ops::relu(x.matmul(weight));
  return x;
}
template <std::size_t count>
constexpr std::array<tw::Tensor, count> weights(tw::Ir& ir, int first) {
  std::array<tw::Tensor, count> result;
  for (std::size_t i = 0; i < count; ++i)
    result[i] = ir.variable(tw::normal(0, 0.05), {width, width}, tw::float32, tw::text("w", first + static_cast<int>(i)).view());
  return result;
}

constexpr void pipelined(tw::Ir& ir) {
  const auto inputs = ir.h2d_stream("x", {batch, width});
  const auto outputs = ir.d2h_stream("y", {batch, width});
  const auto first = weights<layers>(ir, 0), second = weights<layers>(ir, layers);
  auto pipeline = tw::pipelined_execution(ir, steps);
  tw::Tensor hidden;
  {
    const auto stage = pipeline.stage(0);
    const auto device = tw::ipu(ir, 0);
    hidden = part_of(ops::host_load(inputs), first).copy_to_ipu(1);
  }
  {
    const auto stage = pipeline.stage(1);
    const auto device = tw::ipu(ir, 1);
    ops::host_store(outputs, part_of(hidden, second));
  }
}
constexpr void in_order(tw::Ir& ir) {
  const auto inputs = ir.h2d_stream("x", {batch, width});
  const auto outputs = ir.d2h_stream("y", {batch, width});
  const auto all = weights<2 * layers>(ir, 0);
  const tw::Graph step = ir.create_graph(
      [&](const tw::List<tw::Tensor>& given) {
        tw::Tensor x = ops::host_load(inputs);
        for (const tw::Tensor& weight : given) x = ops::relu(x.matmul(weight));
        ops::host_store(outputs, x);
      },
      tw::List<tw::Tensor>(all.begin(), all.end()));
  tw::TensorMap arguments;
  for (int i = 0; i < 2 * layers; ++i) arguments.insert(step.input(i), all[static_cast<std::size_t>(i)]);
  tw::repeat(step, steps, {}, arguments);
}

/// Milliseconds of a run.
template <class Session>
double time_of(Session& session, const xt::xtensor<float, 3>& x) {
  const auto start = std::chrono::steady_clock::now();
  session.run("x"_s = x);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main() {
  constexpr tw::Target two = tw::cpu.with_ipus(2);
  tw::Session<pipelined, two> pipeline_1({.threads = 1}), pipeline_2({.threads = 2});
  tw::Session<in_order> plain_1({.threads = 1}), plain_2({.threads = 2});
  const xt::xtensor<float, 3> x({steps, batch, width}, 1);
  constexpr int rounds = 41;
  std::vector<double> times[4];
  for (int round = 0; round < rounds; ++round) {
    times[0].push_back(time_of(pipeline_1, x));
    times[1].push_back(time_of(pipeline_2, x));
    times[2].push_back(time_of(plain_1, x));
    times[3].push_back(time_of(plain_2, x));
  }
  const double on_1 = median(times[0]), on_2 = median(times[1]);
  std::printf("%d steps of 2 stages of %d layers %d x %d, batches of %d; medians of %d rounds in turn\n", steps, layers, width,
              width, batch, rounds);
  std::printf("pipeline: %.2f ms on 1 thread, %.2f ms on 2: %.2f times as fast\n", on_1, on_2, on_1 / on_2);
  std::printf("in order: %.2f ms on 1 thread, %.2f ms on 2\n", median(times[2]), median(times[3]));
  // each of two threads works in all cycles but one: what is missing to twice the speed is the bubble and what waiting costs
  std::printf("idle: %.1f %% measured, %.1f %% by the cycles\n", 100 * (1 - on_1 / 2 / on_2), 100.0 / (steps + 1));
}
