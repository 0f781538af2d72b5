#pragma once
#include <concepts>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "tilewright/core/text.hpp"
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
/// Visits the records after all bodies and a BodyId::none: lists of Home, BankRules, and a list of BankStep. The names of scopes
/// and graphs follow them.
constexpr void each_shared_part(auto& table, auto& variables, auto& constants, auto& rules, auto& bank_steps) {
  table(variables, constants, rules, bank_steps);
}

/// Reads records from a table that TileTableWriter wrote. Of a table that ends too early, or has a list that is too long for its
/// type, the rest is not read.
class TileTableReader {
  // Clang instantiates what a function calls only if it is defined above
  template <class T>
  constexpr void get(T& value) {
    if (!is_right_) return;
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      const std::int64_t found = number();
      value = static_cast<T>(found);
      is_right_ = is_right_ && static_cast<std::int64_t>(value) == found && found >= -most && found <= most;
      if constexpr (std::is_enum_v<T>) is_right_ = is_right_ && is_enumerator(value);
    } else if constexpr (std::is_same_v<T, Text>) {
      const auto size = static_cast<std::size_t>(number());
      is_right_ = is_right_ && size <= rest_.size();
      if (!is_right_) return;
      value = Text(rest_.substr(0, size));
      rest_.remove_prefix(size);
    } else if constexpr (requires {
                           value.count;
                           value.items;
                         }) {  // a FixedVector
      const std::int64_t count = number();
      is_right_ = is_right_ && count >= 0 && count <= static_cast<std::int64_t>(std::size(value.items));
      if (is_right_) value.count = static_cast<int>(count);
      for (int i = 0; i < value.size() && is_right_; ++i) get(value[i]);
    } else if constexpr (requires { value.resize(1); }) {
      const std::int64_t count = number();
      is_right_ = is_right_ && count >= 0 && count <= static_cast<std::int64_t>(rest_.size());
      if (!is_right_) return;
      value.resize(static_cast<std::size_t>(count));
      for (auto& item : value) get(item);
    } else {
      each_field(*this, value);
    }
  }
  static constexpr std::int64_t most = std::int64_t{1} << 50;  // so little that sums and products by tiles do not overflow
  static constexpr bool is_enumerator(const auto&) { return true; }
  static constexpr bool is_enumerator(DType dtype) { return static_cast<std::size_t>(dtype) < tilewright::detail::dtype_count; }
  static constexpr bool is_enumerator(OperandBanks banks) { return banks <= OperandBanks::interleaved; }
  static constexpr bool is_enumerator(BankUse use) { return use <= BankUse::terms; }
  static constexpr bool is_enumerator(Base base) { return base <= Base::position; }
  constexpr std::int64_t number() {
    std::uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto character = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      result |= std::uint64_t{character & 127u} << shift;
      if (character < 128) return static_cast<std::int64_t>(result >> 1) ^ -static_cast<std::int64_t>(result & 1);
    }
    is_right_ = false;
    return 0;
  }

  std::string_view rest_;
  bool is_right_ = true;

 public:
  constexpr explicit TileTableReader(std::string_view table) : rest_(table) {}

  constexpr void operator()(auto&... values) { (get(values), ...); }
  constexpr bool is_right() const { return is_right_; }  ///< whether all was read so far
};

}  // namespace tilewright::internal
