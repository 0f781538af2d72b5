#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tilewright/core/items.hpp"
#include "tilewright/lower/ipu/tile_draft.hpp"
#include "tilewright/lower/verify/draft_violation.hpp"

namespace tilewright::internal::detail {

/// Checks the tiles of a simulated IPU: the results of map_tiles and place_tiles. Other targets have none.
class TilesViolation : DraftViolation {
 public:
  constexpr TilesViolation(const TileDraft& draft, Pass after, BodyId body, const Plan& plan)
      : DraftViolation(draft, after, body, plan), tiles_(draft.tiles) {}

  constexpr Text run() {
    if (after_ < Pass::map_tiles) return violation_;
    check_layouts();
    if (violation_.empty()) check_vertices();
    if (violation_.empty() && after_ >= Pass::place_tiles) check_rooms();
    if (violation_.empty() && after_ >= Pass::place_tiles) check_use_of_rooms();
    return violation_;
  }

 private:
  constexpr const Operation& first_of(int g) const { return draft_.operation(draft_.groups[g].members[0]); }
  constexpr const TileLayout& layout_of(StorageId s) const { return tiles_.layouts[s]; }
  /// Returns whether the storage owns memory on tiles. An empty one has none.
  constexpr bool is_on_tiles(StorageId s) const {
    const Storage& storage = draft_.storage(s);
    return !storage.internal && storage.reuses == StorageId::none && storage.location.base != Base::position &&
           storage.location.base != Base::remote && storage.whole.shape.nelms() > 0;
  }
  /// Returns whether the storage has its room in the frames of tiles, not among variables and constants.
  constexpr bool has_room(StorageId s) const {
    const Base base = draft_.storage(s).location.base;
    return is_on_tiles(s) && base != Base::variable && base != Base::constant;
  }
  /// Returns whether there is a set of tiles with this number, and the op or tensor is placed there.
  constexpr bool is_set_of(int set, const Placement& placement) const {
    if (set < 0 || set >= static_cast<int>(plan_.tile_sets.size())) return false;
    const TileSetUse& use = plan_.tile_sets[static_cast<std::size_t>(set)];
    if (!placement.is_known()) return set == 0;
    bool has_io = false;
    for (const TileSetUse& each : plan_.tile_sets) has_io = has_io || each.is_io;
    return use.ipu == placement.ipu && use.is_io == (has_io && placement.tile_set == TileSet::io);
  }

  /// Numbers of the places of a grid's or a storage's blocks.
  class Numbers {
   public:
    constexpr void add(const AxisNumbering& numbering, std::int64_t blocks) {
      are_right_ = are_right_ && numbering.inner >= 1;
      if (!are_right_) return;
      add_digit(numbering.outer_step, block_count(blocks, numbering.inner));
      add_digit(numbering.inner_step, (std::min)(blocks, numbering.inner));
    }
    /// Returns whether each block has a unique number below the limit. Numbers are unique if each step is longer than all shorter
    /// steps together.
    constexpr bool are_distinct_below(std::int64_t limit) {
      sort_items(digits_, [](const Digit& a, const Digit& b) { return a.step < b.step; });
      std::int64_t largest = 0;
      for (const Digit& each : digits_) {
        if (each.step <= largest) return false;
        largest += each.step * (each.count - 1);
      }
      return are_right_ && largest < limit;
    }

   private:
    struct Digit {
      std::int64_t step, count;
    };
    constexpr void add_digit(std::int64_t step, std::int64_t count) {
      if (count > 1) digits_.push_back({step, count});
    }
    List<Digit> digits_{};
    bool are_right_ = true;  // the numberings so far
  };

