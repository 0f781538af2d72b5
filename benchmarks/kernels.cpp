// The codelets of the tutorial's network on whole tensors: one thread, operands in the cache.
#include <benchmark/benchmark.h>

#include <random>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

constexpr tw::ViewSpec dense(const tw::Shape& shape) { return tw::written_out({tw::float32, shape, tw::dense_strides(shape)}); }
constexpr tw::ViewSpec transposed(tw::ViewSpec view) {
  std::swap(view.shape[0], view.shape[1]);
  std::swap(view.strides[0], view.strides[1]);
  return view;
}

/// Runs an op's codelet on operands of the given views: its inputs, then its output.
template <class O, tw::PackedAttributes attributes, tw::ViewSpec... views>
void run_codelet(benchmark::State& state) {
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> value(-1, 1);
  std::array<std::vector<float>, sizeof...(views)> memory;
  auto next = memory.begin();
  ((next++)->resize(static_cast<std::size_t>(views.shape.nelms())), ...);
  for (auto& operand : memory) std::ranges::generate(operand, [&] { return value(random); });
  if (O::modifies >= 0) memory.back().clear();  // it is the input that the op changes

  [&]<std::size_t... i>(std::index_sequence<i...>) {
    const auto data = [&](std::size_t operand) {
      return (memory[operand].empty() ? memory[O::modifies] : memory[operand]).data();
    };
    for (auto _ : state) {
      O::template compute<attributes>(tw::View<views>{data(i)}...);
      benchmark::ClobberMemory();
    }
  }(std::make_index_sequence<sizeof...(views)>());
}
void set_rate(benchmark::State& state, const char* unit, std::int64_t count) {
  state.counters[unit] = benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsIterationInvariantRate);
}

/// a b, with 2 m n k floating point operations.
template <tw::ViewSpec a, tw::ViewSpec b>
void matmul(benchmark::State& state) {
  run_codelet<tw::MatMul, {}, a, b, dense({a.shape[0], b.shape[1]})>(state);
  set_rate(state, "FLOP/s", 2 * a.shape[0] * a.shape[1] * b.shape[1]);
}
constexpr auto images = dense({8, 784}), hidden = dense({8, 512}), outputs = dense({8, 10});
constexpr auto fc1 = dense({784, 512}), fc2 = dense({512, 512}), fc4 = dense({512, 10});
BENCHMARK(matmul<images, fc1>)->Name("MatMul/fc1: 8x784x512");
BENCHMARK(matmul<hidden, fc2>)->Name("MatMul/fc2: 8x512x512");
BENCHMARK(matmul<hidden, fc4>)->Name("MatMul/fc4: 8x512x10");
BENCHMARK(matmul<hidden, transposed(fc2)>)->Name("MatMul/fc2, dx: 8x512x512");
BENCHMARK(matmul<outputs, transposed(fc4)>)->Name("MatMul/fc4, dx: 8x10x512");
BENCHMARK(matmul<transposed(images), hidden>)->Name("MatMul/fc1, dW: 784x8x512");
BENCHMARK(matmul<transposed(hidden), hidden>)->Name("MatMul/fc2, dW: 512x8x512");
BENCHMARK(matmul<transposed(hidden), outputs>)->Name("MatMul/fc4, dW: 512x8x10");

/// An op on tensors of one shape, with the bytes of all its operands.
template <class O, int inputs, tw::PackedAttributes attributes = {}>
void elementwise(benchmark::State& state) {
  constexpr auto view = dense({512, 512});
  if constexpr (inputs == 1) run_codelet<O, attributes, view, view>(state);
  else run_codelet<O, attributes, view, view, view>(state);
  set_rate(state, "B/s", (inputs + 1) * view.shape.nelms() * tw::size_of(view.dtype));
}
BENCHMARK(elementwise<tw::Gelu, 1>)->Name("Gelu/512x512");
BENCHMARK(elementwise<tw::UnaryGrad<tw::Gelu>, 2>)->Name("GeluGrad/512x512");
BENCHMARK(elementwise<tw::Add, 2>)->Name("Add/512x512");
BENCHMARK(elementwise<tw::Softmax, 1, tw::pack(tw::AxisAttributes{1})>)->Name("Softmax/512x512");
BENCHMARK(elementwise<tw::ScaledAddLhsInplace, 2, tw::pack(tw::ScaledAddFactors{1, -0.05})>)->Name("scaled_add_/512x512");
