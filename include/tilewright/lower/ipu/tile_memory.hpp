#pragma once

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/lower/ipu/tile_addresses.hpp"
#include "tilewright/lower/memory/compute_sets.hpp"
#include "tilewright/lower/memory/fault_sites.hpp"
#include "tilewright/lower/program/code_memory.hpp"
#include "tilewright/lower/program/dead_code.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

namespace detail {

/// Returns the tensors that take most of a tile, for the error text.
constexpr Text largest_rooms(const Ir& ir, const Plan& plan, const TileHomes& homes, const TileSets& sets, int set) {
  List<LargeRoom> largest = homes.largest[static_cast<std::size_t>(set)];
  for (const List<Home>* list : {&homes.variables, &homes.constants})
    for (const Home& home : *list)
      if (home.layout.is_decided() && home.layout.places.set == set)
        keep_largest(largest, {room_bytes(home.layout, home.spec.dtype, sets), home.spec,
                               list == &homes.variables ? Base::variable : Base::constant, home.offset});
  List<Text> names;
  for (const LargeRoom& room : largest) {
    Text name;
    if (room.base == Base::variable) {
      for (const PlannedVariable& variable : plan.variables)
        if (variable.base == Base::variable && variable.offset == room.offset) name = variable.name;
    } else if (room.base == Base::constant) {
      for (const PlannedConstant& constant : plan.constants)
        if (constant.offset == room.offset) name = constant.name;
      if (name.empty()) name = "a constant";
    } else if (room.graph == GraphId::none) {
      name = Text(room.op.empty() ? std::string_view("an argument") : room.op);
    } else {
      name = text(room.op.empty() ? "an argument" : room.op, " in ", place_in_model(ir, room.graph, room.scope));
    }
    names.push_back(text(name, " ", to_text(room.spec), " ", room.bytes, " bytes"));
  }
  return join(names, ", ");
}

/// Leaves free memory of a set's tiles between its homes and its frame, and before homes that are second, so that a step can load
/// from both sides in one cycle: the distance of banks, or nothing if the tiles have no such room.
constexpr void leave_room_for_banks(TileHomes& homes, int set, const Target& target, TileSetUse& use) {
  const std::int64_t memory = memory_of_tile(target);
  const std::int64_t distance = bank_distance(*target.ipu);
  std::int64_t free = memory - use.tile.total();
  use.frame_address = use.tile.variables + use.tile.constants;
  bool before_frame = false, before_second = false;
  for (const BankStep& step : homes.bank_steps)
    if (step.set == set) {
      const bool has_home = step.x.has_home(), has_partner = step.partner().has_home();
      before_frame = before_frame || has_home != has_partner ||
                     (step.use == BankUse::elements && has_home != step.result.has_home());
      before_second = before_second || (has_home && has_partner);
    }
  if (before_frame && free >= distance) use.frame_address += distance, free -= distance;
  if (!before_second || free < distance) return;
  use.frame_address += distance;
  for (List<Home>* list : {&homes.variables, &homes.constants})
    for (Home& home : *list)
      if (home.layout.is_decided() && home.layout.places.set == set && (home.is_second || list == &homes.constants))
        home.address += distance;
}

}  // namespace detail

/// Counts the bytes of the fullest tile of each set of a simulated IPU's tiles. It is the set's first: every storage, every step
/// and all code of the set have a part on it. Places homes and frames there. Error: the target's tiles have less memory.
constexpr void count_tile_memory(const Ir& ir, const List<CodeUse>& code, TileHomes& homes, const Target& target, Plan& plan) {
  const TileSets sets(target);
  const List<std::int64_t> variables = place_homes(homes.variables, sets), constants = place_homes(homes.constants, sets);
  for (Home& home : homes.constants)  // constants follow the variables
    if (home.layout.is_decided()) home.address += variables[static_cast<std::size_t>(home.layout.places.set)];
  int fullest = 0;
  for (int set = 0; set < sets.size(); ++set) {
    const auto at = static_cast<std::size_t>(set);
    TileMemory& tile = plan.tile_sets[at].tile;
    tile.variables = variables[at];
    tile.constants = constants[at];
    for (std::size_t i = 0; i < homes.bodies.size(); ++i) {
      if (!plan.is_root(BodyId(i))) continue;
      const TileFrame& frame = homes.bodies[BodyId(i)].frames[at];
      if (frame.bytes < tile.frame + tile.padding) continue;
      tile.frame = frame.live_bytes;
      tile.padding = frame.bytes - frame.live_bytes;
    }
    tile.code = code[at].always;
    tile.code += code[at].loaded;
    tile.stack = target.ipu->code.stack;
    tile.reserve = target.ipu->code.reserve;
    detail::leave_room_for_banks(homes, set, target, plan.tile_sets[at]);
    if (tile.total() > plan.tile_sets[static_cast<std::size_t>(fullest)].tile.total()) fullest = set;
  }
  const auto at = static_cast<std::size_t>(fullest);
  const TileMemory& tile = plan.tile = plan.tile_sets[at].tile;
  plan.memory.code = code[at].always.total();
  plan.memory.loaded_code = code[at].loaded.total();
  plan.memory.fullest_tile = tile.total();
  if (!target.checks_memory() || tile.total() <= target.bytes_per_tile) return;
  Text where;
  if (sets.size() > 1) where = text(", on ", to_text(sets.placement(fullest)), ",");
  plan.fail(text(memory_error, "tile ", sets.first(fullest), " of ", sets.all(), where, " needs ", tile.total(),
                 " bytes: at most ", target.bytes_per_tile, " expected; variables ", tile.variables, ", constants ",
                 tile.constants, ", frame ", tile.frame, ", padding ", tile.padding, ", code ", tile.code.total(), ", stack ",
                 tile.stack, ", reserve ", tile.reserve,
                 "; largest tensors: ", detail::largest_rooms(ir, plan, homes, sets, fullest)));
}

}  // namespace tilewright::internal
