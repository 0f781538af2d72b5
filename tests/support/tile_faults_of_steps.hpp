#pragma once
// Faults of a planner in what steps do on tiles: places of vertices, operands, counts of bytes, banks, calls, copies between
// IPUs.
#include "tile_faults_of_memory.hpp"

namespace tile_faults {

inline constexpr std::string_view tile_cuts = "convolutions of few images are cut along their rows",
                                  tables = "columns of a table that is too large for a tile are cut",
                                  weights = "a weight's rows stay with one tile";

inline const std::vector<Kind>& faults_of_steps() {
  static const std::vector<Kind> all{
      // ---- vertices and their operands
      {"vertices begin on the next tile, their operands do not", whole_blocks,
       [](Mutant& m) {
         return m.any_step([&](TileBody& body, int g) {
           auto& places = body.steps[g].grid.places;
           if (m.sets.count(places.set) < 2 || !m.has_local_operand(body, g)) return false;
           places.first_tile = (places.first_tile + 1) % m.sets.count(places.set);
           return true;
         });
       }},
      {"vertices on a part of a tensor begin on its first tile", whole_blocks,
       [](Mutant& m) {
         return m.any_operand([&](TileBody& body, int g, TileOperand& operand) {
           auto& places = body.steps[g].grid.places;
           const auto& layout = body.storages[int(operand.storage)].layout;
           if (operand.access != TileAccess::local || m.is_collective(body, g)) return false;
           if (layout.places.first_tile == places.first_tile) return false;
           places.first_tile = layout.places.first_tile;
           return true;
         });
       }},
      {"vertices are numbered along the other axis first", weights,
       [](Mutant& m) {
         return m.any_step([&](TileBody& body, int g) {
           auto& axes = body.steps[g].grid.axes;
           if (!m.has_local_operand(body, g)) return false;
           for (int a = 0; a + 1 < axes.size(); ++a)
             if (!(axes[a] == axes[a + 1])) return std::swap(axes[a], axes[a + 1]), true;
           return false;
         });
       }},
      {"vertices along an axis have one place", stages,
       [](Mutant& m) {
         return m.any_step([](TileBody& body, int g) {
           auto& axes = body.steps[g].grid.axes;
           for (int a = 0; a < axes.size(); ++a)
             if (axes[a].outer_step != 0) return axes[a].outer_step = 0, true;
           return false;
         });
       }},
      {"vertices run on the tiles of another set", several_ipus,
       [](Mutant& m) {
         return m.any_step([&](TileBody& body, int g) {
           if (m.sets.size() < 2) return false;
           int& set = body.steps[g].grid.places.set;
           m.moves(body, g).set = set = (set + 1) % m.sets.size();
           return true;
         });
       }},
      {"elements on other tiles count as local", odd_widths,
       [](Mutant& m) {
         return m.any_operand([&](TileBody& body, int g, TileOperand& operand) {
           const int room = m.room_of(body, g, operand);
           if (operand.access == TileAccess::local || room < 0 || m.is_collective(body, g)) return false;
           operand.access = TileAccess::local;
           erase(body.rooms, static_cast<std::size_t>(room));
           return true;
         });
       }},
      {"an exchange is left out, its room is not", tables,
       [](Mutant& m) {
         return m.any_operand([&](TileBody& body, int g, TileOperand& operand) {
           if (operand.access == TileAccess::local || m.is_collective(body, g)) return false;
           return operand.access = TileAccess::local, true;
         });
       }},
      {"an operand that is on its tile is exchanged through no room", "",
       [](Mutant& m) {
         return m.any_operand([&](TileBody& body, int g, TileOperand& operand) {
           if (operand.access != TileAccess::local || m.is_collective(body, g)) return false;
           return operand.access = TileAccess::exchanged, true;
         });
       }},
      {"a step does not declare an operand", tile_cuts,
       [](Mutant& m) {
         return m.any_step([&](TileBody& body, int g) {
           auto& operands = body.steps[g].tile_operands;
           if (operands.size() == 0 || m.is_collective(body, g)) return false;
           const std::size_t k = m.dice(operands.size());
           if (const int room = m.room_of(body, g, operands[k]); room >= 0) erase(body.rooms, static_cast<std::size_t>(room));
           erase(operands, k);
           return true;
         });
       }},
      {"a step gives an operand to another one of its ops", tile_cuts,
       [](Mutant& m) {
         return m.any_step([&](TileBody& body, int g) {
           auto& operands = body.steps[g].tile_operands;
           if (operands.size() < 2 || m.is_collective(body, g)) return false;
           const std::size_t k = m.dice(operands.size()), other = (k + 1) % operands.size();
           operands[k].member = operands[other].member, operands[k].operand = operands[other].operand;
           return true;
         });
       }},
      {"a step declares another tensor than it uses", "",
       [](Mutant& m) {
         return m.any_operand([&](TileBody& body, int, TileOperand& operand) {
           return m.any_storage([&](TileBody& its, int s) {
             return &its == &body && static_cast<int>(operand.storage) != s && (operand.storage = StorageId(s), true);
           });
         });
       }},
      {"a slice is counted without its last element", tile_cuts,
       [](Mutant& m) {
         return m.any_operand([&](TileBody& body, int g, TileOperand& operand) {
           return operand.slice_elements > 1 && !m.is_collective(body, g) && (operand.slice_elements -= 1, true);
         });
       }},
      {"slices have the extent of the last block, which is shorter", odd_widths,
       [](Mutant& m) {
         return m.any_operand([&](TileBody& body, int g, TileOperand& operand) {
           const int room = m.room_of(body, g, operand);
           if (operand.slice_elements < 2 || room < 0) return false;
           operand.slice_elements /= 2;
           body.rooms[room].bytes /= 2;
           return true;
         });
       }},
      {"two locations of a step have each other's tensors", "",
       [](Mutant& m) {
         return m.any_step([&](TileBody& body, int g) {
           auto& storages = body.steps[g].location_storages;
           return m.any(storages.size(), [&](std::size_t a) {
             const std::size_t b = (a + 1) % storages.size();
             return storages[a] != storages[b] && storages[a] >= 0 && storages[b] >= 0 &&
                    (std::swap(storages[a], storages[b]), true);
           });
         });
       }},
      {"a copy from other tiles is an op on its own tiles", several_ipus,
       [](Mutant& m) {
         return m.any_step(
             [](TileBody& body, int g) { return body.steps[g].is_tile_copy && (body.steps[g].is_tile_copy = false, true); });
       }},
      {"a step that computes is a call", "",
       [](Mutant& m) { return m.any_step([](TileBody& body, int g) { return body.steps[g] = {}, true; }); }},
      // ---- calls
      {"two arguments of a call are in another order", branches,
       [](Mutant& m) {
         return m.any_call([&](TileBody& body, int g) {
           StepRecord& step = body.steps[g];
           const auto count = static_cast<std::size_t>(step.input_count + step.outputs + step.else_outputs);
           return m.any(count, [&](std::size_t a) {
             auto &value = step.call_values[a], &other = step.call_values[(a + 1) % count];
             return value.storage != other.storage && (std::swap(value, other), true);
           });
         });
       }},
      {"an argument begins at another element of its tensor", in_parts,
       [](Mutant& m) {
         return m.any_call([&](TileBody& body, int g) {
           auto& values = body.steps[g].call_values;
           return values.size() > 1 && (values[m.dice(values.size() - 1)].layout.offset += 1, true);
         });
       }},
      {"a call has an input fewer and a result more", branches,
       [](Mutant& m) {
         return m.any_call([](TileBody& body, int g) {
           StepRecord& step = body.steps[g];
           return step.inputs > 0 && (--step.inputs, --step.input_count, ++step.outputs, true);
         });
       }},
      {"a branch has the arguments of the other one", branches,
       [](Mutant& m) {
         return m.any_call([](TileBody& body, int g) {
           StepRecord& step = body.steps[g];
           return step.else_inputs > 0 && (step.else_inputs = 0, true);
         });
       }},
      {"a loop carries a tensor fewer", "",
       [](Mutant& m) {
         return m.any_call([](TileBody& body, int g) { return body.steps[g].carried > 0 && (--body.steps[g].carried, true); });
       }},
  };
  return all;
}

}  // namespace tile_faults
