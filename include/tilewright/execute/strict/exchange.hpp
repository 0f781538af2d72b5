#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include "tilewright/execute/strict/plan.hpp"

namespace tilewright::internal {

/// Finds where the elements of storages are, and which data is exchanged before and after each step.
class StrictExchange {
 public:
  explicit StrictExchange(StrictPlan& plan) : plan_(plan) {}

  [[gnu::cold]] void complete(std::size_t b) {
    StrictBody& body = plan_.bodies[b];
    for (std::size_t s = 0; s < body.storages.size(); ++s) {
      StrictStorage& storage = body.storages[s];
      if (!storage.is_on_tiles) continue;
      for (std::size_t h = 0; h < plan_.homes.size(); ++h) {
        StrictHome& home = plan_.homes[h];
        if (home.base != storage.location.base || home.offset != storage.location.offset) continue;
        storage.home = static_cast<int>(h);
        if (home.body >= 0) continue;
        home.body = static_cast<int>(b);
        home.storage = static_cast<int>(s);
        home.bytes = storage.bytes;
        home.elements = storage.elements;
        home.set = storage.layout.places.set;
        home.room_bytes = storage.layout.places.on_a_tile(plan_.program.sets) *
                          align(storage.layout.block_elements() * storage.bytes, 8);
      }
      find_tiles(storage);
    }
    for (std::size_t g = 0; g < body.groups.size(); ++g) find_moves(body, plan_.step(b, g), static_cast<int>(g), body.groups[g]);
    find_streams(b);
  }

