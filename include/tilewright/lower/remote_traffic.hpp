#pragma once
// takes: a whole plan and CodeUse
// gives: RemoteTraffic: what a run moves to and from streaming memory
// keeps: the plan
#include <algorithm>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/code_memory.hpp"
#include "tilewright/ops/remote.hpp"

namespace tilewright {

/// What a run moves between the tiles and streaming memory. Rows go one after the other: each load and each store waits for the
/// memory by itself, but for those of one exchange. The code of a graph is taken to be as large on all tiles as on the fullest. A
/// conditional counts with the branch that moves more.
constexpr RemoteTraffic count_remote_traffic(const Plan& plan, const CodeUse& code, const Target& target) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  List<RemoteTraffic> of_body(plan.bodies.size());
  List<std::int64_t> together;  // bytes of the transfers of an exchange
  std::size_t exchange = 0;
  const auto ends_exchange = [&](int step) {
    while (exchange < plan.exchanges.size() && plan.exchanges[exchange].last_step() < step) ++exchange;
    return exchange == plan.exchanges.size() || step < plan.exchanges[exchange].first_step ||
           step == plan.exchanges[exchange].last_step();
  };
  for (std::size_t b = plan.bodies.size(); b-- > 0;) {  // callers come before what they call, and have later steps
    RemoteTraffic& traffic = of_body[b];
    for (int s = 0; s < plan.bodies[b].step_count; ++s) {
      const int number = plan.bodies[b].first_step + s;
      const Step& step = plan.steps[at(number)];
      if (step.is_call()) {
        const RemoteTraffic& one = of_body[at(step.body)];
        const RemoteTraffic& other = of_body[at(step.else_body < 0 ? step.body : step.else_body)];
        traffic.loaded_bytes += step.count * std::max(one.loaded_bytes, other.loaded_bytes);
        traffic.stored_bytes += step.count * std::max(one.stored_bytes, other.stored_bytes);
        traffic.code_bytes += step.count * std::max(one.code_bytes, other.code_bytes);
        traffic.cycles += step.count * std::max(one.cycles, other.cycles);
        traffic.exchanges += step.count * std::max(one.exchanges, other.exchanges);
      } else if (step.kind == StepKind::load_code) {
        if (target.streaming_memory.bytes_per_second > 0) {
          together.push_back(target.tiles * code.by_body[at(step.body)]);
          traffic.code_bytes += together.back();
        }
      } else {
        const Stage& stage = plan.stages[at(plan.compute_sets[at(step.compute_set)].first_stage)];
        const bool loads = stage.op == &op_tag<RemoteLoad>;
        if (loads || stage.op == &op_tag<RemoteStore>) {
          const ViewSpec& row = plan.operands[at(stage.first_operand + (loads ? stage.input_count : 0))].view;
          together.push_back(row.shape.nelms() * size_of(row.dtype));
          (loads ? traffic.loaded_bytes : traffic.stored_bytes) += together.back();
        }
      }
      if (together.empty() || !ends_exchange(number)) continue;
      traffic.cycles += target.streaming_memory.cycles(together, target.clock_hz);
      ++traffic.exchanges;
      together.clear();
    }
  }
  return of_body[0];
}

}  // namespace tilewright
