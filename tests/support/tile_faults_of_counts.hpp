#pragma once
// Faults of a planner in what it says of steps and tiles: counts of bytes, banks, barriers between IPUs, merged exchanges.
#include "tile_faults_of_memory.hpp"

namespace tile_faults {

inline constexpr std::string_view halos = "each halo of the heat equation moves once",
                                  copy_barriers = "copies between IPUs have the barriers that they need",
                                  call_barriers = "workers meet before a copy reads what a call on another IPU made",
                                  small_frames = "banks matter from 16 vectors of a worker on",
                                  collectives = "a variable of a collective is spread over the tiles",
                                  merged = "merged exchanges keep the order of what shares memory";

/// f(use): the memory and cycles of a set of tiles.
inline bool any_set(Mutant& m, const auto& f) {
  return m.any(m.plan.tile_sets.size(), [&](std::size_t set) { return f(m.plan.tile_sets[set]); });
}
/// f(step, its moves): a step whose cycles depend on banks.
inline bool any_bank_step(Mutant& m, const auto& f) {
  return m.any(m.tiles.bank_steps.size(), [&](std::size_t i) {
    auto& step = m.tiles.bank_steps[i];
    for (const TileBody& body : m.tiles.bodies)
      if (body.id == step.body) return f(step, m.moves(body, step.group));
    return false;
  });
}

inline const std::vector<Kind>& faults_of_counts() {
  static const std::vector<Kind> all{
      // ---- counts
      {"the exchange before a step is not counted", simulated,
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves&) { return !its.before.is_empty() && (its.before = {}, true); });
       }},
      {"the exchange after a step is not counted", simulated,
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves&) { return !its.after.is_empty() && (its.after = {}, true); });
       }},
      {"the exchange of one operand is not counted", simulated,
       [](Mutant& m) {
         return m.any_moves(
             [](StepMoves& its, StepMoves&) { return its.before.total_bytes > 1 && (its.before.total_bytes /= 2, true); });
       }},
      {"a halo counts twice", halos,
       [](Mutant& m) {
         return m.any_moves(
             [](StepMoves& its, StepMoves&) { return !its.before.is_empty() && (its.before += TileExchange(its.before), true); });
       }},
      {"a tile receives fewer bytes than its slices have", halos,
       [](Mutant& m) {
         return m.any_moves(
             [](StepMoves& its, StepMoves&) { return its.before.bytes_in > 1 && (its.before.bytes_in /= 2, true); });
       }},
      {"a tile sends nothing of what others receive", halos,
       [](Mutant& m) {
         return m.any_moves(
             [](StepMoves& its, StepMoves&) { return its.before.bytes_out > 0 && (its.before.bytes_out = 0, true); });
       }},
      {"a tile sends fewer bytes than its results have", halos,
       [](Mutant& m) {
         return m.any_moves(
             [](StepMoves& its, StepMoves&) { return its.after.bytes_out > 1 && (its.after.bytes_out /= 2, true); });
       }},
      {"pairs of tiles receive different slices at twice the rate", "",
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves&) {
           return its.before.bytes_in > its.before.pair_bytes_in && (its.before.pair_bytes_in = its.before.bytes_in, true);
         });
       }},
      {"an exchange has no fragments", simulated,
       [](Mutant& m) {
         return m.any_moves(
             [](StepMoves& its, StepMoves&) { return its.before.fragments > 0 && (its.before.fragments = 0, true); });
       }},
      {"an exchange has no sends", simulated,
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves&) { return its.before.sends > 0 && (its.before.sends = 0, true); });
       }},
      {"steps have the exchanges of their neighbours", "",
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves& next) {
           if (its.before.total_bytes == next.before.total_bytes) return false;
           std::swap(its.before, next.before);
           return true;
         });
       }},
      {"copies of arguments are not counted", branches,
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves&) { return its.local_bytes > 0 && (its.local_bytes = 0, true); });
       }},
      {"a stream is loaded for each step that reads it", "",
       [](Mutant& m) {
         return m.any_moves(
             [](StepMoves& its, StepMoves& next) { return its.host_in > 0 && (next.host_in += its.host_in, true); });
       }},
      {"a stream is loaded after the step that reads it", "",
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves& next) {
           return its.host_in > 0 && &its != &next && (next.host_in += std::exchange(its.host_in, 0), true);
         });
       }},
      {"a stream to the host is not counted", "",
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves&) { return its.host_out > 0 && (its.host_out = 0, true); });
       }},
      {"a step counts for another set of tiles", several_ipus,
       [](Mutant& m) {
         return m.any_moves([&](StepMoves& its, StepMoves&) {
           return m.sets.size() > 1 && its.set >= 0 && (its.set = (its.set + 1) % m.sets.size(), true);
         });
       }},
      {"a copy between sets of tiles counts as an exchange on one", several_ipus,
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves&) { return its.from_set >= 0 && (its.from_set = -1, true); });
       }},
      {"a step takes from another set what is on its tiles", several_ipus,
       [](Mutant& m) {
         return m.any_moves([&](StepMoves& its, StepMoves&) {
           return its.from_set < 0 && its.set >= 0 && m.sets.size() > 1 && (its.from_set = (its.set + 1) % m.sets.size(), true);
         });
       }},
      {"variables of a tile lack the last word", "",
       [](Mutant& m) { return any_set(m, [](auto& use) { return use.tile.variables > 0 && (use.tile.variables -= 8, true); }); }},
      {"constants of a tile lack the last word", one_constant,
       [](Mutant& m) { return any_set(m, [](auto& use) { return use.tile.constants > 0 && (use.tile.constants -= 8, true); }); }},
      {"the frame of a tile has no gaps", painted,
       [](Mutant& m) {
         return any_set(m, [](auto& use) {
           if (use.tile.frame + use.tile.padding == 0) return false;
           return use.tile.padding > 0 ? (use.tile.padding = 0, true) : (use.tile.frame -= 8, true);
         });
       }},
      {"the frame is that of the fullest step of another root", painted,
       [](Mutant& m) { return any_set(m, [](auto& use) { return use.tile.frame > 8 && (use.tile.frame /= 2, true); }); }},
      {"the fullest tile is that of another set", several_ipus,
       [](Mutant& m) {
         for (const auto& use : m.plan.tile_sets)
           if (use.tile.total() != m.plan.tile.total()) return m.plan.tile = use.tile, true;
         return false;
       }},
      {"the bytes of the fullest tile lack the frame", "",
       [](Mutant& m) { return m.plan.tile.frame > 0 && (m.plan.memory.fullest_tile -= m.plan.tile.frame, true); }},
      {"two sets of tiles have each other's numbers", several_ipus,
       [](Mutant& m) {
         auto& sets = m.plan.tile_sets;
         if (sets.size() < 2) return false;
         std::swap(sets[0].ipu, sets[1].ipu), std::swap(sets[0].is_io, sets[1].is_io);
         return true;
       }},
      // ---- banks
      {"cycles count on different banks, operands share one", banks,
       [](Mutant& m) {
         return any_bank_step(m, [&](auto& step, StepMoves& moves) {
           if (step.banks != tw::OperandBanks::same) return false;
           moves.banks = step.banks = tw::OperandBanks::different;
           return true;
         });
       }},
      {"cycles count on interleaved memory that the result is not in", banks,
       [](Mutant& m) {
         return any_bank_step(m, [&](auto& step, StepMoves& moves) {
           if (step.banks == tw::OperandBanks::interleaved) return false;
           moves.banks = step.banks = tw::OperandBanks::interleaved;
           return true;
         });
       }},
      {"a step of few vectors counts on banks that it has no room for", small_frames,
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves&) {
           return its.banks == tw::OperandBanks::same && (its.banks = tw::OperandBanks::different, true);
         });
       }},
      {"the gap between variables of a step is left out", bank_gap,
       [](Mutant& m) {
         return any_bank_step(m, [&](auto& step, StepMoves&) {
           if (step.banks == tw::OperandBanks::same || m.tiles.variables.size() < 2) return false;
           Home &a = m.tiles.variables[0], &b = m.tiles.variables.back();
           if (b.address - a.address < m.tiles.bank_rules.distance) return false;
           b.address -= m.tiles.bank_rules.distance;
           return true;
         });
       }},
      {"the gap before the frame is left out", bank_gap,
       [](Mutant& m) {
         return any_bank_step(m, [&](auto& step, StepMoves&) {
           auto& use = m.plan.tile_sets[0];
           const std::int64_t homes = use.tile.variables + use.tile.constants;
           return step.banks != tw::OperandBanks::same && use.frame_address > homes && (use.frame_address = homes, true);
         });
       }},
      {"a step's banks are those of two other operands", banks,
       [](Mutant& m) {
         return any_bank_step(m, [](auto& step, StepMoves&) {
           if (step.banks == tw::OperandBanks::same || step.y.operand == step.result.operand) return false;
           std::swap(step.y.operand, step.result.operand);
           return true;
         });
       }},
      {"banks are nearer to each other than those of the chip", banks,
       [](Mutant& m) { return m.tiles.bank_steps.size() > 0 && (m.tiles.bank_rules.distance /= 2, true); }},
      {"more memory is interleaved than a tile has", banks,
       [](Mutant& m) { return m.tiles.bank_steps.size() > 0 && (m.tiles.bank_rules.interleaved_bytes *= 2, true); }},
      {"a step that counts on banks is not checked", banks,
       [](Mutant& m) {
         return m.any(m.tiles.bank_steps.size(), [&](std::size_t i) {
           return m.tiles.bank_steps[i].banks != tw::OperandBanks::same && (erase(m.tiles.bank_steps, i), true);
         });
       }},
      // ---- several IPUs
      {"workers do not meet before a copy between IPUs", copy_barriers,
       [](Mutant& m) {
         return m.any(m.plan.steps.size(), [&](std::size_t i) {
           Step& step = m.plan.steps[i];
           return step.from_ipu >= 0 && step.barrier_before && (step.barrier_before = false, true);
         });
       }},
      {"workers of one IPU meet where those of all IPUs must", copy_barriers,
       [](Mutant& m) {
         return m.any(m.plan.steps.size(), [&](std::size_t i) {
           Step& step = m.plan.steps[i];
           return step.ipu >= 0 && step.barrier_before && step.joins_ipus && (step.joins_ipus = false, true);
         });
       }},
      {"workers do not meet before a step behind a call", call_barriers,
       [](Mutant& m) {
         return m.any(m.plan.steps.size(), [&](std::size_t i) {
           if (i == 0 || !m.plan.steps[i - 1].is_call() || m.plan.steps[i].is_call()) return false;
           Step& step = m.plan.steps[i];
           return step.barrier_before && (step.barrier_before = false, true);
         });
       }},
      {"a step runs on another IPU", several_ipus,
       [](Mutant& m) {
         return m.any(m.plan.steps.size(), [&](std::size_t i) {
           Step& step = m.plan.steps[i];
           return step.ipu >= 0 && m.sets.ipus > 1 && (step.ipu = (step.ipu + 1) % m.sets.ipus, true);
         });
       }},
      {"a copy reads from its own IPU", several_ipus,
       [](Mutant& m) {
         return m.any(m.plan.steps.size(), [&](std::size_t i) {
           return m.plan.steps[i].from_ipu >= 0 && (m.plan.steps[i].from_ipu = m.plan.steps[i].ipu, true);
         });
       }},
      {"an exchange of rows has a step more", merged,
       [](Mutant& m) {
         return m.any(m.plan.exchanges.size(), [&](std::size_t i) { return ++m.plan.exchanges[i].step_count, true; });
       }},
      {"an exchange of rows begins a step later", merged,
       [](Mutant& m) {
         return m.any(m.plan.exchanges.size(), [&](std::size_t i) { return ++m.plan.exchanges[i].first_step, true; });
       }},
      {"the operand of a collective is on the first tile only", collectives,
       [](Mutant& m) {
         return m.any_operand([&](TileBody& body, int g, TileOperand& operand) {
           auto& storage = body.storages[int(operand.storage)];
           if (!m.is_collective(body, g) || storage.layout.places.count < 2) return false;
           storage.layout.places.count = 1;
           for (int a = 0; a < storage.layout.axes.size(); ++a) storage.layout.axes[a].numbering.outer_step = 0;
           return true;
         });
       }},
  };
  return all;
}

}  // namespace tile_faults
