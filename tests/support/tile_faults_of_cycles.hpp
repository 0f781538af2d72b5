#pragma once
// Faults of a planner in the cycles that it counts. Those of a step are in the sums of the run, too, so that no sum shows them.
#include "tile_faults_of_counts.hpp"
#include "tilewright/lower/ipu/run_cycles.hpp"

namespace tile_faults {

using tw::CycleUse;

/// f(use): the cycles of a step, which then count in the run.
inline bool any_cycles(Mutant& m, const auto& f) {
  return m.any(m.plan.step_cycles.size(), [&](std::size_t i) {
    if (!f(m.plan.step_cycles[i])) return false;
    internal::count_run_cycles(m.sets, m.plan);
    return true;
  });
}
/// Halves a figure of a step.
template <std::int64_t CycleUse::* figure>
bool halves(Mutant& m) {
  return any_cycles(m, [](CycleUse& use) { return use.*figure > 1 && (use.*figure /= 2, true); });
}
/// Changes a figure of the run, of each set of tiles and of all.
inline bool changes_run(Mutant& m, const auto& f) {
  bool is_changed = f(m.plan.cycles);
  for (auto& use : m.plan.tile_sets) is_changed = f(use.cycles) || is_changed;
  return is_changed;
}

/// Whether the sums of a step are the result of its product: an epilogue may have them in registers.
inline bool has_sums_in_memory(Mutant& m, const internal::BankStep& step) {
  for (const TileBody& body : m.tiles.bodies) {
    if (body.id != step.body || step.use == tw::BankUse::elements || step.result.operand < 0) continue;
    const TileOperand& sums = body.steps[step.group].tile_operands[step.result.operand];
    const auto& set = m.plan.compute_sets[m.plan.steps[m.number(body, step.group)].compute_set];
    const auto& stage = m.plan.stages[set.first_stage + sums.member];
    return sums.operand == 2 && (stage.name.starts_with("MatMul") || stage.name.starts_with("Conv"));
  }
  return false;
}

inline const std::vector<Kind>& faults_of_cycles() {
  static const std::vector<Kind> all{
      {"a step computes in half of its cycles", "", halves<&CycleUse::compute>},
      {"a step exchanges in half of its cycles", "", halves<&CycleUse::exchange>},
      {"a step has fewer barriers", "", halves<&CycleUse::sync>},
      {"a step moves streams in half of their cycles", "", halves<&CycleUse::host>},
      {"a step moves rows or code in half of their cycles", "", halves<&CycleUse::remote>},
      {"a step copies to another IPU in half of its cycles", "", halves<&CycleUse::links>},
      {"a collective takes half of its cycles", "", halves<&CycleUse::collectives>},
      {"fewer cycles of a step are assumed", "", halves<&CycleUse::assumed>},
      {"a product has half of its operations", "", halves<&CycleUse::flops>},
      {"a step that does nothing takes a cycle", "",
       [](Mutant& m) { return any_cycles(m, [](CycleUse& use) { return use == CycleUse{} && (use.compute = 1, true); }); }},
      {"a step waits", "", [](Mutant& m) { return any_cycles(m, [](CycleUse& use) { return ++use.waiting, true; }); }},
      {"no step takes cycles", "",
       [](Mutant& m) {
         for (CycleUse& use : m.plan.step_cycles) use = {};
         return changes_run(m, [](CycleUse& use) { return use = {}, true; });
       }},
      {"a run computes in half of its cycles", "",
       [](Mutant& m) { return changes_run(m, [](CycleUse& use) { return use.compute > 1 && (use.compute /= 2, true); }); }},
      {"a run is longer than its steps", "",
       [](Mutant& m) { return changes_run(m, [](CycleUse& use) { return ++use.waiting, true; }); }},
      {"the run is that of a set of tiles that waits", "",
       [](Mutant& m) {
         for (const auto& use : m.plan.tile_sets)
           if (use.cycles.waiting > m.plan.cycles.waiting) return m.plan.cycles = use.cycles, true;
         return false;
       }},
      {"streaming memory takes half of its cycles in a run", "",
       [](Mutant& m) { return m.plan.remote.cycles > 1 && (m.plan.remote.cycles /= 2, true); }},
      {"the collective of a compute set takes half of its cycles", "",
       [](Mutant& m) {
         return m.any(m.plan.compute_sets.size(), [&](std::size_t i) {
           auto& cycles = m.plan.compute_sets[i].traffic.cycles;
           return cycles > 1 && (cycles /= 2, true);
         });
       }},
      {"a product is in no banks", "",
       [](Mutant& m) {
         return any_bank_step(m, [&](auto& step, StepMoves& moves) {
           if (!has_sums_in_memory(m, step)) return false;
           moves.banks = tw::OperandBanks::any;
           const auto at = static_cast<std::size_t>(&step - m.tiles.bank_steps.data());
           erase(m.tiles.bank_steps, at);
           return true;
         });
       }},
      {"operands that have room are in no banks", "",
       [](Mutant& m) {
         return any_bank_step(m, [&](auto& step, StepMoves& moves) {
           return step.banks != tw::OperandBanks::any && (moves.banks = step.banks = tw::OperandBanks::any, true);
         });
       }},
  };
  return all;
}

}  // namespace tile_faults
