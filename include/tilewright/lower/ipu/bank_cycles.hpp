#pragma once
// takes: a whole plan whose homes have addresses; TileHomes::bank_steps
// gives: BankStep::banks and StepMoves::banks of these steps; their cycles in Plan::step_cycles
// keeps: all else
#include <cstdint>

#include "tilewright/lower/ipu/tile_map.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/target/vertex_cycles.hpp"

namespace tilewright::internal {

namespace detail {

/// Counts cycles by the banks in which operands lie. A tile's data are at the end of its memory, where it is interleaved; code,
/// which cannot be there, is at the start. The frame of a called body lies further behind the homes than that of a root. So a
/// distance between a home and a room is at least the one that is counted here.
class BankCounter {
 public:
  constexpr BankCounter(TileHomes& homes, const Target& target, Plan& plan) : homes_(homes), model_(*target.ipu), plan_(plan) {}

  constexpr void run() {
    for (BankStep& step : homes_.bank_steps) {
      step.banks = banks_of(step);
      const CycleCount now = cycles_of(step, step.banks), before = cycles_of(step, OperandBanks::same);
      const auto at = static_cast<std::size_t>(plan_.bodies[step.body].first_step + step.group);
      plan_.moves[at].banks = step.banks;
      plan_.step_cycles[at].compute += step.vertices * (now.cycles - before.cycles);
      plan_.step_cycles[at].assumed += step.vertices * (now.assumed - before.assumed);
    }
  }

 private:
  constexpr OperandBanks banks_of(const BankStep& step) const {
    if (step.x.operand == step.y.operand || !are_apart(step, step.x, step.y)) return OperandBanks::same;
    const bool has_third =  // for the result
        step.result.operand == step.x.operand ? is_interleaved(step, step.x)
                                              : are_apart(step, step.x, step.result) && are_apart(step, step.y, step.result);
    return has_third && step.op->vertex_cost.formula == CostFormula::scaled_add ? OperandBanks::interleaved
                                                                                : OperandBanks::different;
  }
  constexpr CycleCount cycles_of(const BankStep& step, OperandBanks banks) const {
    return vertex_cycles(*step.op, step.dtype, step.elements, 1, model_, TermOrder::rows, banks);
  }
  /// Returns the address of an operand's first slice, from the set's first variable.
  constexpr std::int64_t start(const BankStep& step, const BankOperand& operand) const {
    if (operand.has_home()) return homes_.find(operand.base, operand.offset)->address;
    return plan_.tile_sets[static_cast<std::size_t>(step.set)].frame_address + operand.address;
  }
  constexpr bool are_apart(const BankStep& step, const BankOperand& a, const BankOperand& b) const {
    const std::int64_t first = start(step, a) - start(step, b);
    const std::int64_t last = first + (step.vertices - 1) * (a.slice_bytes - b.slice_bytes), least = bank_distance(model_);
    return (first >= least && last >= least) || (first <= -least && last <= -least);
  }
  constexpr bool is_interleaved(const BankStep& step, const BankOperand& operand) const {
    return plan_.tile_sets[static_cast<std::size_t>(step.set)].data_bytes() - start(step, operand) <= model_.interleaved_bytes;
  }

  TileHomes& homes_;
  const IpuModel& model_;
  Plan& plan_;
};

}  // namespace detail

/// Counts the cycles of steps that depend on the banks of their operands.
constexpr void count_bank_cycles(TileHomes& homes, const Target& target, Plan& plan) {
  detail::BankCounter(homes, target, plan).run();
}

}  // namespace tilewright::internal
