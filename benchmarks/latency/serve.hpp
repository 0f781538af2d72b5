#pragma once
// Answers latency.py, which says what it writes and reads.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

/// Answers counts of runs with percentiles in nanoseconds.
template <class Run>
int serve_latency(Run&& run) {
  run();
  std::puts("ready");
  std::fflush(stdout);
  std::vector<std::int64_t> times;
  for (std::size_t count = 0; std::scanf("%zu", &count) == 1 && count > 0;) {
    times.resize(count);
    for (std::int64_t& each : times) {
      const auto start = std::chrono::steady_clock::now();
      run();
      each = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    }
    std::ranges::sort(times);
    const auto at = [&](std::size_t per_mille) { return static_cast<long long>(times[(count - 1) * per_mille / 1'000]); };
    std::printf("ns %lld %lld %lld %lld\n", at(500), at(990), at(999), at(1'000));
    std::fflush(stdout);
  }
  return 0;
}
