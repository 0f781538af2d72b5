#pragma once
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tilewright/execute/strict/exchange.hpp"

namespace tilewright::internal {

/// Reads records from the table of a frozen plan that TileTableWriter wrote.
class TileTableReader {
 public:
  explicit TileTableReader(std::string_view table) : rest_(table) {}

  void operator()(auto&... values) { (get(values), ...); }

 private:
  template <class T>
  [[gnu::cold]] void get(T& value) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      value = static_cast<T>(number());
    } else if constexpr (std::is_same_v<T, Text>) {
      const auto size = static_cast<std::size_t>(number());
      value = Text(rest_.substr(0, size));
      rest_.remove_prefix(size);
    } else if constexpr (requires {
                           value.count;
                           value.items;
                         }) {  // a FixedVector
      value.count = static_cast<int>(number());
      for (int i = 0; i < value.size(); ++i) get(value[i]);
    } else if constexpr (requires { value.size(); }) {
      value.resize(static_cast<std::size_t>(number()));
      for (auto& item : value) get(item);
    } else {
      each_field(*this, value);
    }
  }
  [[gnu::cold]] std::int64_t number() {
    std::uint64_t result = 0;
    for (int shift = 0;; shift += 7) {
      const auto character = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      result |= std::uint64_t{character & 127u} << shift;
      if (character < 128) break;
    }
    return static_cast<std::int64_t>(result >> 1) ^ -static_cast<std::int64_t>(result & 1);
  }

  std::string_view rest_;
};

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
    std::vector<BankStep> bank_steps;
    each_shared_part(table_, variables, constants, plan_.bank_rules, bank_steps, plan_.scopes, plan_.graphs);
    for (const BankStep& step : bank_steps)
      plan_.bodies[static_cast<std::size_t>(step.body)].groups[static_cast<std::size_t>(step.group)].bank_step = step;
    for (const Home& home : variables) plan_.homes.push_back({{home}, Base::variable});
    for (const Home& home : constants) plan_.homes.push_back({{home}, Base::constant});
    for (const TileSetUse& set : plan_.program.tile_sets) plan_.frame_addresses.push_back(set.frame_address);
    StrictExchange exchange(plan_);
    for (std::size_t b = 0; b < plan_.bodies.size(); ++b) exchange.complete(b);
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
                                .slice_elements = operand.slice_elements,
                                .access = operand.access});
    const auto count = group.operands.size();
    for (int m = 0; m < set.stage_count; ++m)  // those in streaming memory
      for (int o = 0; o < plan_.stage(set, m).operand_count; ++o) {
        const StageOperand& operand = plan_.stage_operand(set, m, o);
        if (operand.source != Source::memory) continue;
        const int s = group.location_storages[static_cast<std::size_t>(operand.index)];
        if (body.storages[static_cast<std::size_t>(s)].location.base != Base::remote) continue;
        group.operands.push_back({.storage = s, .is_remote = true, .member = m, .operand = o});
      }
    for (std::size_t k = 0; k < group.operands.size(); ++k) cut(body, its_step, group, group.operands[k], k < count);
    find_uses(set, group);
  }
  /// Divides an operand as the codelet of the group does.
  [[gnu::cold]] void cut(const StrictBody& body, const Step& its_step, const StrictGroup& group, StrictOperand& operand,
                         bool is_checked) {
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
    std::int64_t elements = 1;
    for (const LayoutAxis& axis : operand.axes) elements *= axis.block;
    if (is_checked && elements != operand.slice_elements)
      throw std::logic_error(
          strict_text({"strict: a slice of ", elements, " elements, where the plan has ", operand.slice_elements}));
    operand.slice_elements = elements;
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
          if (std::exchange(operand.is_seen, true) || is_output) continue;
          operand.is_read = true;
          for (std::size_t k = 0; k < group.operands.size(); ++k)
            if (group.operands[k].storage == operand.storage && group.operands[k].is_written)
              operand.writers.push_back(static_cast<int>(k));
        }
      }
  }

  StrictPlan& plan_;
  TileTableReader table_;
};

}  // namespace tilewright::internal
