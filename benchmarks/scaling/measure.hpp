#pragma once
// Measures a training step in the processes that MPI started.
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>
#include <type_traits>

#include "timing.hpp"
#include "train.hpp"

using namespace tw::literals;

/// Prints the seconds of a step, with one thread each process. A program of one replica runs in all processes at the same time,
/// each on its own; replicas of others are in all of them.
template <auto step, int replicas, class... Extents>
void measure(int rounds, int count, int rows, Extents... input) {
  auto& processes = tw::distributed::Processes::world();
  using Session = std::conditional_t<replicas == 1, tw::Session<step>, tw::distributed::Session<step>>;
  Session session({.seed = 1, .threads = 1});
  const auto held = static_cast<std::size_t>(replicas == 1 ? 1 : replicas / processes.count());
  std::minstd_rand random{1};
  const auto run = [&](auto x, auto labels) {
    for (auto& element : x) element = std::uniform_real_distribution<float>(-0.5f, 0.5f)(random);
    for (auto& label : labels) label = std::uniform_int_distribution<std::int32_t>(0, 9)(random);
    const double seconds = seconds_of(rounds, count, [&] { session.run("x"_s = x, "label"_s = labels); });
    if (processes.is_first()) std::printf("seconds %.9f\n", seconds);
  };
  const auto row_count = static_cast<std::size_t>(rows);
  if constexpr (replicas == 1) {
    run(xt::xtensor<float, sizeof...(input)>(std::array{static_cast<std::size_t>(input)...}),
        xt::xtensor<std::int32_t, 1>(std::array{row_count}));
  } else {
    run(xt::xtensor<float, sizeof...(input) + 1>(std::array{held, static_cast<std::size_t>(input)...}),
        xt::xtensor<std::int32_t, 2>(std::array{held, row_count}));
  }
}
