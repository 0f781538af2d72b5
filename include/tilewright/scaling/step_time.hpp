#pragma once
#include <cstdint>
#include <ranges>
#include <string>

#include "tilewright/scaling/simulate.hpp"

namespace tilewright::scaling {

/// Time of a step on all replicas.
struct StepTime {
  double seconds = 0;  ///< of a step
  double computation = 0;  ///< part of it in which a process computes, replica after replica
  double collectives = 0;  ///< part of it in which collectives run; processes do not compute during collectives

  /// Returns the share of the step in which processes compute. If each replica has its own process, R replicas do R x efficiency
  /// times the work of one in the same time.
  constexpr double efficiency() const { return seconds > 0 ? computation / seconds : 1; }
};

/// Returns the time of a step that computes `computation` seconds for each replica and runs each collective `times` times. Throws
/// std::invalid_argument in the cases of `simulate`, and for a negative `computation`.
[[nodiscard]] constexpr StepTime step_time(const std::ranges::input_range auto& collectives, double computation,
                                           std::int64_t replicas, Algorithm algorithm, const Cluster& cluster) {
  detail::validate(cluster, replicas);
  if (!(computation >= 0 && computation - computation == 0))
    detail::fail("a computation of " + std::to_string(computation) + " seconds: a finite number of at least 0 expected");
  StepTime result{.computation = computation * static_cast<double>(cluster.replicas_per_process)};
  for (const Collective& collective : collectives)
    result.collectives += static_cast<double>(collective.times) * simulate(collective, replicas, algorithm, cluster).seconds;
  result.seconds = result.computation + result.collectives;
  return result;
}

/// Returns the algorithm with the shortest step, or the first such algorithm if several take the same time.
[[nodiscard]] constexpr Algorithm fastest_algorithm(const std::ranges::input_range auto& collectives, std::int64_t replicas,
                                                    const Cluster& cluster) {
  Algorithm fastest = all_algorithms[0];
  double least = step_time(collectives, 0, replicas, fastest, cluster).seconds;
  for (const Algorithm algorithm : all_algorithms) {
    const double seconds = step_time(collectives, 0, replicas, algorithm, cluster).seconds;
    if (seconds < least) fastest = algorithm, least = seconds;
  }
  return fastest;
}

}  // namespace tilewright::scaling
