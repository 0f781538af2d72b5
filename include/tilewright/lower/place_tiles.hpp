#pragma once
// takes: a draft whose storages and groups are mapped to tiles
// gives: TileMap::rooms: what is where in the memory of tiles, and when; the body's bytes on a tile
// keeps: all else
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/fragments.hpp"
#include "tilewright/lower/memory.hpp"
#include "tilewright/lower/tile_map.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

namespace detail {

class TilePlacer {
 public:
  constexpr TilePlacer(const BodyDraft& draft, const TileMap& map, const Target& target, TileHomes& homes, BodyId body)
      : draft_(draft), map_(map), target_(target), homes_(homes), body_(body), room_of_(draft.storages.size(), -1) {}

  constexpr List<Room> run() {
    for (std::size_t i = 0; i < draft_.storages.size(); ++i)  // inputs are there from the start
      if (draft_.storages[StorageId(i)].location.base == Base::argument && map_.layouts[StorageId(i)].is_decided())
        use(StorageId(i), 0);
    for (std::size_t g = 0; g < draft_.groups.size(); ++g) add_group(static_cast<int>(g));
    keep_results();
    List<LiveBlock> blocks;
    blocks.reserve(rooms_.size());
    for (const Room& room : rooms_) blocks.push_back({room.bytes, room.first, room.last});
    homes_.bodies[body_].frame_bytes = allocate(blocks, static_cast<int>(draft_.groups.size()), tile_alignment);
    for (std::size_t i = 0; i < rooms_.size(); ++i) rooms_[i].address = blocks[i].offset;
    find_fullest_step();
    return std::move(rooms_);
  }

 private:
  /// What a body writes for its caller is there until the end.
  constexpr void keep_results() {
    for (const Group& group : draft_.groups)
      for_each_operand(draft_, group, [this](const Operation& operation, int o, const Member&) {
        const StorageId s = draft_.owner(operation.operands[o].storage);
        if (operation.is_output(o) && room_of_[s] >= 0 && draft_.storage(s).location.base == Base::argument)
          rooms_[room_of_[s]].last = static_cast<int>(draft_.groups.size()) - 1;
      });
  }
  constexpr void find_fullest_step() {
    List<std::int64_t> change(draft_.groups.size() + 1, 0);  // of the bytes in use, by group
    for (const Room& room : rooms_) change[room.first] += room.bytes, change[room.last + 1] -= room.bytes;
    std::int64_t bytes = 0, most = 0;
    for (std::size_t g = 0; g < draft_.groups.size(); ++g) most = std::max(most, bytes += change[g]);
    homes_.bodies[body_].live_bytes = most;
  }
  constexpr void add_group(int g) {
    const Group& group = draft_.groups[g];
    const Operation& first = draft_.operation(group.members[0]);
    if (first.is_call()) {
      if (!first.loads_code) add_call(first, g);
      return;
    }
    const TileGroup& tiles = map_.groups[g];
    const std::int64_t vertices = tiles.grid.places.on_a_tile(target_.tiles);
    for (const TileOperand& operand : tiles.operands) {
      use(operand.storage, g);
      if (operand.access == TileAccess::local) continue;
      const std::int64_t bytes = vertices * align(operand.slice_elements * size_of(dtype_of(operand.storage)), tile_alignment);
      const bool received = operand.is_read || operand.access == TileAccess::shared;
      add({received ? RoomKind::received : RoomKind::sent, operand.storage, bytes, 0, g, g});
      note(operand.storage, bytes, g);
    }
    const std::int64_t scratch = scratch_bytes(g);
    if (scratch > 0) add({RoomKind::scratch, StorageId::none, vertices * scratch, 0, g, g});
  }
  /// Bytes of the internal storages of a vertex that are not in registers.
  constexpr std::int64_t scratch_bytes(int g) const {
    const Group& group = draft_.groups[g];
    const Cut& cut = draft_.cuts[g];
    std::int64_t bytes = 0;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const Operation& operation = draft_.operation(group.members[m]);
      if (cut.evaluations.in_registers[m] || operation.op->modifies >= 0) continue;
      for (int o = operation.input_count; o < static_cast<int>(operation.operands.size()); ++o) {
        const Value& value = operation.operands[o];
        if (draft_.storage(value.storage).internal)
          bytes += align(block_bytes(value, grid_axes_of(operation, group.members[m], o), cut.partition.blocks), tile_alignment);
      }
    }
    return bytes;
  }
  constexpr void add_call(const Operation& call, int g) {
    for (std::size_t o = 0; o + 1 < call.operands.size(); ++o) use(call.operands[o].storage, g);
    std::int64_t bytes = homes_.bodies[call.calling.body].frame_bytes;
    if (call.calling.else_body != BodyId::none) bytes = std::max(bytes, homes_.bodies[call.calling.else_body].frame_bytes);
    if (bytes > 0) add({RoomKind::called, StorageId::none, bytes, 0, g, g});
  }
  constexpr void use(StorageId s, int g) {
    const StorageId owner = draft_.owner(s);
    if (!map_.layouts[owner].is_decided() || has_home(owner)) return;
    int& room = room_of_[owner];
    if (room >= 0) {
      rooms_[room].last = std::max(rooms_[room].last, g);
      return;
    }
    room = static_cast<int>(rooms_.size());
    const std::int64_t bytes = room_bytes(map_.layouts[owner], dtype_of(owner), target_.tiles);
    add({RoomKind::storage, owner, bytes, 0, g, g});
    note(owner, bytes, g);
  }
  /// Notes a tensor that group g uses, for an error of memory.
  constexpr void note(StorageId s, std::int64_t bytes, int g) {
    const Storage& storage = draft_.storage(s);
    const Operation& first = draft_.operation(draft_.groups[g].members[0]);
    LargeRoom room{bytes, storage.whole, storage.location.base, storage.location.offset};
    if (!first.is_call()) room.op = first.op->name;
    room.graph = first.graph, room.scope = first.scope;
    keep_largest(homes_.largest, room);
  }
  constexpr bool has_home(StorageId s) const {
    const Base base = draft_.storage(s).location.base;
    return base == Base::variable || base == Base::constant;
  }
  constexpr DType dtype_of(StorageId s) const { return draft_.storage(s).whole.dtype; }
  constexpr void add(const Room& room) {
    make_room(rooms_);
    rooms_.push_back(room);
  }

  const BodyDraft& draft_;
  const TileMap& map_;
  const Target& target_;
  TileHomes& homes_;
  BodyId body_;
  PerStorage<int> room_of_;  // -1: none yet
  List<Room> rooms_{};
};

}  // namespace detail

/// Gives what a body has on tiles its places in their memory.
constexpr void place_tiles(BodyDraft& draft, const Target& target, TileHomes& homes, BodyId body) {
  draft.tiles.rooms = detail::TilePlacer(draft, draft.tiles, target, homes, body).run();
}

/// Gives the variables and constants of a plan their addresses on tiles. Returns the bytes on a tile.
constexpr std::int64_t place_homes(List<Home>& homes, std::int64_t tiles) {
  std::int64_t bytes = 0;
  for (Home& home : homes) {
    if (!home.layout.is_decided()) continue;
    home.address = bytes;
    bytes += room_bytes(home.layout, home.spec.dtype, tiles);
  }
  return bytes;
}

}  // namespace tilewright::internal