 private:
  void find_tiles(StrictStorage& storage) const {
    const TileLayout& layout = storage.layout;
    const std::int64_t slot_bytes = align(layout.block_elements() * storage.bytes, 8);
    storage.tiles.resize(static_cast<std::size_t>(storage.elements));
    storage.offsets.resize(storage.tiles.size());
    for (std::size_t e = 0; e < storage.tiles.size(); ++e) {
      std::int64_t place = 0, local = 0;
      for (const LayoutAxis& axis : layout.axes) {
        const std::int64_t index = static_cast<std::int64_t>(e) / axis.stride % axis.extent, block = index / axis.block;
        place += axis.numbering.place(block);
        local = local * (std::min)(axis.block, axis.extent - block * axis.block) + index % axis.block;
      }
      storage.tiles[e] = static_cast<std::uint32_t>(layout.places.tile(place, plan_.program.sets));
      storage.offsets[e] = static_cast<std::uint32_t>(layout.places.slot(place, plan_.program.sets) * slot_bytes +
                                                      local * storage.bytes);
    }
  }
  /// Finds the exchange of a step: from homes to the rooms that receive slices, and back from the rooms of results.
  void find_moves(const StrictBody& body, const Step& its_step, int g, StrictGroup& group) const {
    if (its_step.is_call() || its_step.kind == StepKind::load_code) return;
    const ComputeSet& set = plan_.set_of(its_step);
    drop_own_results(body, its_step, group, set);
    std::size_t next = 0;  // rooms stand in the order of operands
    std::vector<ElementRun> runs;
    for (StrictOperand& operand : group.operands) {
      if (operand.is_remote || operand.access == TileAccess::local) continue;
      while (next < body.rooms.size() && (body.rooms[next].first != g || (body.rooms[next].kind != RoomKind::received &&
                                                                          body.rooms[next].kind != RoomKind::sent)))
        ++next;
      if (next == body.rooms.size() || static_cast<int>(body.rooms[next].storage) != operand.storage)
        throw std::logic_error("strict: an operand that is exchanged has no room");
      operand.room = static_cast<int>(next++);
      if (its_step.kind == StepKind::collective || !operand.is_used) continue;
      const StrictStorage& storage = body.storages[static_cast<std::size_t>(operand.storage)];
      const std::int64_t home = plan_.address_of(body, storage),
                         room = body.rooms[static_cast<std::size_t>(operand.room)].address;
      for (std::int64_t v = 0; v < its_step.vertices; ++v) {
        std::int64_t coordinates[max_work_axes];
        const std::int64_t place = StrictPlan::locate(set, group, v, coordinates);
        StrictMove move{.to_tile = group.grid.places.tile(place, plan_.program.sets),
                        .from_home = storage.home >= 0,
                        .storage = operand.storage};
        std::int64_t to = room + group.grid.places.slot(place, plan_.program.sets) * StrictPlan::slice_bytes(operand, storage);
        StrictPlan::runs_of(operand, coordinates, runs);
        for (const ElementRun& run : runs)
          for (std::int64_t i = 0; i < run.count; ++i, to += storage.bytes) {
            const auto e = static_cast<std::size_t>(run.first + i * run.step);
            const std::int64_t tile = storage.tiles[e], from = home + storage.offsets[e];
            if (move.bytes > 0 && tile == move.from_tile && from == move.from + move.bytes) {
              move.bytes += storage.bytes;
              continue;
            }
            add_move(group, operand, move);
            move.from_tile = tile, move.from = from, move.to = to, move.bytes = storage.bytes;
            if (plan_.program.sets.of(tile) != group.grid.places.set && !group.is_tile_copy)
              throw StrictError(strict_text({"strict: an op that copies nothing from other tiles takes ", move.bytes,
                                             " bytes from tile ", tile, " of ", where(plan_.program.sets.of(tile)), " to tile ",
                                             move.to_tile, " of ", where(group.grid.places.set)}));
          }
        add_move(group, operand, move);
      }
    }
  }
  /// Drops transfers for an operand whose only contents are earlier results of its own vertex.
  [[gnu::cold]] static void drop_own_results(const StrictBody& body, const Step& its_step, StrictGroup& group,
                                             const ComputeSet& set) {
    std::vector<ElementRun> runs;
    std::vector<std::int64_t> writer;
    for (StrictOperand& operand : group.operands) {
      if (operand.writers.empty() || !operand.is_read) continue;
      writer.assign(static_cast<std::size_t>(body.storages[static_cast<std::size_t>(operand.storage)].elements), -1);
      bool is_own = true;
      for (std::int64_t v = 0; v < its_step.vertices; ++v) {
        std::int64_t coordinates[max_work_axes];
        StrictPlan::locate(set, group, v, coordinates);
        const auto visit = [&](const StrictOperand& visited, auto f) {
          StrictPlan::runs_of(visited, coordinates, runs);
          for (const ElementRun& run : runs)
            for (std::int64_t i = 0; i < run.count; ++i) f(writer[static_cast<std::size_t>(run.first + i * run.step)]);
        };
        for (const int k : operand.writers)
          visit(group.operands[static_cast<std::size_t>(k)], [v](std::int64_t& last) { last = v; });
        visit(operand, [&](std::int64_t last) { is_own = is_own && last == v; });
      }
      if (is_own) operand.is_read = false;
    }
  }
  std::string where(int set) const { return to_text(plan_.program.sets.placement(set)).string(); }
  static void add_move(StrictGroup& group, const StrictOperand& operand, const StrictMove& move) {
    if (move.bytes == 0) return;
    if (operand.is_read) group.before.push_back(move);
    if (!operand.is_written) return;
    StrictMove back = move;
    std::swap(back.from_tile, back.to_tile);
    std::swap(back.from, back.to);
    std::swap(back.from_home, back.to_home);
    group.after.push_back(back);
  }
  [[gnu::cold]] void find_streams(std::size_t b) {
    StrictBody& body = plan_.bodies[b];
    std::vector<int> writer(body.storages.size(), -1);
    List<bool> is_seen(body.storages.size(), false);
    for (std::size_t g = 0; g < body.groups.size(); ++g) {
      StrictGroup& group = body.groups[g];
      const auto use = [&](int s, bool reads, bool writes) {
        const auto at = static_cast<std::size_t>(s);
        if (body.storages[at].location.base != Base::stream || !body.storages[at].is_on_tiles) return;
        if (reads && !is_seen[at]) group.loads.push_back(s);
        is_seen[at] = true;
        if (writes) writer[at] = static_cast<int>(g);
      };
      for (const StrictOperand& operand : group.operands)
        if (operand.is_used && operand.is_read) use(operand.storage, true, false);
      for (const StrictOperand& operand : group.operands)
        if (operand.is_used && operand.is_written) use(operand.storage, false, true);
      for (std::size_t o = 0; o < group.call_operands.size(); ++o)
        use(group.call_operands[o].storage, static_cast<int>(o) < group.input_count, static_cast<int>(o) >= group.input_count);
    }
    for (std::size_t s = 0; s < writer.size(); ++s)
      if (writer[s] >= 0) body.groups[static_cast<std::size_t>(writer[s])].stores.push_back(static_cast<int>(s));
  }

  StrictPlan& plan_;
};

}  // namespace tilewright::internal
