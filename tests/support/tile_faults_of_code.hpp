#pragma once
// Faults of a planner in what it says of pieces of exchanges, code and collectives.
#include "tile_faults_of_counts.hpp"

namespace tile_faults {

inline constexpr std::string_view pieces = "pieces of exchanges are counted where slices begin inside of blocks", code = "";

/// f(exchange): what a plan counts before or after a step with an exchange of several pieces.
inline bool any_pieces(Mutant& m, const auto& f) {
  return m.any_moves([&](StepMoves& its, StepMoves&) {
    for (TileExchange* exchange : {&its.before, &its.after})
      if (exchange->total_bytes > 0 && f(*exchange)) return true;
    return false;
  });
}

/// f(code): the bytes of code on a tile of a set; those of the plan follow.
inline bool any_code(Mutant& m, const auto& f) {
  return any_set(m, [&](auto& use) {
    const tw::TileMemory before = use.tile;
    if (!f(use.tile.code)) return false;
    if (m.plan.tile == before) {
      m.plan.tile = use.tile;
      m.plan.memory.code += use.tile.code.total() - before.code.total();
      m.plan.memory.fullest_tile = use.tile.total();
    }
    return true;
  });
}
/// f(storage): the result of a collective, which has as many elements as its operand and other memory.
inline bool any_result(Mutant& m, const auto& f) {
  return m.any_step([&](TileBody& body, int g) {
    const auto& storages = body.steps[g].location_storages;
    if (!m.is_collective(body, g) || storages[0] == storages.back()) return false;
    StorageRecord& result = body.storages[storages.back()];
    return result.elements == body.storages[storages[0]].elements && f(result);
  });
}

inline const std::vector<Kind>& faults_of_code() {
  static const std::vector<Kind> all{
      // ---- pieces
      {"a slice is one piece wherever it lies", pieces,
       [](Mutant& m) {
         return any_pieces(m, [](TileExchange& e) { return e.fragments > e.sends && (e.fragments = e.sends, true); });
       }},
      {"a slice that begins inside of a block has a piece fewer", pieces,
       [](Mutant& m) { return any_pieces(m, [](TileExchange& e) { return e.fragments > 1 && (--e.fragments, true); }); }},
      {"rows of a slice that are one piece count apart", pieces,
       [](Mutant& m) { return any_pieces(m, [](TileExchange& e) { return e.fragments *= 2, true; }); }},
      {"each element of a slice is a piece", pieces,
       [](Mutant& m) {
         return any_pieces(m, [](TileExchange& e) { return e.fragments < e.bytes_in && (e.fragments = e.bytes_in, true); });
       }},
      {"steps have the pieces of their neighbours", "",
       [](Mutant& m) {
         return m.any_moves([](StepMoves& its, StepMoves& next) {
           if (its.before.fragments == next.before.fragments) return false;
           std::swap(its.before.fragments, next.before.fragments);
           return true;
         });
       }},
      // ---- code
      {"a compute set has the code of its first op only", code,
       [](Mutant& m) {
         return m.any(m.plan.compute_sets.size(), [&](std::size_t i) {
           auto& set = m.plan.compute_sets[i];
           return set.stage_count > 1 && set.code_bytes > 1 && (set.code_bytes /= set.stage_count, true);
         });
       }},
      {"a compute set has no code", code,
       [](Mutant& m) {
         return m.any(m.plan.compute_sets.size(), [&](std::size_t i) {
           return m.plan.compute_sets[i].code_bytes > 0 && (m.plan.compute_sets[i].code_bytes = 0, true);
         });
       }},
      {"vertices of a tile have no state", code,
       [](Mutant& m) { return any_code(m, [](tw::CodeBytes& bytes) { return bytes.state > 0 && (bytes.state = 0, true); }); }},
      {"code of exchanges is left out", code,
       [](Mutant& m) {
         return any_code(m, [](tw::CodeBytes& bytes) { return bytes.exchange > 0 && (bytes.exchange = 0, true); });
       }},
      {"code counts once for each vertex of a tile", code,
       [](Mutant& m) { return any_code(m, [](tw::CodeBytes& bytes) { return bytes.vertex > 0 && (bytes.vertex *= 2, true); }); }},
      {"control of a step lacks its exchange", code,
       [](Mutant& m) {
         return any_code(m, [](tw::CodeBytes& bytes) { return bytes.control > 8 && (bytes.control -= 8, true); });
       }},
      {"the plan has the code of another tile than the fullest", code,
       [](Mutant& m) { return m.plan.memory.code > 0 && (m.plan.memory.code -= 4, true); }},
      {"code that stays counts as loaded", code,
       [](Mutant& m) { return m.plan.memory.code > 0 && (m.plan.memory.loaded_code += m.plan.memory.code, true); }},
      {"loads of code are not counted", code,
       [](Mutant& m) { return m.plan.remote.code_bytes > 0 && (m.plan.remote.code_bytes = 0, true); }},
      {"code is loaded once for a loop", code,
       [](Mutant& m) { return m.plan.remote.code_bytes > 1 && (m.plan.remote.code_bytes /= 2, true); }},
      {"a tile has the stack of a smaller one", painted,
       [](Mutant& m) {
         return m.plan.tile.stack > 8 && !m.plan.tile_sets.empty() && [&] {
           for (auto& use : m.plan.tile_sets) use.tile.stack -= 8;
           m.plan.tile.stack -= 8, m.plan.memory.fullest_tile -= 8;
           return true;
         }();
       }},
      // ---- collectives
      {"the result of a collective begins on the next tile", collectives,
       [](Mutant& m) {
         return any_result(m, [&](StorageRecord& result) {
           auto& places = result.layout.places;
           return m.sets.count(places.set) > 1 && (places.first_tile = (places.first_tile + 1) % m.sets.count(places.set), true);
         });
       }},
      {"the result of a collective has its blocks in another order", collectives,
       [](Mutant& m) {
         return any_result(m, [&](StorageRecord& result) {
           for (LayoutAxis* axis = result.layout.axes.items; axis != result.layout.axes.end(); ++axis) {
             const std::int64_t blocks = internal::block_count(axis->extent, axis->block);
             if (blocks != 4 || axis->numbering.inner != 1) continue;
             axis->numbering.inner = 2;  // blocks 0 and 2, then 1 and 3
             axis->numbering.inner_step = 2 * axis->numbering.outer_step;
             return true;
           }
           return false;
         });
       }},
      {"the result of a collective is on another IPU", collectives,
       [](Mutant& m) {
         return any_result(m, [&](StorageRecord& result) {
           return m.sets.size() > 1 && (result.layout.places.set = (result.layout.places.set + 1) % m.sets.size(), true);
         });
       }},
  };
  return all;
}

}  // namespace tile_faults
