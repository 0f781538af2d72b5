#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// Checks the memory of tiles: what is in use at the same time has bytes of its own, in the memory of its tile.
template <class AnyPlan>
class TileMemoryProof {
 public:
  constexpr TileMemoryProof(const AnyPlan& plan, const Target& target, const DataOnTiles& data, FirstFault& fault)
      : plan_(plan), target_(target), sets_{plan, target}, data_(data), fault_(fault) {}

  /// Checks that rows which others name exist. Other checks read the rows only after that.
  constexpr bool has_rows() {
    const int sets = (target_.io_tiles > 0 ? 2 : 1) * target_.ipus;
    if (!expect(static_cast<int>(plan_.tile_sets.size()) == sets, BodyId::none, -1, plan_.tile_sets.size(),
                " sets of tiles: ", sets, " expected"))
      return false;
    for (int set = 0; set < sets; ++set)
      if (!expect(sets_.ipu(set) == set * target_.ipus / sets && sets_.tiles(set) > 0 &&
                      plan_.tile_sets[static_cast<std::size_t>(set)].is_io == (target_.io_tiles > 0 && set % 2 == 1),
                  BodyId::none, -1, "set ", set, " on IPU ", sets_.ipu(set), ": IPU ", set * target_.ipus / sets,
                  ", compute tiles before IO tiles, expected"))
        return false;
    List<bool> is_known(plan_.bodies.size(), false);
    for (const BodyOnTiles& body : data_.bodies) {
      const auto number = static_cast<std::size_t>(body.body);
      if (!expect(number < is_known.size() && !is_known[number], BodyId::none, -1, "data of body ", body.body,
                  ": data of each body once expected"))
        return false;
      is_known[number] = true;
      if (!has_rows(body)) return false;
    }
    for (const bool each : is_known)
      if (!expect(each, BodyId::none, -1, "a body without data on tiles: data of each body expected")) return false;
    return true;
  }
  constexpr void run() {
    for (const BodyOnTiles& body : data_.bodies)
      if (!fault_.is_found()) check_rooms(body), check_frames_of_calls(body);
    if (!fault_.is_found()) check_homes();
    for (int set = 0; set < static_cast<int>(plan_.tile_sets.size()) && !fault_.is_found(); ++set) check_set(set);
    if (!fault_.is_found()) check_fullest();
  }

