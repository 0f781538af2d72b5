#pragma once
#include <cstdint>
#include <string>

#include "tilewright/execute/recording.hpp"

// Recordings as a session would make them, without one.
namespace synthetic {

using tilewright::Recording;

/// Three runs of three steps, the first two of which have the same code: with 3 workers, with 2, and one of 3 that ends by an
/// exception after its second step. Worker w takes (w + 1) x 1,000 ns for each vertex of a step of the first code.
inline Recording recorded() {
  using Kind = Recording::Kind;
  Recording result;
  result.program = "net <of> a test";
  result.room = 64;
  result.left_out_runs = 2;
  result.left_out_events = 34;
  result.steps = {
      {"MatMul [Add, Gelu]", 0, 12}, {"MatMul [Add, Gelu]", 0, 6}, {"ReduceSum \xff</script>", 1, 1}, {"call", -1, 0}};
  for (int kind = 2; kind < 14; ++kind) result.steps.push_back({"Identity", kind, kind});
  for (int worker = 0; worker < 3; ++worker) {
    std::int64_t begin = 1'000'000;
    for (int run = 0; run < 3; ++run) {
      const int threads = run == 1 ? 2 : 3;
      const bool failed = run == 2;
      const std::int64_t end = begin + (failed ? 60'000 : 90'000);
      if (worker == 0) result.runs.push_back({begin, end, threads, 0, failed});
      if (worker >= threads) {
        begin = end + 5'000;
        continue;
      }
      std::int64_t time = begin;
      const auto until = [&](Kind kind, int step, std::int64_t parts, std::int64_t to) {
        result.events.push_back({time, to, parts, step, run, worker, kind});
        time = to;
      };
      until(Kind::start, -1, 0, time + 500 * worker);
      until(Kind::compute, 0, 12 / threads, time + 1000 * (worker + 1) * 12 / threads);
      until(Kind::barrier, 1, 0, begin + 30'000);
      until(Kind::compute, 1, 6 / threads, time + 1000 * (worker + 1) * 6 / threads);
      if (!failed) {
        until(Kind::barrier, 2, 0, begin + 50'000);
        if (worker == 1) until(Kind::compute, 2, 1, time + 7'000);
        until(Kind::barrier, 4, 0, begin + 58'000);
        for (int kind = 2; kind < 14; ++kind)
          if (kind % threads == worker) until(Kind::compute, kind + 2, kind, time + 1'500);
      }
      until(Kind::end, -1, 0, end);
      begin = end + 5'000;
    }
  }
  return result;
}
/// Without room for a run.
inline Recording unrecorded() {
  Recording result;
  result.steps = {{"MatMul", 0, 12}};
  result.room = 1;
  result.left_out_runs = 1;
  result.left_out_events = 3;
  return result;
}

}  // namespace synthetic
