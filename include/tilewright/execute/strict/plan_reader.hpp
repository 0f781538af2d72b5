#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "tilewright/execute/strict/plan.hpp"

namespace tilewright::internal {

/// Reads a plan's records about tiles from the table of a frozen plan and from its compute sets.
class StrictPlanReader {
 public:
  explicit StrictPlanReader(StrictPlan& plan) : plan_(plan), table_(plan.program.tile_table) {}

  [[gnu::cold]] void run() {
    for (;;) {
      BodyId body = BodyId::none;
      table_(body);
      if (body == BodyId::none) break;
      read_body(static_cast<std::size_t>(body));
    }
    List<Home> variables, constants;
    BankRules bank_rules;
    std::vector<BankStep> bank_steps;
    each_shared_part(table_, variables, constants, bank_rules, bank_steps);
    table_(plan_.scopes, plan_.graphs);
    for (const Home& home : variables) plan_.homes.push_back({{home}, Base::variable});
    for (const Home& home : constants) plan_.homes.push_back({{home}, Base::constant});
    for (const TileSetUse& set : plan_.program.tile_sets) plan_.frame_addresses.push_back(set.frame_address);
    for (std::size_t b = 0; b < plan_.bodies.size(); ++b) {
      find_homes(b);
      find_rooms_of_slices(plan_.bodies[b]);
      find_streams(plan_.bodies[b]);
    }
  }

