#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/lower/ipu/tile_map.hpp"
#include "tilewright/target/ipu_cycles.hpp"

namespace tilewright::internal {

enum class StorageKind : std::uint8_t {
  part,  ///< in memory that another storage owns, or in a vertex's scratch
  owner,
  undefined_owner  ///< unwritten elements may be read
};

/// A storage of a body.
struct StorageRecord {
  StorageKind kind = StorageKind::part;
  int owner = -1;  ///< a storage; only written for a part
  // of owners
  DType dtype = float32;
  std::int64_t elements = 0;
  Location location{};
  TileLayout layout{};
};

enum class StepUse : std::uint8_t { loads_code, computes, calls };

/// A step of a body.
struct StepRecord {
  StepUse use = StepUse::loads_code;
  int graph = -1, scope = -1;  ///< where its first op was traced, see Operation
  // of one that computes
  bool runs_once = false;  ///< whether it has effects outside of its operands
  bool is_tile_copy = false;  ///< whether its result is on other tiles than its input
  GridPlaces grid{};
  List<int> location_storages{};  ///< by location of the step: its storage
  List<TileOperand> tile_operands{};
  // of one that calls: see Operation and Calling
  int input_count = 0, inputs = 0, outputs = 0, else_inputs = 0, else_outputs = 0, carried = 0;
  List<Value> call_values{};  ///< operands: for each, where its first element is
};

/// Numbers of a tile's memory that say which operands are in different banks.
struct BankRules {
  std::int64_t distance = 0;  ///< bank_distance of the model
  std::int64_t pair_bytes = 0;  ///< of two banks: bytes between operands that cannot share one, wherever these begin
  std::int64_t interleaved_bytes = 0;  ///< at the end of a tile's memory
};

constexpr BankRules bank_rules(const IpuModel& model) {
  return {bank_distance(model), 2 * model.memory_element_bytes, model.interleaved_bytes};
}

// ---- the order of fields in the table, for its writer and its reader

template <class T, class Record>
concept ReadOrWritten = std::same_as<std::remove_const_t<T>, Record>;

constexpr void each_field(auto& table, ReadOrWritten<AxisNumbering> auto& numbering) {
  table(numbering.inner, numbering.outer_step, numbering.inner_step);
}
constexpr void each_field(auto& table, ReadOrWritten<Places> auto& places) { table(places.count, places.first_tile, places.set); }
constexpr void each_field(auto& table, ReadOrWritten<LayoutAxis> auto& axis) {
  table(axis.stride, axis.extent, axis.block, axis.numbering);
}
constexpr void each_field(auto& table, ReadOrWritten<TileLayout> auto& layout) { table(layout.axes, layout.places); }
constexpr void each_field(auto& table, ReadOrWritten<GridPlaces> auto& grid) { table(grid.axes, grid.places); }
constexpr void each_field(auto& table, ReadOrWritten<Location> auto& location) {
  table(location.base, location.index, location.offset);
}
constexpr void each_field(auto& table, ReadOrWritten<StorageRecord> auto& storage) {
  table(storage.kind);
  if (storage.kind == StorageKind::part) table(storage.owner);
  else table(storage.dtype, storage.elements, storage.location, storage.layout);
}
constexpr void each_field(auto& table, ReadOrWritten<TileFrame> auto& frame) { table(frame.bytes); }
constexpr void each_field(auto& table, ReadOrWritten<Room> auto& room) {
  table(room.kind, room.set, room.storage, room.bytes, room.address, room.first, room.last);
}
constexpr void each_field(auto& table, ReadOrWritten<TileOperand> auto& operand) {
  table(operand.storage, operand.member, operand.operand, operand.access, operand.slice_elements);
}
constexpr void each_field(auto& table, ReadOrWritten<Value> auto& value) { table(value.storage, value.layout.offset); }
constexpr void each_field(auto& table, ReadOrWritten<StepRecord> auto& step) {
  table(step.use, step.graph, step.scope);
  if (step.use == StepUse::computes)
    table(step.runs_once, step.is_tile_copy, step.grid, step.location_storages, step.tile_operands);
  if (step.use == StepUse::calls)
    table(step.input_count, step.inputs, step.outputs, step.else_inputs, step.else_outputs, step.carried, step.call_values);
}
constexpr void each_field(auto& table, ReadOrWritten<Home> auto& home) { table(home.offset, home.address); }
constexpr void each_field(auto& table, ReadOrWritten<BankStep> auto& step) {
  table(step.body, step.group, step.use, step.x.operand, step.y.operand, step.result.operand, step.banks);
}
constexpr void each_field(auto& table, ReadOrWritten<BankRules> auto& rules) {
  table(rules.distance, rules.pair_bytes, rules.interleaved_bytes);
}

/// Visits the records of a body: lists of StorageRecord, TileFrame, Room and StepRecord. The body's id precedes them.
constexpr void each_part(auto& table, auto& storages, auto& frames, auto& rooms, auto& steps) {
  table(storages, frames, rooms, steps);
}
/// Visits the records after all bodies and a BodyId::none: lists of Home, BankRules, and lists of BankStep and of the names of
/// scopes and graphs.
constexpr void each_shared_part(auto& table, auto& variables, auto& constants, auto& rules, auto& bank_steps, auto& scopes,
                                auto& graphs) {
  table(variables, constants, rules, bank_steps, scopes, graphs);
}

}  // namespace tilewright::internal
