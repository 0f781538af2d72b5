#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal {

/// A compute set before it is in a plan, and the locations of the step that runs it. Numbers of operands and strides count from
/// 0.
struct CompiledSet {
  ComputeSet set{};
  List<Stage> stages{};
  List<StageOperand> operands{};
  List<Location> locations{};
  List<std::int64_t> strides{};
  std::int64_t scratch_end = 0;  ///< bytes of scratch that are already used
  std::int64_t collective_items = 1;  ///< of a collective: the parts of its operands, one for each tile; otherwise 1

  /// Returns the number of a location with these strides, one for each axis of the grid, from block to block. Adds a new one if
  /// there is none.
  constexpr int location_for(const Location& location, const FixedVector<std::int64_t, max_work_axes>& location_strides) {
    const auto axes = static_cast<std::size_t>(location_strides.size());
    const Location* const known = locations.data();
    for (std::size_t i = 0, count = locations.size(); i < count; ++i) {
      bool same = known[i].offset == location.offset && known[i] == location;  // the first alone needs no call
      for (std::size_t axis = 0; same && axis < axes; ++axis) same = strides[i * axes + axis] == location_strides.items[axis];
      if (same) return static_cast<int>(i);
    }
    make_room(locations);
    make_room(strides, axes);
    locations.push_back(location);
    for (std::int64_t stride : location_strides) strides.push_back(stride);
    return static_cast<int>(locations.size()) - 1;
  }
  /// Returns the offset of a storage in a vertex's scratch, in bytes. The first call for a storage reserves memory.
  constexpr int scratch_for(StorageId storage, std::int64_t bytes) {
    for (const auto& [known, offset] : scratch_)
      if (known == storage) return offset;
    scratch_.push_back({storage, static_cast<int>(scratch_end)});
    scratch_end += align(bytes);
    return scratch_.back().second;
  }

 private:
  List<Pair<StorageId, int>> scratch_{};  // storages and their offsets
};

/// Finds equal compute sets of a plan, by hash.
class ComputeSets {
 public:
  /// Returns the number of an equal compute set in the plan; adds a new one if there is none.
  constexpr int add(Plan& plan, CompiledSet& set) {
    if (2 * (plan.compute_sets.size() + 1) > table_.size()) grow();
    const std::size_t key = hash(set);
    std::size_t slot = key % table_.size();
    for (; table_[slot].second >= 0; slot = (slot + 1) % table_.size())
      if (table_[slot].first == key && equals(plan, plan.compute_sets[table_[slot].second], set)) return table_[slot].second;
    table_[slot] = {key, static_cast<int>(plan.compute_sets.size())};
    append(plan, set);
    largest_vertex_ = (std::max)(largest_vertex_, bytes_of_vertex(set));
    return table_[slot].second;
  }
  /// Returns the bytes of the largest vertex of all sets: its slices of operands and its scratch.
  constexpr std::int64_t largest_vertex() const { return largest_vertex_; }