 private:
  constexpr bool expect(bool holds, BodyId body, int step, const auto&... what) {
    return fault_.expect(holds, "tiles", body, step, what...);
  }
  constexpr bool is_owner(const BodyOnTiles& body, int storage) const {
    return storage >= 0 && static_cast<std::size_t>(storage) < body.storages.size() &&
           body.storages[static_cast<std::size_t>(storage)].kind != StorageKind::part;
  }
  constexpr bool has_rows(const BodyOnTiles& body) {
    const int steps = plan_.bodies.data()[static_cast<std::size_t>(body.body)].step_count;
    if (!expect(body.frames.size() == plan_.tile_sets.size() && static_cast<int>(body.steps.size()) == steps, body.body, -1,
                body.frames.size(), " frames and ", body.steps.size(), " steps on tiles: ", plan_.tile_sets.size(), " and ",
                steps, " expected"))
      return false;
    for (const TileFrame& frame : body.frames)
      if (!expect(frame.bytes >= 0, body.body, -1, "a frame of ", frame.bytes, " bytes: 0 or more expected")) return false;
    for (std::size_t s = 0; s < body.storages.size(); ++s) {
      const StorageRecord& storage = body.storages[s];
      if (storage.kind == StorageKind::part) continue;
      if (!expect(storage.elements >= 0, body.body, -1, "storage ", s, " of ", storage.elements,
                  " elements: 0 or more expected") ||
          (storage.layout.is_decided() && !has_own_places(body, s, storage)))
        return false;
    }
    for (const Room& room : body.rooms) {
      const bool is_used = room.first >= 0 && room.first <= room.last && room.last < steps;
      if (!expect(sets_.has(room.set) && is_used && room.bytes >= 0, body.body, -1, "a room of ", room.bytes, " bytes on set ",
                  room.set, " in steps ", room.first, " to ", room.last, ": 0 bytes or more, in steps 0 to ", steps - 1,
                  ", expected") ||
          !expect(room.kind != RoomKind::storage || is_owner(body, static_cast<int>(room.storage)), body.body, -1,
                  "a room of storage ", static_cast<int>(room.storage), ": a storage that owns memory expected"))
        return false;
    }
    for (int step = 0; step < steps; ++step) {
      const StepRecord& record = body.steps[static_cast<std::size_t>(step)];
      const Step& planned =
          plan_.steps[static_cast<std::size_t>(plan_.bodies.data()[static_cast<std::size_t>(body.body)].first_step + step)];
      const StepUse use = planned.is_call()                     ? StepUse::calls
                          : planned.kind == StepKind::load_code ? StepUse::loads_code
                                                                : StepUse::computes;
      if (!expect(record.use == use, body.body, step, "another kind of step on tiles: the same expected")) return false;
      if (use == StepUse::calls)
        for (const Value& value : record.call_values)
          if (!expect(static_cast<std::size_t>(value.storage) < body.storages.size(), body.body, step, "storage ",
                      static_cast<int>(value.storage), " of a call: a storage of the body expected"))
            return false;
    }
    return true;
  }
  /// Checks that each block of a storage has a place of its own, and that the blocks are the whole storage.
  constexpr bool has_own_places(const BodyOnTiles& body, std::size_t s, const StorageRecord& storage) {
    const TileLayout& layout = storage.layout;
    if (!expect(sets_.has(layout.places.set), body.body, -1, "storage ", s, " on set ", layout.places.set,
                " of tiles: a set of the plan expected"))
      return false;
    std::int64_t elements = 1;
    OwnNumbers numbers;
    for (int axis = layout.axes.size(); axis-- > 0;) {
      const LayoutAxis& each = layout.axes[axis];
      if (!expect(each.block >= 1 && each.block <= each.extent && each.stride == elements && each.numbering.inner >= 1, body.body,
                  -1, "storage ", s, " in blocks of ", each.block, " along an axis of ", each.extent,
                  ": blocks of all its elements expected"))
        return false;
      elements *= each.extent;
      numbers.add(each.numbering, (each.extent + each.block - 1) / each.block);
    }
    return expect(elements == storage.elements, body.body, -1, "storage ", s, " of ", storage.elements, " elements has ",
                  elements, " on tiles: all expected") &&
           expect(numbers.are_below(layout.places.count), body.body, -1, "storage ", s, " has blocks on ", layout.places.count,
                  " places: a place for each block expected");
  }

