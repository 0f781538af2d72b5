// How well the plans of workloads follow 8, 16 and 64 threads by host_balance, as Markdown: by work alone, and with the prices of
// HostCosts, which fit measurements poorly (docs/how-it-works/speed.md). What is planned runs nowhere, and nothing is measured.
#include <cstdio>
#include <tilewright/lower/host/balance.hpp>

#include "programs.hpp"

int main() {
  constexpr int threads[] = {8, 16, 64};
  std::puts(
      "Speed-up over one thread by work alone, and with memory and barriers; of the time, the shares of memory and of "
      "barriers.\n");
  std::puts("| work | tiles | shares | 8 threads | 16 threads | 64 threads |\n| --- | ---: | --- | ---: | ---: | ---: |");
  for (const char* const workload : {"W1", "W2", "W4", "W5", "W7", "W8", "W9"})
    for (const int tiles : {8, 16, 32, 64}) {
      const tw::Plan plan = balance::plan_of(workload, tw::cpu.with_tiles(tiles));
      for (const tw::Sharing sharing : {tw::Sharing::fixed, tw::Sharing::pool}) {
        std::printf("| %s | %d | %s |", workload, tiles, sharing == tw::Sharing::pool ? "pool" : "fixed");
        for (const int count : threads) {
          const tw::HostBalance found = tw::host_balance(plan, count, sharing);
          std::printf(" %.1f, %.1f; %.0f %%, %.0f %% |", found.work_speedup, found.speedup, 100 * found.memory_share,
                      100 * found.barrier_share);
        }
        std::puts("");
      }
    }
}
