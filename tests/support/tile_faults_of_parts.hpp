#pragma once
// Faults of a planner in who has which part of a tensor on tiles: ops and calls that write parts, ops of one step that pass
// elements to each other, and small results in the scratch of vertices.
#include "tile_data.hpp"

namespace tile_faults {

/// Adds a room where its tiles have free memory, or at the end of a root's frame. Returns whether there is a place.
inline bool add_room(Mutant& m, TileBody& body, Room room) {
  const auto is_free = [&](std::int64_t address) {
    for (const Room& other : body.rooms)
      if (other.set == room.set && other.first <= room.last && room.first <= other.last &&
          address < other.address + other.bytes && other.address < address + room.bytes)
        return false;
    return true;
  };
  std::int64_t& frame = body.frames[room.set].bytes;
  for (room.address = 0; room.address + room.bytes <= frame; room.address += 8)
    if (is_free(room.address)) return body.rooms.push_back(room), true;
  if (!m.plan.is_root(body.id)) return false;
  room.address = internal::align(frame, internal::tile_alignment);
  auto& tile = m.plan.tile_sets[room.set].tile;
  const bool is_fullest = tile == m.plan.tile;
  tile.frame += room.address + room.bytes - frame;
  frame = room.address + room.bytes;
  if (is_fullest) m.plan.tile = tile, m.plan.memory.fullest_tile = tile.total();
  return body.rooms.push_back(room), true;
}
/// Whether a step that computes writes a storage, or reads it; of a call, `writes` counts results and changed inputs.
inline bool uses(Mutant& m, const TileBody& body, int g, int s, bool writes) {
  const StepRecord& record = body.steps[g];
  if (record.use == StepUse::calls) {
    for (std::size_t v = 0; v + 1 < record.call_values.size(); ++v)
      if (body.owner(static_cast<int>(record.call_values[v].storage)) == s &&
          writes == (static_cast<int>(v) >= record.input_count))
        return true;
    return false;
  }
  if (record.use != StepUse::computes) return false;
  const auto& set = m.plan.compute_sets[m.step(body, g).compute_set];
  for (int i = 0; i < set.stage_count; ++i) {
    const auto& stage = m.plan.stages[set.first_stage + i];
    for (int o = writes ? stage.input_count : 0; o < (writes ? stage.operand_count : stage.input_count); ++o) {
      const auto& operand = m.plan.operands[stage.first_operand + o];
      if (operand.source == internal::Source::memory && record.location_storages[operand.index] == s) return true;
    }
  }
  return false;
}
/// Gives what a step uses of a storage memory of its own, at the same places of the host's memory. Returns whether it has room.
inline bool split_off(Mutant& m, TileBody& body, int g, int s, int last) {
  const Room* room = Mutant::room_of(body, s);
  if (!room) return false;
  Room own = *room;
  own.first = g, own.last = last;
  own.storage = StorageId(body.storages.size());
  if (!add_room(m, body, own)) return false;
  body.storages.push_back(StorageRecord(body.storages[s]));
  for (int& each : body.steps[g].location_storages)
    if (each == s) each = static_cast<int>(own.storage);
  for (TileOperand& each : body.steps[g].tile_operands)
    if (static_cast<int>(each.storage) == s) each.storage = own.storage;
  for (Room& each : body.rooms)
    if (Mutant::is_slice(each) && each.first == g && static_cast<int>(each.storage) == s) each.storage = own.storage;
  return true;
}
/// f(body, step, record, stage, operand, k): an operand on tiles of a step, in a view of its own, that a stage writes, or reads
/// after an earlier stage has written its storage in another view. `k`: in the step's operands on tiles; -1: it has no memory.
inline bool any_passed(Mutant& m, bool writes, const auto& f) {
  return m.any_step([&](TileBody& body, int g) {
    const auto& set = m.plan.compute_sets[m.step(body, g).compute_set];
    StepRecord& record = body.steps[g];
    const auto operand_of = [&](int stage, int o) -> const internal::StageOperand& {
      return m.plan.operands[m.plan.stages[set.first_stage + stage].first_operand + o];
    };
    for (int later = 1; later < set.stage_count; ++later) {
      const auto& stage = m.plan.stages[set.first_stage + later];
      for (int o = writes ? stage.input_count : 0; o < (writes ? stage.operand_count : stage.input_count); ++o) {
        const auto& used = operand_of(later, o);
        if (used.source != internal::Source::memory || used.view.shape.nelms() < 2) continue;
        const int s = record.location_storages[used.index];
        if (!body.storages[s].layout.is_decided()) continue;
        bool is_left = false, is_same = false;
        for (int earlier = 0; earlier < later; ++earlier)
          for (int p = m.plan.stages[set.first_stage + earlier].input_count;
               p < m.plan.stages[set.first_stage + earlier].operand_count; ++p)
            if (const auto& left = operand_of(earlier, p);
                left.source == internal::Source::memory && record.location_storages[left.index] == s)
              is_left = is_left || left.index == used.index, is_same = is_same || left == used;
        if (!is_left || is_same) continue;
        int own = -1;
        for (std::size_t k = 0; k < record.tile_operands.size(); ++k)
          if (const TileOperand& each = record.tile_operands[k];
              static_cast<int>(each.storage) == s && operand_of(each.member, each.operand) == used)
            own = static_cast<int>(k);
        if (f(body, g, record, later, o, own)) return true;
      }
    }
    return false;
  });
}
/// Lets a step exchange an operand before it, after it or both: gives it a room, and counts the exchanges.
inline bool exchange(Mutant& m, TileBody& body, int g, TileOperand& operand, bool is_read, bool is_written) {
  const StorageRecord& storage = body.storages[int(operand.storage)];
  const std::int64_t of_tile = body.steps[g].grid.places.on_a_tile(m.sets), size = tw::size_of(storage.dtype),
                     slice = operand.slice_elements * size, blocks = storage.layout.places.on_a_tile(m.sets);
  operand.access = TileAccess::exchanged;
  if (!add_room(m, body,
                {is_read ? RoomKind::received : RoomKind::sent, body.steps[g].grid.places.set, operand.storage,
                 of_tile * internal::align(slice, internal::tile_alignment), 0, g, g}))
    return false;
  for (const bool is_before : {true, false}) {
    if (!(is_before ? is_read : is_written)) continue;
    TileExchange& moved = is_before ? m.moves(body, g).before : m.moves(body, g).after;
    const std::int64_t parts = std::min(storage.layout.block_elements() * blocks, storage.elements) * size;
    moved.bytes_in += is_before ? of_tile * slice : parts;
    moved.bytes_out += is_before ? parts : of_tile * slice;
    moved.fragments += of_tile * operand.slice_elements;
    moved.sends += blocks;
    moved.total_bytes += m.step(body, g).vertices * slice;
  }
  return true;
}
/// Whether stages of a step read, or write, an operand on tiles.
inline bool uses(Mutant& m, const TileBody& body, int g, const TileOperand& operand, bool writes) {
  const auto& set = m.plan.compute_sets[m.step(body, g).compute_set];
  const auto& own = m.plan.operands[m.plan.stages[set.first_stage + operand.member].first_operand + operand.operand];
  for (int i = 0; i < set.stage_count; ++i) {
    const auto& stage = m.plan.stages[set.first_stage + i];
    for (int o = writes ? stage.input_count : 0; o < (writes ? stage.operand_count : stage.input_count); ++o)
      if (m.plan.operands[stage.first_operand + o] == own) return true;
  }
  return false;
}

inline const std::vector<Kind>& faults_of_parts() {
  static const std::vector<Kind> all{
      // ---- parts of tensors that ops and calls write
      {"the op that writes the first part of a tensor writes into other memory", "",
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           const auto [first, last] = m.uses(body, s);
           if (body.storages[s].location.base != Base::frame || first < 0 || !uses(m, body, first, s, true)) return false;
           if (body.steps[first].use != StepUse::computes || uses(m, body, first, s, false)) return false;
           int next = first + 1;
           while (next <= last && !uses(m, body, next, s, true) && !uses(m, body, next, s, false)) ++next;
           if (next > last || uses(m, body, next, s, false)) return false;
           return split_off(m, body, first, s, first);
         });
       }},
      {"an op writes the first part of a tensor that a call then changes into other memory", "",
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           const auto [first, last] = m.uses(body, s);
           bool is_called = false;
           for (int g = 0; g < static_cast<int>(body.steps.size()); ++g)
             is_called = is_called ||
                         (body.steps[g].use == StepUse::calls && uses(m, body, g, s, true) && uses(m, body, g, s, false));
           if (!is_called || first < 0 || body.storages[s].location.base != Base::frame) return false;
           return body.steps[first].use == StepUse::computes && uses(m, body, first, s, true) &&
                  uses(m, body, first + 1, s, true) && !uses(m, body, first + 1, s, false) && split_off(m, body, first, s, first);
         });
       }},
      {"an op of a called body writes a part of a result into other memory", "",
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           const auto& location = body.storages[s].location;
           if (location.base != Base::argument || location.index < m.inputs_of(body.id)) return false;
           int writers = 0;
           for (int g = 0; g < static_cast<int>(body.steps.size()); ++g) writers += uses(m, body, g, s, true) ? 1 : 0;
           const int first = m.uses(body, s).first;
           return writers > 1 && body.steps[first].use == StepUse::computes &&
                  split_off(m, body, first, s, static_cast<int>(body.steps.size()) - 1);
         });
       }},
      {"a called body changes an input in other memory than the one it reads", "",
       [](Mutant& m) {
         return m.any_storage([&](TileBody& body, int s) {
           const auto& location = body.storages[s].location;
           if (location.base != Base::argument || location.index >= m.inputs_of(body.id)) return false;
           const auto [first, last] = m.uses(body, s);
           return first < last && body.steps[last].use == StepUse::computes && uses(m, body, last, s, true) &&
                  split_off(m, body, last, s, static_cast<int>(body.steps.size()) - 1);
         });
       }},
      {"a call does not copy back what its body changes", "",
       [](Mutant& m) {
         return m.any_call([](TileBody& body, int g) {
           StepRecord& step = body.steps[g];
           const std::size_t first = static_cast<std::size_t>(step.input_count + step.outputs + step.else_outputs + step.carried);
           return first + 1 < step.call_values.size() && (erase(step.call_values, first), true);
         });
       }},
      {"the data of a called body follow those of its caller", "",
       [](Mutant& m) {
         auto& bodies = m.tiles.bodies;
         for (std::size_t b = 0; b + 1 < bodies.size(); ++b)
           for (int g = 0; g < static_cast<int>(bodies.back().steps.size()); ++g)
             if (const Step& step = m.step(bodies.back(), g); step.is_call() && step.body == bodies[b].id)
               return std::swap(bodies[b], bodies.back()), true;
         return false;
       }},
      // ---- what ops of a step pass to each other
      {"an op has a room for what an earlier op of its step left on the tile", "",
       [](Mutant& m) {
         return any_passed(m, false, [&](TileBody& body, int g, StepRecord& record, int stage, int o, int k) {
           if (k >= 0)
             return record.tile_operands[k].access == TileAccess::local && !uses(m, body, g, record.tile_operands[k], true) &&
                    exchange(m, body, g, record.tile_operands[k], true, false);
           const auto& set = m.plan.compute_sets[m.step(body, g).compute_set];
           const auto& used = m.plan.operands[m.plan.stages[set.first_stage + stage].first_operand + o];
           TileOperand operand{StorageId(record.location_storages[used.index]), stage, o};
           operand.slice_elements = 1;
           for (int axis = 0; axis < used.view.shape.rank; ++axis) {
             const std::int64_t extent = used.view.shape[axis];
             if (used.view.stride(axis) != 0)
               operand.slice_elements *= used.grid_axis[axis] < 0 ? extent : std::min(set.blocks[used.grid_axis[axis]], extent);
           }
           return exchange(m, body, g, operand, true, false) && (record.tile_operands.push_back(operand), true);
         });
       }},
      {"an op leaves in a room what a later op of its step has on the tile", "",
       [](Mutant& m) {
         return any_passed(m, false, [&](TileBody& body, int g, StepRecord& record, int, int, int k) {
           if (k < 0 || record.tile_operands[k].access != TileAccess::local) return false;
           for (TileOperand& each : record.tile_operands)
             if (each.storage == record.tile_operands[k].storage && &each != &record.tile_operands[k] &&
                 each.access == TileAccess::local && uses(m, body, g, each, true))
               return exchange(m, body, g, each, uses(m, body, g, each, false), true);
           return false;
         });
       }},
      {"two operands of a step are one, each with a room", "",
       [](Mutant& m) {
         return m.any_operand([&](TileBody& body, int g, TileOperand& operand) {
           if (operand.access == TileAccess::local || m.room_of(body, g, operand) < 0) return false;
           Room room = body.rooms[m.room_of(body, g, operand)];
           if (operand.access != TileAccess::shared) room.kind = RoomKind::sent;
           return add_room(m, body, room) && (body.steps[g].tile_operands.push_back(TileOperand(operand)), true);
         });
       }},
      // ---- scratch
      {"the small results of an op that changes a tensor have no room in scratch", "",
       [](Mutant& m) {
         return m.any_step([&](TileBody& body, int g) {
           const auto& set = m.plan.compute_sets[m.step(body, g).compute_set];
           std::int64_t bytes = 0;
           for (int i = 0; i < set.stage_count; ++i) {
             const auto& stage = m.plan.stages[set.first_stage + i];
             for (int o = stage.input_count + 1; o < stage.operand_count; ++o)
               if (const auto& made = m.plan.operands[stage.first_operand + o]; made.source == internal::Source::scratch)
                 bytes += internal::align(slice_of(made, set.blocks).shape.nelms() * tw::size_of(made.view.dtype), 8);
           }
           for (Room& room : body.rooms)
             if (bytes > 0 && room.kind == RoomKind::scratch && room.first == g)
               return room.bytes -= bytes * body.steps[g].grid.places.on_a_tile(m.sets), true;
           return false;
         });
       }},
  };
  return all;
}

}  // namespace tile_faults