  /// Checks the rooms of a frame: each is in the frame, holds its blocks, and shares no byte with others in use.
  constexpr void check_rooms(const BodyOnTiles& body) {
    List<const Room*> rooms, live;
    for (const Room& room : body.rooms) {
      const std::int64_t frame = body.frames[static_cast<std::size_t>(room.set)].bytes;
      expect(room.address >= 0 && room.address % tile_alignment == 0 && room.address + room.bytes <= frame, body.body, room.first,
             "a room of ", room.bytes, " bytes at ", room.address, " of a frame of ", frame,
             " bytes: a place in it, at a multiple of ", tile_alignment, ", expected");
      if (room.kind == RoomKind::storage) {
        const StorageRecord& storage = body.storages[static_cast<std::size_t>(room.storage)];
        if (!expect(storage.layout.is_decided() && storage.layout.places.set == room.set, body.body, room.first, "a room on set ",
                    room.set, " for storage ", static_cast<int>(room.storage), ": a room on its tiles expected"))
          return;
        const std::int64_t bytes = sets_.bytes_of(storage.layout, storage.dtype);
        expect(room.bytes >= bytes, body.body, room.first, "a room of ", room.bytes, " bytes for storage ",
               static_cast<int>(room.storage), ": ", bytes, " bytes expected");
      }
      if (room.bytes > 0) rooms.push_back(&room);
    }
    sort_items(rooms, [](const Room* a, const Room* b) { return a->first < b->first; });
    for (const Room* room : rooms) {
      erase_if(live, [&](const Room* other) { return other->last < room->first; });
      for (const Room* other : live)
        expect(other->set != room->set || other->address + other->bytes <= room->address ||
                   room->address + room->bytes <= other->address,
               body.body, room->first, "tensors of ", room->bytes, " bytes at ", room->address, " and of ", other->bytes,
               " bytes at ", other->address, " of one tile: separate bytes expected");
      live.push_back(room);
    }
  }
  constexpr const BodyOnTiles* find(BodyId number) const {
    for (const BodyOnTiles& body : data_.bodies)
      if (body.body == number) return &body;
    return nullptr;
  }
  /// Checks that a step that calls bodies has memory for their frames.
  constexpr void check_frames_of_calls(const BodyOnTiles& body) {
    const int first = plan_.bodies.data()[static_cast<std::size_t>(body.body)].first_step;
    for (int step = 0; step < static_cast<int>(body.steps.size()); ++step) {
      const Step& planned = plan_.steps[static_cast<std::size_t>(first + step)];
      if (!planned.is_call()) continue;
      for (const BodyId callee : {planned.body, planned.else_body}) {
        const BodyOnTiles* const called = find(callee);
        for (int set = 0; called && set < static_cast<int>(plan_.tile_sets.size()); ++set) {
          const std::int64_t bytes = called->frames[static_cast<std::size_t>(set)].bytes;
          bool has_room = bytes == 0;
          for (const Room& room : body.rooms)
            has_room = has_room || (room.kind == RoomKind::called && room.set == set && room.first <= step && room.last >= step &&
                                    room.bytes >= bytes);
          expect(has_room, body.body, step, "no room of ", bytes, " bytes for the frame of body ", callee, ": a room expected");
        }
      }
    }
  }

  // ---- variables and constants

