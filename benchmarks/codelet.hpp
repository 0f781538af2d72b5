#pragma once
#include <benchmark/benchmark.h>

#include <random>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

constexpr tw::ViewSpec dense(const tw::Shape& shape) { return tw::written_out({tw::float32, shape, tw::dense_strides(shape)}); }

/// Runs an op's codelet on operands of the given views: its inputs, then its output.
template <class O, tw::PackedAttributes attributes, tw::ViewSpec... views>
void run_codelet(benchmark::State& state) {
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> value(-1, 1);
  std::array<std::vector<float>, sizeof...(views)> memory;
  auto next = memory.begin();
  ((next++)->resize(static_cast<std::size_t>(views.shape.nelms())), ...);
  for (auto& operand : memory) std::ranges::generate(operand, [&] { return value(random); });
  constexpr int modified = tw::op_info<O>.modifies;
  if (modified >= 0) memory.back().clear();  // it is the input that the op changes

  [&]<std::size_t... i>(std::index_sequence<i...>) {
    const auto data = [&](std::size_t operand) {
      return (memory[operand].empty() ? memory[static_cast<std::size_t>(modified)] : memory[operand]).data();
    };
    for (auto _ : state) {
      O::template compute<attributes>(tw::View<views>{data(i)}...);
      benchmark::ClobberMemory();
    }
  }(std::make_index_sequence<sizeof...(views)>());
}
inline void set_rate(benchmark::State& state, const char* unit, std::int64_t count) {
  state.counters[unit] = benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsIterationInvariantRate);
}