  constexpr void check_layouts() {
    if (!expect(tiles_.layouts.size() == draft_.storages.size(), "storages have layouts", -1, tiles_.layouts.size(),
                " layouts: one for each of ", draft_.storages.size(), " storages expected"))
      return;
    for (std::size_t i = 0; i < draft_.storages.size() && violation_.empty(); ++i) {
      const auto s = StorageId(i);
      const TileLayout& layout = layout_of(s);
      const std::string_view problem = layout.is_decided()
                                           ? " has a layout, but no memory of its own on tiles: no layout expected"
                                           : " has memory of its own on tiles, but no layout: a layout expected";
      if (!expect(layout.is_decided() == is_on_tiles(s), "storages have layouts", -1, "storage ", s, problem)) return;
      if (layout.is_decided()) check_layout(s, layout);
    }
  }
  constexpr void check_layout(StorageId s, const TileLayout& layout) {
    const Storage& storage = draft_.storage(s);
    expect(is_set_of(layout.places.set, storage.placement), "tensors are on their tiles", -1, "storage ", s, " is on set ",
           layout.places.set, " of tiles: the set of its placement expected");
    std::int64_t elements = 1;
    Numbers numbers;
    for (const LayoutAxis& axis : layout.axes) {
      if (!expect(axis.block >= 1 && axis.block <= axis.extent, "layouts hold storages", -1, "storage ", s, " has blocks of ",
                  axis.block, " along an axis of ", axis.extent, ": blocks of 1 to ", axis.extent, " expected"))
        return;
      elements *= axis.extent;
      numbers.add(axis.numbering, block_count(axis.extent, axis.block));
    }
    expect(elements == storage.whole.shape.nelms(), "layouts hold storages", -1, "storage ", s, " has a layout of ", elements,
           " elements: ", storage.whole.shape.nelms(), " expected");
    expect(numbers.are_distinct_below(layout.places.count), "blocks have places", -1, "storage ", s, " has blocks on ",
           layout.places.count, " places: a place of its own for each block expected");
  }

  constexpr void check_vertices() {
    if (!expect(tiles_.groups.size() == draft_.groups.size(), "vertices have places", -1, tiles_.groups.size(),
                " groups on tiles: ", draft_.groups.size(), " expected"))
      return;
    for (int g = 0; g < group_count() && violation_.empty(); ++g)
      if (!first_of(g).is_call()) {
        check_grid(g);
        check_operands(g);
      }
  }
  constexpr void check_grid(int g) {
    const GridPlaces& grid = tiles_.groups[g].grid;
    const Group& group = draft_.groups[g];
    for (const Member& member : group.members)
      expect(is_set_of(grid.places.set, draft_.operation(member).placement), "vertices are on their tiles", member.operation,
             "is on set ", grid.places.set, " of tiles, as its group ", g, " is: the set of its placement expected");
    if (!expect(grid.axes.size() == group.grid.size(), "vertices have places", -1, "group ", g, " has ", grid.axes.size(),
                " axes on tiles: ", group.grid.size(), " expected"))
      return;
    Numbers numbers;
    for (int axis = 0; axis < group.grid.size(); ++axis)
      numbers.add(grid.axes[axis], block_count(group.grid[axis].extent, draft_.cuts[g].partition.blocks[axis]));
    expect(numbers.are_distinct_below(grid.places.count), "vertices have places", -1, "group ", g, " has ",
           draft_.cuts[g].partition.vertices, " vertices on ", grid.places.count,
           " places: a place of its own for each vertex expected");
  }
  /// Checks that TileGroup::operands, from which rooms and exchanges are counted, contains all operands of the operations.
  constexpr void check_operands(int g) {
    const TileGroup& tiles = tiles_.groups[g];
    PerStorage<unsigned char> uses(draft_.storages.size(), 0);  // 1: read, 2: written, 4: written so far
    for (const TileOperand& operand : tiles.operands) {
      if (!expect(operand.storage > StorageId::none && operand.storage < StorageId(draft_.storages.size()) &&
                      layout_of(operand.storage).is_decided(),
                  "vertices know what they use", -1, "group ", g, " uses storage ", operand.storage,
                  " on tiles: a storage with a layout expected"))
        return;
      const int set = layout_of(operand.storage).places.set;
      expect(operand.access != TileAccess::local || set == tiles.grid.places.set, "local operands are on the same tiles", -1,
             "group ", g, " on set ", tiles.grid.places.set, " of tiles uses storage ", operand.storage, " of set ", set,
             " without an exchange: an exchange expected");
      if (operand.is_read) uses[operand.storage] |= 1;
      if (operand.is_written) uses[operand.storage] |= 2;
    }
    for_each_operand(draft_, draft_.groups[g], [&](const Operation& operation, int o, const Member& member) {
      const StorageId s = draft_.owner(operation.operands[o].storage);
      if (draft_.storage(operation.operands[o].storage).internal || !is_on_tiles(s)) return;
      const bool is_output = operation.is_output(o);
      if (is_output && (uses[s] & 2) != 0) uses[s] |= 4;  // later members may read it where it was written
      expect(
          (uses[s] & (is_output ? 2 : 5)) != 0, "vertices know what they use", member.operation, is_output ? "writes" : "reads",
          " storage ", s,
          is_output ? ", which is not among the written operands of group " : ", which is not among the read operands of group ",
          g, ": an operand for it expected");
    });
  }

