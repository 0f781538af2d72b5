#pragma once
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tilewright/execute/strict_exchange.hpp"

namespace tilewright::internal {

/// Reads what a plan says of tiles from the table of a frozen plan (lower/tile_table.hpp) and from its compute sets.
class StrictPlanReader {
 public:
  explicit StrictPlanReader(StrictPlan& plan) : plan_(plan), rest_(plan.program.tile_table) {}

  [[gnu::cold]] void run() {
    const std::int64_t tiles = number(), io_tiles = number();
    plan_.sets = TileSets(tiles, io_tiles, small());
    for (std::int64_t body = number(); body >= 0; body = number()) read_body(static_cast<std::size_t>(body));
    read_homes();
    for (auto* const list : {&plan_.scopes, &plan_.graphs}) {
      list->resize(static_cast<std::size_t>(number()));
      for (std::string& text : *list) {
        const auto size = static_cast<std::size_t>(number());
        text = rest_.substr(0, size);
        rest_.remove_prefix(size);
      }
    }
    StrictExchange exchange(plan_);
    for (std::size_t b = 0; b < plan_.bodies.size(); ++b) exchange.complete(b);
  }

 private:
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
  [[gnu::cold]] int small() { return static_cast<int>(number()); }
  [[gnu::cold]] Places places() {
    Places result;
    result.count = number();
    result.first_tile = number();
    result.set = small();
    return result;
  }
  [[gnu::cold]] AxisNumbering numbering() {
    AxisNumbering result;
    result.inner = number();
    result.outer_step = number();
    result.inner_step = number();
    return result;
  }

  [[gnu::cold]] void read_body(std::size_t b) {
    StrictBody& body = plan_.bodies[b];
    body.storages.resize(static_cast<std::size_t>(number()));
    for (std::size_t s = 0; s < body.storages.size(); ++s) read_storage(body.storages[s], static_cast<int>(s));
    for (int set = 0; set < plan_.sets.size(); ++set) body.frame_bytes.push_back(number());
    body.rooms.resize(static_cast<std::size_t>(number()));
    for (std::size_t r = 0; r < body.rooms.size(); ++r) {
      Room& room = body.rooms[r];
      room.kind = static_cast<RoomKind>(number());
      room.set = small();
      room.storage = static_cast<StorageId>(number());
      room.bytes = number();
      room.address = number();
      room.first = small();
      room.last = small();
      if (room.kind == RoomKind::storage) body.storages[static_cast<std::size_t>(room.storage)].room = static_cast<int>(r);
    }
    body.groups.resize(static_cast<std::size_t>(plan_.program.bodies[b].step_count));
    for (std::size_t g = 0; g < body.groups.size(); ++g) {
      StrictGroup& group = body.groups[g];
      group.graph = small();
      group.scope = small();
      const Step& its_step = plan_.step(b, g);
      if (its_step.is_call()) read_call(group);
      else if (its_step.kind != StepKind::load_code) read_group(body, its_step, group);
    }
  }
  [[gnu::cold]] void read_storage(StrictStorage& storage, int number_of_it) {
    const int kind = small();
    storage.owner = kind == 0 ? small() : number_of_it;
    if (kind == 0) return;
    storage.begins_undefined = kind == 2;
    storage.dtype = static_cast<DType>(number());
    storage.bytes = size_of(storage.dtype);
    storage.elements = number();
    storage.location.base = static_cast<Base>(number());
    storage.location.index = small();
    storage.location.offset = number();
    storage.layout.axes.count = small();
    for (int a = 0; a < storage.layout.axes.size(); ++a) {
      LayoutAxis& axis = storage.layout.axes[a];
      axis.stride = number();
      axis.extent = number();
      axis.block = number();
      axis.numbering = numbering();
    }
    storage.layout.places = places();
    storage.is_on_tiles = storage.layout.is_decided();
  }
  [[gnu::cold]] void read_group(const StrictBody& body, const Step& its_step, StrictGroup& group) {
    const ComputeSet& set = plan_.set_of(its_step);
    const int kind = small();
    group.runs_once = (kind & 1) != 0;
    group.is_tile_copy = (kind & 2) != 0;
    group.grid.axes.count = set.blocks.size();
    for (int a = 0; a < set.blocks.size(); ++a) group.grid.axes[a] = numbering();
    group.grid.places = places();
    for (int i = 0; i < its_step.location_count; ++i) group.location_storages.push_back(small());
    group.operands.resize(static_cast<std::size_t>(number()));
    for (StrictOperand& operand : group.operands) {
      operand.storage = small();
      operand.member = small();
      operand.operand = small();
      operand.access = static_cast<TileAccess>(number() / 4);
      operand.slice_elements = number();
    }
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
  /// As the codelet of the group takes it.
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
      LayoutAxis use{stride, extent, g >= 0 ? std::min(set.blocks[g], extent) : extent, {}};
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
  /// Whether operands are read or written first.
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
  [[gnu::cold]] void read_call(StrictGroup& group) {
    group.input_count = small();
    group.inputs = small();
    group.outputs = small();
    group.else_inputs = small();
    group.else_outputs = small();
    group.carried = small();
    group.call_operands.resize(static_cast<std::size_t>(number()));
    for (StrictCallOperand& operand : group.call_operands) {
      operand.storage = small();
      operand.offset = number();
    }
  }
  [[gnu::cold]] void read_homes() {
    for (const Base base : {Base::variable, Base::constant})
      for (std::int64_t count = number(); count > 0; --count) {
        StrictHome home{.base = base, .offset = number()};
        home.address = number();
        plan_.homes.push_back(home);
      }
    for (int set = 0; set < plan_.sets.size(); ++set) {
      plan_.variable_bytes.push_back(number());
      plan_.home_bytes.push_back(plan_.variable_bytes.back() + number());
    }
  }

  StrictPlan& plan_;
  std::string_view rest_;
};

}  // namespace tilewright::internal
