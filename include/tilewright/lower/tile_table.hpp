#pragma once
// for: simulated IPUs
// takes: a body's draft that is placed, and the homes of variables and constants
// gives: Plan::tile_table: what the strict executor has to know of tiles and the rest of a plan does not say
// keeps: all else
#include <cstdint>

#include "tilewright/lower/tile_draft.hpp"

namespace tilewright::internal {

/// Writes numbers to a table: seven bits in a character, the low ones first, so that most numbers take one character.
class TileTableWriter {
 public:
  constexpr explicit TileTableWriter(Text& table) : table_(table) {}
  constexpr void put(std::int64_t number) {
    auto rest = (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
    char characters[10]{};
    std::size_t count = 0;
    for (; rest >= 128; rest >>= 7) characters[count++] = static_cast<char>(static_cast<unsigned char>((rest & 127) | 128));
    characters[count++] = static_cast<char>(rest);
    table_ += std::string_view(characters, count);
  }
  constexpr void put(const AxisNumbering& numbering) {
    put(numbering.inner);
    put(numbering.outer_step);
    put(numbering.inner_step);
  }
  constexpr void put(const Places& places) {
    put(places.count);
    put(places.first_tile);
    put(places.set);
  }
  constexpr void put(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    table_ += text;
  }

 private:
  Text& table_;
};

namespace detail {

class BodyTableWriter {
 public:
  constexpr BodyTableWriter(const TileDraft& draft, const Plan& plan, BodyId body, Text& table)
      : draft_(draft), plan_(plan), body_(body), writer_(table) {}

  constexpr void run(const BodyTiles& tiles) {
    put(static_cast<int>(body_));
    put(draft_.storages.size());
    for (std::size_t i = 0; i < draft_.storages.size(); ++i) put_storage(StorageId(i));
    for (const TileFrame& frame : tiles.frames) put(frame.bytes);
    put(draft_.tiles.rooms.size());
    for (const Room& room : draft_.tiles.rooms) {
      put(static_cast<int>(room.kind));
      put(room.set);
      put(static_cast<int>(room.storage));
      put(room.bytes);
      put(room.address);
      put(room.first);
      put(room.last);
    }
    for (std::size_t g = 0; g < draft_.groups.size(); ++g) {
      const Operation& first = draft_.operation(draft_.groups[g].members[0]);
      put(static_cast<int>(first.graph));
      put(first.scope);
      if (first.loads_code) continue;
      if (first.is_call()) put_call(first);
      else put_group(g);
    }
  }

