#pragma once
// Times of the same work in several processes.
#include <algorithm>
#include <chrono>
#include <tilewright/distributed/distributed.hpp>

/// Seconds of one of `count` calls of `f`, which all processes begin at the same time: of the slowest process, in the fastest of
/// `rounds` rounds, after one that does not count.
inline double seconds_of(int rounds, int count, auto&& f) {
  double least = 0;
  for (int round = 0; round <= rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) f();
    const double own = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
    double slowest = own;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (round > 0) least = round == 1 ? slowest : std::min(least, slowest);
  }
  return least;
}