  /// Checks that rooms of one set that are in use at the same time do not overlap.
  constexpr void check_rooms() {
    List<const Room*> rooms, live;
    for (const Room& room : tiles_.rooms) {
      expect(room.set >= 0 && room.set < static_cast<int>(plan_.tile_sets.size()) && room.first >= 0 && room.first <= room.last &&
                 room.last < group_count(),
             "rooms are in use", -1, "a room on set ", room.set, " of tiles, from group ", room.first, " to ", room.last,
             ": a set from 0 to ", plan_.tile_sets.size() - 1, ", and groups from 0 to ", group_count() - 1, ", expected");
      expect(room.address >= 0 && room.address % tile_alignment == 0 && room.bytes >= 0, "rooms are aligned", -1, "a room of ",
             room.bytes, " bytes at ", room.address, ": an address that is a multiple of ", tile_alignment, " expected");
      if (room.bytes > 0) rooms.push_back(&room);
    }
    if (!violation_.empty()) return;
    sort_items(rooms, [](const Room* a, const Room* b) { return a->first < b->first; });
    for (const Room* room : rooms) {
      erase_if(live, [&](const Room* other) { return other->last < room->first; });
      for (const Room* other : live)
        expect(other->set != room->set || other->address + other->bytes <= room->address ||
                   room->address + room->bytes <= other->address,
               "live rooms do not overlap", -1, "rooms of ", room->bytes, " bytes at ", room->address, " and of ", other->bytes,
               " bytes at ", other->address, " are both in use in group ", room->first, ": separate bytes expected");
      live.push_back(room);
    }
  }
  /// Checks that a group's operands, and its received and sent slices, have rooms while the group uses them.
  constexpr void check_use_of_rooms() {
    PerStorage<const Room*> room_of(draft_.storages.size(), nullptr);
    List<int> slices(draft_.groups.size(), 0);  // by group: rooms of what it receives and sends
    for (const Room& room : tiles_.rooms) {
      if (room.kind == RoomKind::received || room.kind == RoomKind::sent) ++slices[room.first];
      if (room.kind != RoomKind::storage) continue;
      const bool exists = room.storage > StorageId::none && room.storage < StorageId(draft_.storages.size());
      if (!expect(exists && room_of[room.storage] == nullptr, "storages have one room", -1, "a room is for storage ",
                  room.storage, exists ? ", which has another room" : ", which does not exist",
                  ": one room for each storage expected"))
        return;
      room_of[room.storage] = &room;
      const TileLayout& layout = layout_of(room.storage);
      const std::int64_t least = layout.block_elements() * size_of(draft_.storage(room.storage).whole.dtype);
      expect(room.set == layout.places.set && room.bytes >= least, "rooms hold blocks", -1, "storage ", room.storage, " has ",
             room.bytes, " bytes on set ", room.set, " of tiles: at least ", least, " bytes on set ", layout.places.set,
             " expected");
    }
    const auto validate = [&](StorageId s, int g) {
      if (!has_room(s)) return;
      const Room* const room = room_of[s];
      expect(room != nullptr && room->first <= g && g <= room->last, "storages have rooms", -1, "group ", g, " uses storage ", s,
             ", which has no room then: a room expected");
    };
    for (int g = 0; g < group_count() && violation_.empty(); ++g) {
      const Operation& first = first_of(g);
      int moved = 0;
      for (const TileOperand& operand : tiles_.groups[g].operands) {
        validate(operand.storage, g);
        moved += operand.access != TileAccess::local;
      }
      if (first.is_call() && !first.loads_code)  // the last operand is the frame, which RoomKind::called stands for
        for (std::size_t o = 0; o + 1 < first.operands.size(); ++o) validate(draft_.owner(first.operands[o].storage), g);
      expect(slices[g] == moved, "slices have rooms", -1, "group ", g, " has ", slices[g], " rooms for slices: ", moved,
             " expected");
    }
  }

  const TileMap& tiles_;
};

}  // namespace tilewright::internal::detail