 private:
  template <class T>
  constexpr void put(T number) {
    writer_.put(static_cast<std::int64_t>(number));
  }
  constexpr void put_storage(StorageId s) {
    const Storage& storage = draft_.storages[s];
    const bool is_owner = storage.reuses == StorageId::none && !storage.internal;
    put(is_owner ? (storage.begins_undefined ? 2 : 1) : 0);
    if (!is_owner) return put(static_cast<int>(draft_.owner(s)));
    put(static_cast<int>(storage.whole.dtype));
    put(storage.whole.shape.nelms());
    put(static_cast<int>(storage.location.base));
    put(storage.location.index);
    put(storage.location.offset);
    const TileLayout& layout = draft_.tiles.layouts[s];
    put(layout.axes.size());
    for (const LayoutAxis& axis : layout.axes) {
      put(axis.stride);
      put(axis.extent);
      put(axis.block);
      writer_.put(axis.numbering);
    }
    writer_.put(layout.places);
  }
  constexpr void put_group(std::size_t g) {
    const TileGroup& tiles = draft_.tiles.groups[g];
    bool runs_once = false;  // what it does can be seen elsewhere, such as a line that is printed
    for (const Member& member : draft_.groups[g].members) {
      const OpInfo& op = *draft_.operation(member).op;
      runs_once = runs_once || (op.has_side_effect && !op.transfer && !op.collective_items);
    }
    const bool is_tile_copy = draft_.operation(draft_.groups[g].members[0]).op->result_placement != nullptr;
    put((runs_once ? 1 : 0) + (is_tile_copy ? 2 : 0));
    for (const AxisNumbering& numbering : tiles.grid.axes) writer_.put(numbering);
    writer_.put(tiles.grid.places);
    put_locations(g);
    put(tiles.operands.size());
    for (const TileOperand& operand : tiles.operands) {
      put(static_cast<int>(operand.storage));
      put(operand.member);
      put(operand.operand);
      put(static_cast<int>(operand.access) * 4 + (operand.is_read ? 1 : 0) + (operand.is_written ? 2 : 0));
      put(operand.slice_elements);
    }
  }
  /// By location of the step: the storage in which it is.
  constexpr void put_locations(std::size_t g) {
    const Step& step = plan_.steps[static_cast<std::size_t>(plan_.bodies[body_].first_step) + g];
    const ComputeSet& set = plan_.compute_sets[step.compute_set];
    List<StorageId> storages(static_cast<std::size_t>(step.location_count), StorageId::none);
    for (int m = 0; m < set.stage_count; ++m) {
      const Stage& stage = plan_.stages[set.first_stage + m];
      const Operation& operation = draft_.operation(draft_.groups[g].members[m]);
      for (int o = 0; o < stage.operand_count; ++o)
        if (const StageOperand& operand = plan_.operands[stage.first_operand + o]; operand.source == Source::memory)
          storages[operand.index] = draft_.owner(operation.operands[o].storage);
    }
    for (const StorageId storage : storages) put(static_cast<int>(storage));
  }
  constexpr void put_call(const Operation& call) {
    const Calling& calling = call.calling;
    put(call.input_count);
    put(calling.inputs);
    put(calling.outputs);
    put(calling.else_inputs);
    put(calling.else_outputs);
    put(calling.loop ? calling.loop->carried : 0);
    put(call.operands.size() - 1);
    for (std::size_t o = 0; o + 1 < call.operands.size(); ++o) {
      put(static_cast<int>(draft_.owner(call.operands[o].storage)));
      put(call.operands[o].layout.offset);
    }
  }

  const TileDraft& draft_;
  const Plan& plan_;
  BodyId body_;
  TileTableWriter writer_;
};

}  // namespace detail

/// Begins the table: the sets of tiles.
constexpr void write_tile_sets(const TileSets& sets, Plan& plan) {
  TileTableWriter writer(plan.tile_table);
  writer.put(sets.tiles);
  writer.put(sets.io_tiles);
  writer.put(sets.ipus);
}

/// Appends a body that has its steps in the plan. Bodies are written in the order in which they are planned, called ones first.
constexpr void write_tiles(const TileDraft& draft, const TileHomes& homes, BodyId body, Plan& plan) {
  detail::BodyTableWriter(draft, plan, body, plan.tile_table).run(homes.bodies[body]);
}

/// Ends the table: the homes with their addresses on tiles, and the names of scopes and graphs.
constexpr void write_homes(const Ir& ir, const TileHomes& homes, Plan& plan) {
  TileTableWriter writer(plan.tile_table);
  writer.put(-1);
  for (const List<Home>* list : {&homes.variables, &homes.constants}) {
    writer.put(static_cast<std::int64_t>(list->size()));
    for (const Home& home : *list) {
      writer.put(home.offset);
      writer.put(home.layout.is_decided() ? home.address : -1);
    }
  }
  for (const TileSetUse& set : plan.tile_sets) {
    writer.put(set.tile.variables);
    writer.put(set.tile.constants);
  }
  writer.put(static_cast<std::int64_t>(ir.name_scopes.size()));
  for (const auto& scope : ir.name_scopes) writer.put(scope.view());
  writer.put(static_cast<std::int64_t>(ir.graphs.size()));
  for (const auto& graph : ir.graphs) writer.put(graph.name.view());
}

}  // namespace tilewright::internal