  /// Bytes of a tile that are always in use.
  struct Kept {
    int set;
    Base base;
    std::int64_t begin, end;
  };
  /// Checks that all bodies find variables and constants at the same places, and that they share no byte.
  constexpr void check_homes() {
    List<Kept> kept;
    for (const List<Home>* const homes : {&data_.variables, &data_.constants}) {
      List<const StorageRecord*> known(homes->size(), nullptr);
      const Base base = homes == &data_.variables ? Base::variable : Base::constant;
      for (const BodyOnTiles& body : data_.bodies)
        for (const StorageRecord& storage : body.storages) {
          if (storage.kind == StorageKind::part || storage.location.base != base || !storage.layout.is_decided()) continue;
          std::size_t low = 0, high = homes->size();
          while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if ((*homes)[middle].offset < storage.location.offset) low = middle + 1;
            else high = middle;
          }
          if (!expect(low < homes->size() && (*homes)[low].offset == storage.location.offset, body.body, -1, "memory `",
                      name_of(base), "` at ", storage.location.offset, " has no place on tiles: a place expected"))
            return;
          const StorageRecord*& first = known[low];
          if (first == nullptr) {
            first = &storage;
            const std::int64_t begin = (*homes)[low].address;
            kept.push_back({storage.layout.places.set, base, begin, begin + sets_.bytes_of(storage.layout, storage.dtype)});
          } else {
            expect(are_equal(first->layout, storage.layout), body.body, -1, "memory `", name_of(base), "` at ",
                   storage.location.offset, " is on other tiles than in another body: the same tiles expected");
          }
        }
    }
    for (std::size_t set = 0; set < plan_.tile_sets.size(); ++set) {
      std::int64_t variables = 0, constants = 0;
      for (const Kept& each : kept)
        if (each.set == static_cast<int>(set)) (each.base == Base::variable ? variables : constants) += each.end - each.begin;
      const TileMemory& tile = plan_.tile_sets[set].tile;
      expect(tile.variables == variables && tile.constants == constants, BodyId::none, -1, tile.variables,
             " bytes of variables and ", tile.constants, " of constants on set ", set, " of tiles: ", variables, " and ",
             constants, " expected");
    }
    sort_items(kept, [](const Kept& a, const Kept& b) { return a.set != b.set ? a.set < b.set : a.begin < b.begin; });
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const std::int64_t frame = plan_.tile_sets[static_cast<std::size_t>(kept[i].set)].frame_address;
      expect(kept[i].begin >= 0 && kept[i].begin % tile_alignment == 0 && kept[i].end <= frame, BodyId::none, -1,
             "variables or constants at bytes ", kept[i].begin, " to ", kept[i].end, " of tiles whose frame begins at ", frame,
             ": a place before it expected");
      if (i > 0 && kept[i].set == kept[i - 1].set)
        expect(kept[i - 1].end <= kept[i].begin, BodyId::none, -1, "variables or constants at bytes ", kept[i - 1].begin, " to ",
               kept[i - 1].end, " and from ", kept[i].begin, " on of one tile: separate bytes expected");
    }
  }

  /// Returns the bytes of rooms that a body uses on a set of tiles in its fullest step.
  constexpr std::int64_t bytes_in_use(const BodyOnTiles& body, int set) const {
    List<std::int64_t> bytes(body.steps.size() + 1, 0);  // by step: more than in the step before
    for (const Room& room : body.rooms)
      if (room.set == set) {
        bytes[static_cast<std::size_t>(room.first)] += room.bytes;
        bytes[static_cast<std::size_t>(room.last) + 1] -= room.bytes;
      }
    std::int64_t now = 0, most = 0;
    for (const std::int64_t more : bytes) most = (std::max)(most, now += more);
    return most;
  }
  /// Checks that all data of a set's tiles are in their memory.
  constexpr void check_set(int set) {
    const TileSetUse& use = plan_.tile_sets[static_cast<std::size_t>(set)];
    const TileMemory& tile = use.tile;
    expect(use.frame_address >= tile.variables + tile.constants, BodyId::none, -1, "a frame at ", use.frame_address,
           " of tiles with ", tile.variables + tile.constants, " bytes of variables and constants: a place behind them expected");
    std::int64_t largest = 0;
    bool has_frame = tile.frame == 0;
    for (const BodyOnTiles& body : data_.bodies) {
      const std::int64_t bytes = body.frames[static_cast<std::size_t>(set)].bytes;
      if (!plan_.is_root(body.body) || bytes < largest) continue;
      has_frame = (has_frame && bytes == largest) || bytes_in_use(body, set) == tile.frame;
      largest = bytes;
    }
    expect(has_frame && tile.frame + tile.padding == largest, BodyId::none, -1, "a frame of ", tile.frame, " bytes in use and ",
           tile.padding, " of gaps on set ", set, " of tiles: ", largest, " together, those of the largest root, expected");
    const std::int64_t all = use.data_bytes() + tile.code.total() + tile.stack + tile.reserve;
    expect(!target_.checks_memory() || all <= target_.bytes_per_tile, BodyId::none, -1, all, " bytes on a tile of set ", set,
           ": at most ", target_.bytes_per_tile, " expected");
  }
  /// Checks that the fullest tile of the plan is that of one of its sets, and no other is fuller.
  constexpr void check_fullest() {
    bool is_of_a_set = false;
    std::int64_t most = 0;
    for (const TileSetUse& use : plan_.tile_sets) {
      is_of_a_set = is_of_a_set || use.tile == plan_.tile;
      most = use.tile.total() > most ? use.tile.total() : most;
    }
    expect(is_of_a_set && plan_.tile.total() == most && plan_.memory.fullest_tile == most, BodyId::none, -1, "a fullest tile of ",
           plan_.tile.total(), " bytes: the tile of a set with most, which is ", most, ", expected");
  }

  const AnyPlan& plan_;
  const Target& target_;
  SetsOfTiles<AnyPlan> sets_;
  const DataOnTiles& data_;
  FirstFault& fault_;
};

}  // namespace tilewright::internal::proof::detail
