#pragma once
#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// Checks that the steps of each merged exchange are loads and stores of one body, none of which uses what another one writes.
constexpr void check_row_exchanges(const auto& plan, FirstFault& fault) {
  const auto accesses = [&](const Step& step, const auto& f) {
    if (step.compute_set < 0) return;
    const ComputeSet& set = plan.compute_sets[static_cast<std::size_t>(step.compute_set)];
    for (int m = 0; m < set.stage_count; ++m) {
      const Stage& stage = plan.stages[static_cast<std::size_t>(set.first_stage + m)];
      for (int o = 0; o < stage.operand_count; ++o)
        if (const StageOperand& operand = plan.operands[static_cast<std::size_t>(stage.first_operand + o)];
            operand.source == Source::memory)
          f(plan.locations[static_cast<std::size_t>(step.first_location + operand.index)], o >= stage.input_count);
    }
  };
  int next = 0;
  for (const PlannedExchange& exchange : plan.exchanges) {
    bool is_right = exchange.step_count >= 1 && exchange.first_step >= next, is_of_a_body = false;
    next = exchange.last_step() + 1;
    for (const Body& body : plan.bodies)
      is_of_a_body = is_of_a_body || (exchange.first_step >= body.first_step && next <= body.first_step + body.step_count);
    for (int s = exchange.first_step; is_of_a_body && is_right && s < next; ++s) {
      const Step& step = plan.steps[static_cast<std::size_t>(s)];
      bool moves = step.kind == StepKind::load_code;
      accesses(step, [&](const Location& own, bool writes) {
        moves = moves || own.base == Base::remote || own.base == Base::stream;
        for (int earlier = exchange.first_step; earlier < s; ++earlier)
          accesses(plan.steps[static_cast<std::size_t>(earlier)], [&](const Location& other, bool other_writes) {
            if ((writes || other_writes) && own == other && own.base != Base::remote) is_right = false;
          });
      });
      is_right = is_right && moves;
    }
    fault.expect(is_right && is_of_a_body, "traffic", BodyId::none, -1, "an exchange of steps ", exchange.first_step, " to ",
                 exchange.last_step(), " of the plan: loads and stores of one body, which use different memory, expected");
  }
}

}  // namespace tilewright::internal::proof::detail
