#pragma once
// Faults of a planner in the memory of tiles: rooms, lifetimes, homes, layouts.
#include "tile_data.hpp"

namespace tile_faults {

inline constexpr std::string_view strip_rooms = "parts of strips get room for all their vertices",
                                  strip_numbers = "parts of strips get the room that their numbers need",
                                  batches = "a batch that many tiles read is spread over parts of samples",
                                  whole_blocks = "slices of whole blocks stay on their tiles",
                                  in_parts = "tensors that are written in parts are laid out for their first reader",
                                  one_constant = "a constant of several graphs has one storage in a body",
                                  several_ipus = "programs are planned on several simulated IPUs and IO tiles",
                                  painted = "frames of simulated IPUs are painted in strict mode",
                                  stages = "large products are computed in slices, and many parts are added in stages",
                                  branches = "replicas, branches and exchanges run on simulated IPUs, their plans are verified",
                                  simulated = "simulated IPUs have memory of tiles, exchange and cycles",
                                  banks = "operands of arithmetic lie in different banks",
                                  bank_gap = "memory stays free between variables that a step loads in one cycle",
                                  odd_widths = "gradients of odd widths run in strict mode";

inline const std::vector<Kind>& faults_of_memory() {
  static const std::vector<Kind> all{
      // ---- room for data
      {"slices have room for one of a tile's vertices", strip_rooms,
       [](Mutant& m) {
         return m.any_room([&](TileBody& body, Room& room) {
           if (!m.is_slice(room)) return false;
           const std::int64_t vertices = body.steps[room.first].grid.places.on_a_tile(m.sets);
           return vertices > 1 && (room.bytes /= vertices, true);
         });
       }},
      {"a grid has places for the outer blocks of its strips only", strip_rooms,
       [](Mutant& m) {
         return m.any_step([&](TileBody& body, int g) {
           auto& grid = body.steps[g].grid;
           if (m.step(body, g).compute_set < 0) return false;
           const auto& set = m.plan.compute_sets[m.step(body, g).compute_set];
           std::int64_t last = 0;
           for (int a = 0; a < grid.axes.size(); ++a)
             last += (internal::block_count(set.extents[a], set.blocks[a]) - 1) * grid.axes[a].outer_step;
           if (last + 1 >= grid.places.count) return false;
           const std::int64_t before = grid.places.on_a_tile(m.sets);
           grid.places.count = last + 1;
           m.shrink_rooms(body, g, before, grid.places.on_a_tile(m.sets));
           return true;
         });
       }},
      {"a grid has fewer places than vertices on a tile", strip_numbers,
       [](Mutant& m) {
         return m.any_step([&](TileBody& body, int g) {
           auto& places = body.steps[g].grid.places;
           const std::int64_t before = places.on_a_tile(m.sets);
           if (before < 2) return false;
           places.count = (before - 1) * m.sets.count(places.set);
           m.shrink_rooms(body, g, before, before - 1);
           return true;
         });
       }},
      {"a layout has fewer places than blocks on a tile", strip_numbers,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           auto& places = body.storages[s].layout.places;
           const std::int64_t before = places.on_a_tile(m.sets);
           if (before < 2) return false;
           places.count = (before - 1) * m.sets.count(places.set);
           if (Room* room = m.room_of(body, s)) room->bytes = room->bytes / before * (before - 1);
           return true;
         });
       }},
      {"a tensor has room for its numbers in half precision", simulated,
       [](Mutant& m) {
         return m.any_room(
             [](TileBody&, Room& room) { return room.kind == RoomKind::storage && room.bytes >= 16 && (room.bytes /= 2, true); });
       }},
      {"a slice has room for its numbers in half precision", simulated,
       [](Mutant& m) {
         return m.any_room(
             [&](TileBody&, Room& room) { return m.is_slice(room) && room.bytes >= 16 && (room.bytes /= 2, true); });
       }},
      {"scratch has room for one of a tile's vertices, or none", painted,
       [](Mutant& m) {
         return m.any_room([](TileBody&, Room& room) { return room.kind == RoomKind::scratch && (room.bytes /= 2, true); });
       }},
      {"the frame of a called body lacks its last room", painted,
       [](Mutant& m) {
         return m.any_room([&](TileBody& body, Room& room) {
           std::int64_t& bytes = body.frames[room.set].bytes;
           return room.bytes > 0 && room.address + room.bytes == bytes && (bytes -= room.bytes, true);
         });
       }},
      {"a step has room for the smaller of two branches, or for none", branches,
       [](Mutant& m) {
         return m.any_room([](TileBody&, Room& room) { return room.kind == RoomKind::called && (room.bytes -= 8, true); });
       }},
      {"a call has no room for the frame of its body on an IPU", several_ipus,
       [](Mutant& m) {
         return m.any_of_bodies([](TileBody& body) -> auto& { return body.rooms; },
                                [](TileBody& body, std::size_t r) {
                                  return body.rooms[r].kind == RoomKind::called && (erase(body.rooms, r), true);
                                });
       }},
      {"an exchanged slice has no room", simulated,
       [](Mutant& m) {
         return m.any_of_bodies(
             [](TileBody& body) -> auto& { return body.rooms; },
             [&](TileBody& body, std::size_t r) { return m.is_slice(body.rooms[r]) && (erase(body.rooms, r), true); });
       }},
      {"a tensor has no room", in_parts,
       [](Mutant& m) {
         return m.any_of_bodies([](TileBody& body) -> auto& { return body.rooms; },
                                [&](TileBody& body, std::size_t r) {
                                  return body.rooms[r].kind == RoomKind::storage && (erase(body.rooms, r), true);
                                });
       }},
      {"a room is on the tiles of another set", several_ipus,
       [](Mutant& m) {
         return m.any_room([&](TileBody&, Room& room) {
           if (m.sets.size() < 2 || room.bytes == 0) return false;
           room.set = (room.set + 1) % m.sets.size();
           return true;
         });
       }},
      {"received slices have a room for sent ones", "",
       [](Mutant& m) {
         return m.any_room(
             [](TileBody&, Room& room) { return room.kind == RoomKind::received && (room.kind = RoomKind::sent, true); });
       }},
      {"two operands of a step have each other's rooms", "",
       [](Mutant& m) {
         return m.any_two_rooms([&](TileBody&, Room& room, Room& other) {
           if (!m.is_slice(room) || !m.is_slice(other) || room.first != other.first) return false;
           if (room.storage == other.storage || room.bytes == other.bytes) return false;
           std::swap(room.storage, other.storage);
           return true;
         });
       }},
      // ---- when memory is in use
      {"memory is free before its last reader", simulated,
       [](Mutant& m) {
         return m.any_room([](TileBody&, Room& room) {
           return room.kind == RoomKind::storage && room.last > room.first && (--room.last, true);
         });
       }},
      {"memory is there after its first writer", simulated,
       [](Mutant& m) {
         return m.any_room([&](TileBody& body, Room& room) {
           if (room.kind != RoomKind::storage || room.last == room.first) return false;
           return m.uses(body, int(room.storage)).first == room.first && (++room.first, true);
         });
       }},
      {"a result for the caller is free before the body ends", branches,
       [](Mutant& m) {
         return m.any_room([&](TileBody& body, Room& room) {
           if (room.kind != RoomKind::storage || body.storages[int(room.storage)].location.base != Base::argument) return false;
           const int last = m.uses(body, int(room.storage)).second;
           return last < room.last && (room.last = last, true);
         });
       }},
      {"an input of a body is there from its first use only", branches,
       [](Mutant& m) {
         return m.any_room([&](TileBody& body, Room& room) {
           if (room.kind != RoomKind::storage) return false;
           const auto& location = body.storages[int(room.storage)].location;
           if (location.base != Base::argument || location.index >= m.inputs_of(body.id)) return false;
           const int first = m.uses(body, int(room.storage)).first;
           return first > room.first && (room.first = first, true);
         });
       }},
      {"two rooms in use lie at one address", simulated,
       [](Mutant& m) {
         return m.any_two_rooms([](TileBody&, Room& room, Room& other) {
           return room.address != other.address && (room.address = other.address, true);
         });
       }},
      {"a room begins in the last bytes of another one", simulated,
       [](Mutant& m) {
         return m.any_two_rooms([](TileBody&, Room& room, Room& other) {
           return room.address == other.address + other.bytes && (room.address -= 8, true);
         });
       }},
      {"a room begins between two words of the data path", "",
       [](Mutant& m) { return m.any_room([](TileBody&, Room& room) { return room.bytes > 0 && (room.address += 4, true); }); }},
      {"a room begins before its frame", "",
       [](Mutant& m) { return m.any_room([](TileBody&, Room& room) { return room.bytes > 0 && (room.address = -8, true); }); }},
      {"a result takes over memory that lies on other tiles", whole_blocks,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           Room* room = m.room_of(body, s);
           if (!room || !m.is_used_locally(body, s) || body.storages[s].location.base != Base::frame) return false;
           return m.any(body.storages.size(), [&](std::size_t t) {
             StorageRecord &taken = body.storages[t], &storage = body.storages[s];
             Room* over = m.room_of(body, static_cast<int>(t));
             if (static_cast<int>(t) == s || taken.kind == StorageKind::part || !over || taken.elements != storage.elements)
               return false;
             if (taken.layout.places == storage.layout.places || taken.dtype != storage.dtype) return false;
             storage.layout = taken.layout;
             return true;
           });
         });
       }},
      // ---- homes and the frame behind them
      {"two variables lie at one address", bank_gap,
       [](Mutant& m) {
         List<Home>& homes = m.tiles.variables;
         return m.any(homes.size(), [&](std::size_t a) {
           const std::size_t b = (a + 1) % homes.size();
           return homes[a].address != homes[b].address && (homes[a].address = homes[b].address, true);
         });
       }},
      {"constants lie over variables", bank_gap,
       [](Mutant& m) {
         return m.any(m.tiles.constants.size(), [&](std::size_t c) {
           if (m.tiles.variables.size() == 0 || m.tiles.constants[c].address == 0) return false;
           m.tiles.constants[c].address = 0;
           return true;
         });
       }},
      {"the frame begins in the last bytes of variables and constants", bank_gap,
       [](Mutant& m) {
         return m.any(m.plan.tile_sets.size(), [&](std::size_t set) {
           auto& use = m.plan.tile_sets[set];
           const std::int64_t homes = use.tile.variables + use.tile.constants;
           return homes > 0 && (use.frame_address = homes - 8, true);
         });
       }},
      {"the frame lies over the constants", bank_gap,
       [](Mutant& m) {
         return m.any(m.plan.tile_sets.size(), [&](std::size_t set) {
           auto& use = m.plan.tile_sets[set];
           return use.tile.constants > 0 && (use.frame_address = use.tile.variables, true);
         });
       }},
      {"a variable has no address", "",
       [](Mutant& m) {
         List<Home>& homes = m.tiles.variables;
         return homes.size() > 0 && (erase(homes, m.dice(homes.size())), true);
       }},
      {"a variable is at the offset of another one", "",
       [](Mutant& m) {
         List<Home>& homes = m.tiles.variables;
         return m.any(homes.size(), [&](std::size_t a) {
           const std::size_t b = (a + 1) % homes.size();
           return a != b && homes[a].offset != homes[b].offset && (homes[a].offset = homes[b].offset, true);
         });
       }},
      // ---- layouts
      {"all strips of a slice are on one tile", batches,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           for (LayoutAxis* axis = body.storages[s].layout.axes.items; axis != body.storages[s].layout.axes.end(); ++axis)
             if (axis->numbering.inner_step != 0) return axis->numbering.inner_step = 0, true;
           return false;
         });
       }},
      {"strips are as long as the slice", batches,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           for (LayoutAxis* axis = body.storages[s].layout.axes.items; axis != body.storages[s].layout.axes.end(); ++axis)
             if (axis->numbering.inner_step != 0) return axis->block *= axis->numbering.inner, true;
           return false;
         });
       }},
      {"the strips of a slice are one fewer", batches,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           for (LayoutAxis* axis = body.storages[s].layout.axes.items; axis != body.storages[s].layout.axes.end(); ++axis)
             if (axis->numbering.inner_step != 0) return axis->numbering.inner -= 1, true;
           return false;
         });
       }},
      {"all blocks along an axis have one place", stages,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           for (LayoutAxis* axis = body.storages[s].layout.axes.items; axis != body.storages[s].layout.axes.end(); ++axis)
             if (axis->numbering.outer_step != 0 && axis->block * axis->numbering.inner < axis->extent)
               return axis->numbering.outer_step = 0, true;
           return false;
         });
       }},
      {"a layout numbers its blocks along the other axis first", in_parts,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           auto& axes = body.storages[s].layout.axes;
           if (axes.size() < 2 || axes[0].numbering == axes[1].numbering || !m.is_used_locally(body, s)) return false;
           std::swap(axes[0].numbering, axes[1].numbering);
           return true;
         });
       }},
      {"a layout begins on the next tile, after its users are placed", whole_blocks,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           auto& places = body.storages[s].layout.places;
           if (m.sets.count(places.set) < 2 || !m.is_used_locally(body, s)) return false;
           places.first_tile = (places.first_tile + 1) % m.sets.count(places.set);
           return true;
         });
       }},
      {"two bodies have different layouts of one variable or constant", one_constant,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           StorageRecord& storage = body.storages[s];
           if (storage.location.base != Base::variable && storage.location.base != Base::constant) return false;
           for (const TileBody& other : m.tiles.bodies)
             for (const StorageRecord& its : other.storages)
               if (&its != &storage && its.kind != StorageKind::part && its.location == storage.location && m.sets.tiles > 1)
                 return storage.layout.places.first_tile = (storage.layout.places.first_tile + 1) %
                                                           m.sets.count(storage.layout.places.set),
                        true;
           return false;
         });
       }},
      {"a tensor and its room are on the tiles of another set", several_ipus,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           if (m.sets.size() < 2 || m.uses(body, s).first < 0) return false;
           int& set = body.storages[s].layout.places.set;
           set = (set + 1) % m.sets.size();
           if (Room* room = m.room_of(body, s)) room->set = set;
           return true;
         });
       }},
      {"a layout has blocks of half the extent, and as many places", odd_widths,
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           for (LayoutAxis* axis = body.storages[s].layout.axes.items; axis != body.storages[s].layout.axes.end(); ++axis)
             if (axis->block > 1 && m.is_used_locally(body, s)) return axis->block /= 2, true;
           return false;
         });
       }},
      {"a layout lacks the last position of an axis", odd_widths,
       [](Mutant& m) {
         return m.any_storage([](TileBody& body, int s) {
           auto& axes = body.storages[s].layout.axes;
           return axes.size() > 0 && axes[0].extent > 1 && (axes[0].extent -= 1, true);
         });
       }},
      {"a layout is that of the transposed tensor", in_parts,
       [](Mutant& m) {
         return m.any_storage([](TileBody& body, int s) {
           auto& axes = body.storages[s].layout.axes;
           if (axes.size() < 2 || axes[0].extent == axes[1].extent) return false;
           std::swap(axes[0].extent, axes[1].extent);
           return true;
         });
       }},
      {"a tensor in use has no layout", in_parts,
       [](Mutant& m) {
         return m.any_storage(
             [&](TileBody& body, int s) { return m.uses(body, s).first >= 0 && (body.storages[s].layout = {}, true); });
       }},
      {"a storage has an element fewer", "",
       [](Mutant& m) {
         return m.any_storage(
             [](TileBody& body, int s) { return body.storages[s].elements > 1 && (--body.storages[s].elements, true); });
       }},
      {"a storage has numbers of another size", "",
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           if (m.uses(body, s).first < 0) return false;
           tw::DType& dtype = body.storages[s].dtype;
           dtype = dtype == tw::float32 ? tw::float16 : tw::float32;
           return true;
         });
       }},
      {"a storage is where another one of the frame is", "",
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           return m.any(body.storages.size(), [&](std::size_t t) {
             const StorageRecord& other = body.storages[t];
             StorageRecord& storage = body.storages[s];
             if (other.kind == StorageKind::part || other.location == storage.location) return false;
             if (m.uses(body, s).first < 0) return false;
             storage.location = other.location;
             return true;
           });
         });
       }},
      {"a view is in the memory of another storage", "",
       [](Mutant& m) {
         return m.any_of_bodies([](TileBody& body) -> auto& { return body.storages; },
                                [&](TileBody& body, std::size_t s) {
                                  StorageRecord& part = body.storages[s];
                                  if (part.kind != StorageKind::part) return false;
                                  bool is_value = false;  // of a call: others are read by no record
                                  for (const StepRecord& step : body.steps)
                                    for (const auto& value : step.call_values)
                                      is_value = is_value || value.storage == StorageId(s);
                                  return is_value && m.any_storage([&](TileBody& its, int other) {
                                    return &its == &body && other != part.owner && (part.owner = other, true);
                                  });
                                });
       }},
  };
  return all;
}

}  // namespace tile_faults
