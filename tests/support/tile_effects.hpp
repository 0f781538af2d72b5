#pragma once
// What a plan does on tiles, as numbers: a plain model that shares nothing with tilewright/verified. Two plans with equal numbers
// have every element at the same place, access the same elements there, and count the same bytes.
#include <algorithm>

#include "plan_effects.hpp"
#include "tile_data.hpp"

namespace tile_faults {

using Numbers = std::vector<std::int64_t>;

/// Collects the numbers of a plan, without barriers and the addresses, sizes and lifetimes of rooms.
class TileEffects {
 public:
  TileEffects(const Plan& plan, const TileData& data, const TileSets& sets) : plan_(plan), sets_(sets) {
    for (const TileBody& body : data.bodies) {
      for (std::size_t s = 0; s < body.storages.size(); ++s) storage(body, static_cast<int>(s));
      for (std::size_t g = 0; g < body.steps.size(); ++g) step(body, static_cast<int>(g));
    }
    for (const List<Home>* homes : {&data.variables, &data.constants})
      for (const Home& home : *homes) add(homes->size(), home.offset, home.address);
    add(data.bank_rules.distance, data.bank_rules.interleaved_bytes);
    for (const auto& each : data.bank_steps)
      add(static_cast<int>(each.body), each.group, each.x.operand, each.y.operand, each.result.operand,
          banks_of(static_cast<std::size_t>(plan.bodies[each.body].first_step + each.group), each.banks));
    for (const Step& each : plan.steps) add(each.vertices, each.ipu, each.from_ipu);
    for (std::size_t i = 0; i < plan.moves.size(); ++i) {
      const StepMoves& each = plan.moves[i];
      for (const TileExchange* moved : {&each.before, &each.after})
        add(moved->bytes_in, moved->pair_bytes_in, moved->bytes_out, moved->fragments, moved->sends, moved->total_bytes);
      add(each.local_bytes, each.transposed_bytes, each.host_in, each.host_out, each.set, each.from_set, banks_of(i, each.banks));
    }
    cycles(plan.cycles);
    for (const auto& use : plan.step_cycles) cycles(use);
    add(plan.remote.cycles);
    for (const auto& set : plan.compute_sets) add(set.traffic.cycles);
    for (const auto& use : plan.tile_sets) cycles(use.cycles), add(use.ipu, use.is_io, use.frame_address), memory(use.tile);
    memory(plan.tile);
    add(plan.memory.fullest_tile);
    for (const auto& each : plan.exchanges) add(each.first_step, each.step_count);
  }
  const Numbers& numbers() const { return numbers_; }

