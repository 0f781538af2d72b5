#pragma once
// takes: a body's draft that is placed, and the homes of variables and constants
// gives: Plan::tile_table: data about tiles for the proof and strict mode that the rest of a plan does not contain
// keeps: all else
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tilewright/lower/ipu/tile_draft.hpp"
#include "tilewright/lower/ipu/tile_records.hpp"
#include "tilewright/target/ipu_cycles.hpp"

namespace tilewright::internal {

namespace detail {

/// Appends records to a table: numbers of seven bits per character, the low ones first, so that most take one character.
/// Characters are collected, because compilers pay for each call.
class TileTableWriter {
 public:
  constexpr explicit TileTableWriter(Text& table) : table_(table) {}
  TileTableWriter(const TileTableWriter&) = delete;
  TileTableWriter& operator=(const TileTableWriter&) = delete;
  constexpr ~TileTableWriter() { flush(); }

  constexpr void operator()(const auto&... values) { (put(values), ...); }

 private:
  template <class T>
  constexpr void put(const T& value) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      const auto number = static_cast<std::int64_t>(value);
      auto rest = (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
      if (count_ + most_of_number > room) flush();
      for (; rest >= 128; rest >>= 7) collected_[count_++] = static_cast<char>(static_cast<unsigned char>((rest & 127) | 128));
      collected_[count_++] = static_cast<char>(rest);
    } else if constexpr (std::is_same_v<T, Text>) {
      put(value.size());
      flush();
      table_ += value;
    } else if constexpr (std::is_same_v<T, GraphRecord>) {
      put(value.name);
    } else if constexpr (requires { value.item(0); }) {
      put(value.size);
      for (std::size_t i = 0; i < value.size; ++i) put(value.item(i));
    } else if constexpr (requires { value.begin(); }) {
      put(value.size());
      for (const auto& item : value) put(item);
    } else {
      each_field(*this, value);
    }
  }
  constexpr void flush() {
    table_ += std::string_view(collected_, count_);
    count_ = 0;
  }

  static constexpr std::size_t room = 256, most_of_number = 10;
  Text& table_;
  char collected_[room];  // not written from count_ on
  std::size_t count_ = 0;
};

/// A list whose items are computed when they are written.
template <class Item>
struct MadeList {
  std::size_t size;
  Item item;  ///< item(i) returns item i
};

class BodyRecorder {
 public:
  constexpr BodyRecorder(const TileDraft& draft, const Plan& plan, BodyId body) : draft_(draft), plan_(plan), body_(body) {}

  constexpr void write(const BodyTiles& tiles, TileTableWriter& table) const {
    const MadeList storages{draft_.storages.size(), [this](std::size_t s) { return storage(StorageId(s)); }};
    const MadeList steps{draft_.groups.size(), [this](std::size_t g) { return step(g); }};
    table(body_);
    each_part(table, storages, tiles.frames, draft_.tiles.rooms, steps);
  }

 private:
  constexpr StorageRecord storage(StorageId s) const {
    const Storage& storage = draft_.storages[s];
    if (storage.reuses != StorageId::none || storage.internal) return {.owner = static_cast<int>(draft_.owner(s))};
    return {.kind = storage.begins_undefined ? StorageKind::undefined_owner : StorageKind::owner,
            .dtype = storage.whole.dtype,
            .elements = storage.whole.shape.nelms(),
            .location = storage.location,
            .layout = draft_.tiles.layouts[s]};
  }
  constexpr StepRecord step(std::size_t g) const {
    const Operation& first = draft_.operation(draft_.groups[g].members[0]);
    StepRecord result{.graph = static_cast<int>(first.graph), .scope = first.scope};
    if (first.loads_code) return result;
    if (first.is_call()) describe_call(first, result);
    else describe_group(g, result);
    return result;
  }
  constexpr void describe_group(std::size_t g, StepRecord& step) const {
    const TileGroup& tiles = draft_.tiles.groups[g];
    step.use = StepUse::computes;
    for (const Member& member : draft_.groups[g].members) {
      const OpInfo& op = *draft_.operation(member).op;
      step.runs_once = step.runs_once || (op.has_side_effect && !op.transfer && !op.collective_items);
    }
    step.is_tile_copy = draft_.operation(draft_.groups[g].members[0]).op->result_placement != nullptr;
    step.grid = tiles.grid;
    step.tile_operands = tiles.operands;
    const Step& planned = plan_.steps[static_cast<std::size_t>(plan_.bodies[body_].first_step) + g];
    const ComputeSet& set = plan_.compute_sets[planned.compute_set];
    step.location_storages = List<int>(static_cast<std::size_t>(planned.location_count), -1);
    for (int m = 0; m < set.stage_count; ++m) {
      const Stage& stage = plan_.stages[set.first_stage + m];
      const Operation& operation = draft_.operation(draft_.groups[g].members[m]);
      for (int o = 0; o < stage.operand_count; ++o)
        if (const StageOperand& operand = plan_.operands[stage.first_operand + o]; operand.source == Source::memory)
          step.location_storages[operand.index] = static_cast<int>(draft_.owner(operation.operands[o].storage));
    }
  }
  constexpr void describe_call(const Operation& call, StepRecord& step) const {
    const Calling& calling = call.calling;
    step.use = StepUse::calls;
    step.input_count = call.input_count;
    step.inputs = calling.inputs;
    step.outputs = calling.outputs;
    step.else_inputs = calling.else_inputs;
    step.else_outputs = calling.else_outputs;
    step.carried = calling.loop ? static_cast<int>(calling.loop->carried) : 0;
    step.call_values = call.operands;
  }

  const TileDraft& draft_;
  const Plan& plan_;
  BodyId body_;
};

}  // namespace detail

/// Appends a body that has its steps in the plan. Bodies are written in the order of planning, called ones first.
constexpr void write_tiles(const TileDraft& draft, const TileHomes& homes, BodyId body, Plan& plan) {
  detail::TileTableWriter table(plan.tile_table);
  detail::BodyRecorder(draft, plan, body).write(homes.bodies[body], table);
}

/// Ends the table: the homes with their addresses on tiles, the steps whose cycles depend on banks, and the names of scopes and
/// graphs.
constexpr void write_homes(const Ir& ir, const TileHomes& homes, const IpuModel& model, Plan& plan) {
  detail::TileTableWriter table(plan.tile_table);
  table(BodyId::none);
  const BankRules rules = bank_rules(model);
  each_shared_part(table, homes.variables, homes.constants, rules, homes.bank_steps);
  table(ir.tables.name_scopes, ir.tables.graphs);
}

}  // namespace tilewright::internal
