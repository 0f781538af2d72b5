#pragma once
#include "tilewright/lower/host/balance.hpp"

namespace tilewright::internal {

/// Largest number of bodies of a program that useful_threads examines.
inline constexpr int most_bodies_of_guess = 64;

/// Costs of work alone; everything else is free.
inline constexpr HostCosts by_work_alone{.crowding = 1, .bytes_per_second = 1e30, .barrier_seconds_per_doubling = 0};

/// Returns the number of threads, up to `cores`, beyond which a plan has no more work to share: the smallest number within a
/// hundredth of the shortest time, by work alone. It tries 1, 2, 3, 4, 6, 8, 12 and so on, and `cores`; it walks over the steps
/// once for each, and allocates nothing. `plan` has any plan type, or is a ProgramView of a program for the host. A program of
/// more than most_bodies_of_guess bodies gets `cores`. `cores` below 1 counts as 1.
[[gnu::cold]] constexpr int useful_threads(const auto& plan, int cores, Sharing sharing = Sharing::pool,
                                           const HostCosts& costs = by_work_alone) {
  if (cores < 2) return 1;
  if (plan.bodies.size() > most_bodies_of_guess) return cores;
  int best = 1;
  double least = 0;
  const auto try_number = [&](int threads) {
    detail::HostWork totals[most_bodies_of_guess]{};
    const double seconds = detail::HostWorkCounter(plan, threads, sharing, costs).run(totals).seconds(threads, costs);
    if (threads > 1 && seconds >= 0.99 * least) return;
    best = threads;
    least = seconds;
  };
  try_number(1);
  for (int power = 2; power < cores; power *= 2) {
    try_number(power);
    if (power + power / 2 < cores) try_number(power + power / 2);
    if (power > cores / 2) break;
  }
  try_number(cores);
  return best;
}

}  // namespace tilewright::internal