 private:
  [[gnu::cold]] void read_body(std::size_t b) {
    StrictBody& body = plan_.bodies[b];
    std::vector<StorageRecord> storages;
    std::vector<StepRecord> steps;
    each_part(table_, storages, body.frames, body.rooms, steps);
    for (const StorageRecord& storage : storages) {
      body.storages.push_back({{storage}, storage.layout.is_decided(), size_of(storage.dtype)});
      if (storage.kind != StorageKind::part) body.storages.back().owner = static_cast<int>(body.storages.size()) - 1;
    }
    for (std::size_t r = 0; r < body.rooms.size(); ++r)
      if (const Room& room = body.rooms[r]; room.kind == RoomKind::storage)
        body.storages[static_cast<std::size_t>(room.storage)].room = static_cast<int>(r);
    for (std::size_t g = 0; g < steps.size(); ++g) {
      body.groups.push_back({{steps[g]}});
      if (steps[g].use == StepUse::computes) complete(body, plan_.step(b, g), body.groups.back());
      for (std::size_t o = 0; o + 1 < steps[g].call_values.size(); ++o) {
        const Value& value = steps[g].call_values[o];
        body.groups.back().call_operands.push_back(
            {body.storages[static_cast<std::size_t>(value.storage)].owner, value.layout.offset});
      }
    }
  }
  [[gnu::cold]] void complete(const StrictBody& body, const Step& its_step, StrictGroup& group) {
    const ComputeSet& set = plan_.set_of(its_step);
    for (const TileOperand& operand : group.tile_operands)
      group.operands.push_back({.storage = static_cast<int>(operand.storage),
                                .member = operand.member,
                                .operand = operand.operand,
                                .access = operand.access});
    for (int m = 0; m < set.stage_count; ++m)  // those in streaming memory
      for (int o = 0; o < plan_.stage(set, m).operand_count; ++o) {
        const StageOperand& operand = plan_.stage_operand(set, m, o);
        if (operand.source != Source::memory) continue;
        const int s = group.location_storages[static_cast<std::size_t>(operand.index)];
        if (body.storages[static_cast<std::size_t>(s)].location.base != Base::remote) continue;
        group.operands.push_back({.storage = s, .is_remote = true, .member = m, .operand = o});
      }
    for (StrictOperand& operand : group.operands) cut(body, its_step, group, operand);
    find_uses(set, group);
  }
  /// Divides an operand as the codelet of the group does.
  [[gnu::cold]] void cut(const StrictBody& body, const Step& its_step, const StrictGroup& group, StrictOperand& operand) {
    const ComputeSet& set = plan_.set_of(its_step);
    const StageOperand& taken = plan_.stage_operand(set, operand.member, operand.operand);
    if (taken.source != Source::memory) return;
    operand.is_used = true;
    const StrictStorage& storage = body.storages[static_cast<std::size_t>(operand.storage)];
    const Location& location = plan_.program.locations[static_cast<std::size_t>(its_step.first_location + taken.index)];
    operand.offset = (location.offset - storage.location.offset) / storage.bytes;
    unsigned followed = 0;
    for (int axis = 0; axis < taken.view.shape.rank; ++axis) {
      const std::int64_t extent = taken.view.shape[axis], stride = taken.view.stride(axis);
      const int g = taken.grid_axis[axis];
      if (g >= 0) followed |= 1u << g;
      if (extent == 1 || stride == 0) continue;
      LayoutAxis use{stride, extent, g >= 0 ? (std::min)(set.blocks[g], extent) : extent, {}};
      use.grid_axis = g;
      insert_by_stride(operand.axes, use);
    }
    for (int g = 0; g < set.blocks.size(); ++g) {  // partials
      const std::int64_t bytes =
          plan_.program.strides[static_cast<std::size_t>(set.first_stride + g + taken.index * set.blocks.size())];
      const std::int64_t parts = block_count(set.extents[g], set.blocks[g]);
      if ((followed >> g & 1) == 0 && bytes != 0 && parts > 1)
        insert_by_stride(operand.axes, {bytes / storage.bytes, parts, 1, group.grid.axes[g], g});
    }
    operand.slice_elements = 1;
    for (const LayoutAxis& axis : operand.axes) operand.slice_elements *= axis.block;
  }
  /// Finds whether operands are first read or first written.
  [[gnu::cold]] void find_uses(const ComputeSet& set, StrictGroup& group) const {
    for (int m = 0; m < set.stage_count; ++m)
      for (int o = 0; o < plan_.stage(set, m).operand_count; ++o) {
        const StageOperand& taken = plan_.stage_operand(set, m, o);
        if (taken.source != Source::memory) continue;
        const bool is_output = o >= plan_.stage(set, m).input_count;
        for (StrictOperand& operand : group.operands) {
          if (!operand.is_used || !(plan_.stage_operand(set, operand.member, operand.operand) == taken)) continue;
          if (is_output) operand.is_written = true;
          if (is_output && operand.is_remote) operand.is_read = true;  // one row of many is written
          if (!std::exchange(operand.is_seen, true) && !is_output) operand.is_read = true;
        }
      }
  }
  [[gnu::cold]] void find_homes(std::size_t b) {
    for (std::size_t s = 0; s < plan_.bodies[b].storages.size(); ++s) {
      StrictStorage& storage = plan_.bodies[b].storages[s];
      if (!storage.is_on_tiles) continue;
      find_tiles(storage);
      for (std::size_t h = 0; h < plan_.homes.size(); ++h) {
        StrictHome& home = plan_.homes[h];
        if (home.base != storage.location.base || home.offset != storage.location.offset) continue;
        storage.home = static_cast<int>(h);
        if (home.body < 0) home.body = static_cast<int>(b), home.storage = static_cast<int>(s);
      }
    }
  }
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
  /// Finds where the operands of each group are received, or from where they are sent: rooms stand in the order of operands.
  [[gnu::cold]] static void find_rooms_of_slices(StrictBody& body) {
    for (std::size_t g = 0; g < body.groups.size(); ++g) {
      std::size_t next = 0;
      for (StrictOperand& operand : body.groups[g].operands) {
        if (operand.is_remote || operand.access == TileAccess::local) continue;
        while (body.rooms[next].first != static_cast<int>(g) ||
               (body.rooms[next].kind != RoomKind::received && body.rooms[next].kind != RoomKind::sent))
          ++next;
        operand.room = static_cast<int>(next++);
      }
    }
  }
  [[gnu::cold]] static void find_streams(StrictBody& body) {
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
  TileTableReader table_;
};

}  // namespace tilewright::internal