 private:
  /// Writes defaults for the axes that the operand does not have: see written_out.
  static constexpr void write_out(StageOperand& operand) {
    for (int axis = operand.view.shape.rank; axis < max_rank; ++axis) {
      operand.view.strides[static_cast<std::size_t>(axis)] = 0;
      operand.grid_axis[axis] = -1;
    }
  }
  /// Returns whether operands are equal after both are written out. Calls are few, because most steps run a known set.
  static constexpr bool equals(const StageOperand& a, const StageOperand& b) {
    const int rank = a.view.shape.rank;
    if (a.index != b.index || a.source != b.source || a.by_image != b.by_image || a.view.dtype != b.view.dtype ||
        b.view.shape.rank != rank)
      return false;
    const std::int64_t* const strides_of_a = a.view.strides.data();
    const std::int64_t* const strides_of_b = b.view.strides.data();
    for (int axis = 0; axis < rank; ++axis)
      if (a.view.shape.extents[axis] != b.view.shape.extents[axis] || strides_of_a[axis] != strides_of_b[axis] ||
          a.grid_axis[axis] != b.grid_axis[axis])
        return false;
    return true;
  }
  /// Returns the bytes of all operands in memory. Counts each location once, and all parts of partials. It makes few calls,
  /// because each call costs the compiler time.
  static constexpr std::int64_t bytes_in_memory(const CompiledSet& set) {
    std::int64_t by_location[max_locations]{}, total = 0;
    const int axes = set.set.blocks.size();
    const std::int64_t* const steps = set.strides.data();
    for (const StageOperand& operand : set.operands) {
      if (operand.source != Source::memory) continue;
      const std::int64_t* const extents = operand.view.shape.extents;
      const std::int64_t* const strides = operand.view.strides.data();
      std::int64_t bytes = size_of(operand.view.dtype);
      unsigned followed = 0;
      for (int axis = 0, rank = operand.view.shape.rank; axis < rank; ++axis) {
        if (strides[axis] != 0) bytes *= extents[axis];
        if (operand.grid_axis[axis] >= 0) followed |= 1u << operand.grid_axis[axis];
      }
      for (int axis = 0; axis < axes; ++axis)
        if ((followed >> axis & 1) == 0 && steps[operand.index * axes + axis] != 0)
          bytes *= block_count(set.set.extents[axis], set.set.blocks[axis]);
      std::int64_t& known = by_location[operand.index];
      if (known >= bytes || set.locations[operand.index].base == Base::position) continue;
      total += bytes - known;
      known = bytes;
    }
    return total;
  }
  static constexpr void append(Plan& plan, CompiledSet& set) {
    set.set.memory_bytes = bytes_in_memory(set);
    set.set.first_stage = static_cast<int>(plan.stages.size());
    set.set.stage_count = static_cast<int>(set.stages.size());
    set.set.first_stride = static_cast<int>(plan.strides.size());
    make_room(plan.stages, set.stages.size());
    for (Stage& stage : set.stages) {
      stage.first_operand += static_cast<int>(plan.operands.size());
      plan.stages.push_back(stage);
    }
    make_room(plan.operands, set.operands.size());
    make_room(plan.strides, set.strides.size());
    make_room(plan.compute_sets);
    for (const StageOperand& operand : set.operands) {
      plan.operands.push_back(operand);
      write_out(plan.operands.back());
    }
    for (std::int64_t stride : set.strides) plan.strides.push_back(stride);
    plan.compute_sets.push_back(set.set);
  }
  static constexpr bool equals(const Plan& plan, const ComputeSet& known, const CompiledSet& set) {
    if (known.blocks != set.set.blocks || known.extents != set.set.extents || known.location_count != set.set.location_count ||
        known.stage_count != static_cast<int>(set.stages.size()))
      return false;
    for (std::size_t s = 0; s < set.stages.size(); ++s) {
      const Stage &a = plan.stages[static_cast<std::size_t>(known.first_stage) + s], &b = set.stages[s];
      if (a.op != b.op || a.attributes != b.attributes || a.evaluation != b.evaluation || a.operand_count != b.operand_count ||
          a.parts != b.parts)
        return false;
      const StageOperand* const known_operands = plan.operands.data() + a.first_operand;
      const StageOperand* const operands = set.operands.data() + b.first_operand;
      for (int o = 0; o < a.operand_count; ++o)
        if (!equals(known_operands[o], operands[o])) return false;
    }
    for (std::size_t i = 0; i < set.strides.size(); ++i)
      if (plan.strides[static_cast<std::size_t>(known.first_stride) + i] != set.strides[i]) return false;
    return true;
  }
  static constexpr std::size_t hash(const CompiledSet& set) {
    std::uint64_t value = 1469598103934665603u;  // FNV-1a, by words
    const auto add = [&value](std::int64_t word) { value = (value ^ static_cast<std::uint64_t>(word)) * 1099511628211u; };
    for (const StageOperand& operand : set.operands) {
      const Shape& shape = operand.view.shape;
      const std::int64_t* const strides = operand.view.strides.data();
      for (int axis = 0; axis < shape.rank; ++axis) add(shape.extents[axis]), add(strides[axis]);
    }
    for (const Stage& stage : set.stages) add(stage.attributes.words[0]), add(stage.attributes.words[1]);
    for (std::int64_t stride : set.strides) add(stride);
    return static_cast<std::size_t>(value);
  }
  static constexpr std::int64_t bytes_of_vertex(const CompiledSet& set) {
    std::int64_t total = set.scratch_end;
    List<bool> seen(set.locations.size(), false);
    for (const StageOperand& operand : set.operands) {
      if (operand.source != Source::memory || std::exchange(seen[operand.index], true)) continue;
      if (set.locations[operand.index].base == Base::position) continue;
      const ViewSpec slice = slice_of(operand, set.set.blocks);
      total += slice.shape.nelms() * size_of(slice.dtype);
    }
    return (total + set.collective_items - 1) / set.collective_items;
  }
  constexpr void grow() {
    const auto old = std::exchange(table_, List<Pair<std::size_t, int>>(2 * table_.size() + 32, {0, -1}));
    for (const auto& entry : old) {
      if (entry.second < 0) continue;
      std::size_t slot = entry.first % table_.size();
      while (table_[slot].second >= 0) slot = (slot + 1) % table_.size();
      table_[slot] = entry;
    }
  }

  List<Pair<std::size_t, int>> table_{};  // (hash, number of the set; -1: free), open addressing, at most half full
  std::int64_t largest_vertex_ = 0;
};

}  // namespace tilewright::internal
