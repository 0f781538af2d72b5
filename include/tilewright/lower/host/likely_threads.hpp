#pragma once
#include "tilewright/lower/host/balance.hpp"

namespace tilewright::internal {

/// Programs of more bodies than these are not looked at by likely_threads.
inline constexpr int most_bodies_of_guess = 64;

/// The number of threads that is likely to be the fastest of those up to `cores`, by the prices of HostCosts. It tries 1, 2, 3,
/// 4, 6, 8, 12 and so on, and `cores`; a larger number has to save a hundredth of the best time so far. It goes over the steps
/// once for each number, and allocates nothing. `plan` is of any kind, also a ProgramView of a program for the host. A guess: the
/// prices are poorly known. A program of more than most_bodies_of_guess bodies gets `cores`. `cores` below 1 counts as 1.
constexpr int likely_threads(const auto& plan, int cores, Sharing sharing = Sharing::fixed, const HostCosts& costs = {}) {
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
