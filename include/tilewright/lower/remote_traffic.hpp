#pragma once
#include "tilewright/lower/body_runs.hpp"
#include "tilewright/lower/code_memory.hpp"
#include "tilewright/ops/remote.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

/// What a run moves between the tiles and streaming memory. Rows go one after the other: each load and each store waits for the
/// memory by itself. The code of a graph is taken to be as large on all tiles as on the fullest.
constexpr RemoteTraffic count_remote_traffic(const Plan& plan, const CodeUse& code, const Target& target) {
  RemoteTraffic traffic;
  const std::vector<std::int64_t> runs = count_body_runs(plan);
  for (std::size_t i = 0; i < plan.bodies.size(); ++i)
    for (int s = 0; s < plan.bodies[i].step_count; ++s) {
      const Step& step = plan.steps[static_cast<std::size_t>(plan.bodies[i].first_step + s)];
      if (step.kind == StepKind::load_code && target.streaming_memory.bytes_per_second > 0) {
        const std::int64_t bytes = target.tiles * code.by_body[static_cast<std::size_t>(step.target)];
        traffic.code_bytes += runs[i] * bytes;
        traffic.cycles += runs[i] * target.streaming_memory.cycles(bytes, target.clock_hz);
      }
      if (step.kind != StepKind::compute) continue;
      const ComputeSet& set = plan.compute_sets[static_cast<std::size_t>(step.target)];
      const Stage& stage = plan.stages[static_cast<std::size_t>(set.first_stage)];
      const bool loads = stage.op == &op_tag<RemoteLoad>;
      if (!loads && stage.op != &op_tag<RemoteStore>) continue;
      const int tensor = stage.first_operand + (loads ? stage.input_count : 0);
      const ViewSpec& row = plan.operands[static_cast<std::size_t>(tensor)].view;
      const std::int64_t bytes = row.shape.nelms() * size_of(row.dtype);
      (loads ? traffic.loaded_bytes : traffic.stored_bytes) += runs[i] * bytes;
      traffic.cycles += runs[i] * target.streaming_memory.cycles(bytes, target.clock_hz);
    }
  return traffic;
}

}  // namespace tilewright
