#pragma once
// Measures a training step in the processes that MPI started.
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>
#include <type_traits>
#include <vector>

#include "timing.hpp"
#include "train.hpp"

using namespace tw::literals;

/// Prints the seconds of a step, with one thread each process. A program of one replica runs in all processes at the same time,
/// in so many sessions of each, one after the other: the seconds of one of them. Replicas of others are in all processes.
template <auto step, int replicas, class... Extents>
void measure(int rounds, int count, int sessions, int rows, Extents... input) {
  auto& processes = tw::distributed::Processes::world();
  using Session = std::conditional_t<replicas == 1, tw::Session<step>, tw::distributed::Session<step>>;
  std::vector<Session> all;
  for (int i = 0; i < (replicas == 1 ? sessions : 1); ++i)
    all.emplace_back(tw::distributed::SessionOptions{.seed = 1, .threads = 1});
  const auto held = static_cast<std::size_t>(replicas == 1 ? 1 : replicas / processes.count());
  std::minstd_rand random{1};
  const auto run = [&](auto x, auto labels) {
    for (auto& element : x) element = std::uniform_real_distribution<float>(-0.5f, 0.5f)(random);
    for (auto& label : labels) label = std::uniform_int_distribution<std::int32_t>(0, 9)(random);
    const double seconds = seconds_of(rounds, count, [&] {
      for (Session& session : all) session.run("x"_s = x, "label"_s = labels);
    });
    if (processes.is_first()) std::printf("seconds %.9f\n", seconds / static_cast<double>(all.size()));
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