 private:
  void add(auto... values) { (numbers_.push_back(static_cast<std::int64_t>(values)), ...); }
  void memory(const tw::TileMemory& tile) { add(tile.variables, tile.constants, tile.frame, tile.padding, tile.code.total()); }
  void cycles(const tw::CycleUse& use) {
    add(use.compute, use.exchange, use.sync, use.host, use.remote, use.collectives, use.links, use.waiting, use.assumed,
        use.flops);
  }
  /// Only scaled additions are faster in interleaved memory than in different banks.
  std::int64_t banks_of(std::size_t step, tw::OperandBanks banks) const {
    if (banks != tw::OperandBanks::interleaved || plan_.steps[step].compute_set < 0) return static_cast<int>(banks);
    const auto& set = plan_.compute_sets[plan_.steps[step].compute_set];
    for (int m = 0; m < set.stage_count; ++m)
      if (plan_.stages[set.first_stage + m].name.starts_with("ScaledAdd")) return static_cast<int>(banks);
    return static_cast<int>(tw::OperandBanks::different);
  }
  void storage(const TileBody& body, int s) {
    const StorageRecord& storage = body.storages[s];
    add(s, body.owner(s));
    if (storage.kind == StorageKind::part) return;
    add(static_cast<int>(storage.location.base), storage.location.index, storage.location.offset, storage.elements,
        static_cast<int>(storage.dtype), storage.layout.is_decided());
    if (!storage.layout.is_decided()) return;
    const std::int64_t bytes = tw::size_of(storage.dtype),
                       part = internal::align(storage.layout.block_elements() * bytes, internal::tile_alignment);
    for (std::int64_t e = 0; e < storage.elements; ++e) {
      std::int64_t place = 0, at = 0;
      for (const LayoutAxis& axis : storage.layout.axes) {
        const std::int64_t position = e / axis.stride % axis.extent, block = position / axis.block;
        place += axis.numbering.place(block);
        at = at * std::min(axis.block, axis.extent - block * axis.block) + position % axis.block;
      }
      add(storage.layout.places.tile(place, sets_), storage.layout.places.slot(place, sets_) * part + at * bytes);
    }
  }
  void step(const TileBody& body, int g) {
    const StepRecord& step = body.steps[g];
    const Step& planned = plan_.steps[plan_.bodies[body.id].first_step + g];
    add(g, static_cast<int>(step.use), step.is_tile_copy);
    if (step.use == StepUse::calls) {
      add(step.input_count, step.inputs, step.outputs, step.else_inputs, step.else_outputs, step.carried);
      for (const auto& value : step.call_values)
        add(value.storage == StorageId::none ? -1 : body.owner(static_cast<int>(value.storage)), value.layout.offset);
      return;
    }
    if (step.use != StepUse::computes || planned.compute_set < 0) return;
    const auto& set = plan_.compute_sets[planned.compute_set];
    add(step.grid.axes.size(), set.blocks.size(), step.grid.places.on_a_tile(sets_));
    for (std::int64_t v = 0; v < planned.vertices && step.grid.axes.size() == set.blocks.size(); ++v) {
      std::int64_t rest = v, place = 0;
      for (int axis = set.blocks.size(); axis-- > 0;) {
        const std::int64_t count = internal::block_count(set.extents[axis], set.blocks[axis]);
        place += step.grid.axes[axis].place(rest % count);
        rest /= count;
      }
      add(step.grid.places.tile(place, sets_), step.grid.places.slot(place, sets_));
    }
    for (const int s : step.location_storages) add(s < 0 ? s : body.owner(s));
    for (const TileOperand& operand : step.tile_operands)
      add(static_cast<int>(operand.storage), operand.access == TileAccess::local, operand.slice_elements,
          location_of(set, operand));
  }
  /// The location of the stage's operand; operands of a step at one location, divided alike, are one.
  std::int64_t location_of(const internal::ComputeSet& set, const TileOperand& operand) const {
    if (operand.member < 0 || operand.member >= set.stage_count) return -2;
    const auto& stage = plan_.stages[set.first_stage + operand.member];
    if (operand.operand < 0 || operand.operand >= stage.operand_count) return -2;
    const auto& taken = plan_.operands[stage.first_operand + operand.operand];
    return taken.source == internal::Source::memory ? taken.index : -1;
  }

  const Plan& plan_;
  TileSets sets_;
  Numbers numbers_{};
};

/// Whether the rooms of a changed plan are as good as those of the plan before: as large, as long in use, for the same data, in
/// their frames, and apart from each other.
inline bool has_equal_or_free_rooms(const TileData& before, const TileData& after) {
  bool is_moved = false;
  if (before.bodies.size() != after.bodies.size()) return false;
  for (std::size_t b = 0; b < before.bodies.size(); ++b) {
    const TileBody &old = before.bodies[b], &now = after.bodies[b];
    if (old.rooms.size() != now.rooms.size() || old.frames.size() != now.frames.size()) return false;
    for (std::size_t f = 0; f < old.frames.size(); ++f)
      if (old.frames[f].bytes != now.frames[f].bytes) return false;
    for (std::size_t r = 0; r < old.rooms.size(); ++r) {
      const Room &was = old.rooms[r], &room = now.rooms[r];
      if (was.kind != room.kind || was.set != room.set || was.storage != room.storage) return false;
      if (room.bytes < was.bytes || room.first > was.first || room.last < was.last) return false;
      is_moved = is_moved || room.bytes != was.bytes || room.address != was.address || room.first != was.first ||
                 room.last != was.last;
      if (room.address < 0 || room.address % internal::tile_alignment != 0) return false;
      if (room.address + room.bytes > now.frames[room.set].bytes) return false;
      for (std::size_t q = 0; q < r; ++q)
        if (const Room& other = now.rooms[q]; other.set == room.set && other.first <= room.last && room.first <= other.last &&
                                              other.address < room.address + room.bytes &&
                                              room.address < other.address + other.bytes)
          return false;
    }
  }
  return !is_moved || after.bank_steps.empty();
}

/// Whether a changed plan has the barriers of the plan before, or others that order the same accesses.
inline bool has_equal_or_implied_barriers(const Plan& before, const Plan& after) {
  bool is_equal = true;
  for (std::size_t i = 0; i < before.steps.size(); ++i)
    is_equal = is_equal && before.steps[i].barrier_before == after.steps[i].barrier_before &&
               before.steps[i].joins_ipus == after.steps[i].joins_ipus;
  return is_equal || plan_effects::same_effects(before, after);
}

}  // namespace tile_faults
