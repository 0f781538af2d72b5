#pragma once
// takes: operations with work
// gives: groups: each operation is in one
// keeps: storages, operands and work; the order of operations that share memory
#include <algorithm>
#include <limits>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/alignment.hpp"
#include "tilewright/lower/draft/tile_fit.hpp"

namespace tilewright::internal {

namespace detail {

constexpr std::int64_t largest_operand(const Operation& operation) {
  std::int64_t largest = 1;
  for (const Value& value : operation.operands) largest = (std::max)(largest, value.spec.nelms());
  return largest;
}
/// Returns the points of the work, or the elements of the largest operand if these are more.
constexpr std::int64_t cost_of(const Operation& operation, std::int64_t largest) {
  std::int64_t points = 1;
  for (const WorkAxis& axis : operation.work.axes) points *= axis.extent;
  return (std::max)(points, largest);
}
/// Largest cost_of of an operation that moves to the front: a larger result would be live from the start of the body on. Adam's
/// step of MNIST has such operations, of one element; up to 1024 no benchmark has others.
inline constexpr std::int64_t small_cost = 64;
/// Returns whether the op uses elements of its largest operand more than twice each, as matrix products do.
constexpr bool is_heavy(std::int64_t cost, std::int64_t largest) { return cost > 2 * largest; }
/// Returns the dtype that determines the vertices of a group.
constexpr DType dtype_of(const BodyDraft& draft, const Group& group) {
  const Operation& first = draft.operation(group.members[0]);
  return first.operands[first.input_count].spec.dtype;
}

/// Forms groups of operations.
class Fuser {
 public:
  constexpr Fuser(BodyDraft& draft, const Target& target, FitRule fit)
      : draft_(draft), target_(target), fit_(fit), writer_(draft.storages.size(), -1), user_(draft.storages.size(), -1) {}

  constexpr void run() {
    if (target_.fuses) move_small_first();
    note_costs();
    join_consumers();
    if (target_.fuses) {
      join_producers();
      share_passes();
    }
    erase_if(draft_.groups, [](const Group& group) { return group.members.empty(); });
  }

 private:
  constexpr Group& group(int i) { return draft_.groups[i]; }
  /// Calls f(number of a storage, whether it is written) for every operand of a group. Makes no other calls for an operand,
  /// because compilers pay for each.
  constexpr void for_each_use(const Group& group, auto f) const {
    for (const Member& member : group.members) {
      const Operation& operation = draft_.operation(member);
      const Value* const operands = operation.operands.data();
      for (int o = 0, inputs = operation.input_count, end = static_cast<int>(operation.operands.size()); o < end; ++o)
        f(static_cast<int>(operands[o].storage), o >= inputs);
    }
  }

  /// Moves small operations that read only variables and inputs to the front, such as the step of an optimiser or a factor.
  /// This lets operations that read their results join other groups.
  constexpr void move_small_first() {
    PerStorage<bool> used(draft_.storages.size(), false), written(used);  // by operations that stay where they are
    List<int> first, rest;  // numbers: to move an operation is dear for compilers
    for (std::size_t i = 0; i < draft_.operations.size(); ++i) {
      const Operation& operation = draft_.operations[i];
      bool moves = is_free(operation) && cost_of(operation, largest_operand(operation)) <= small_cost;
      for (std::size_t o = 0; moves && o < operation.operands.size(); ++o)
        moves = !(operation.is_output(static_cast<int>(o)) ? used : written)[operation.operands[o].storage];
      for (std::size_t o = 0; !moves && o < operation.operands.size(); ++o) {
        used[operation.operands[o].storage] = true;
        if (operation.is_output(static_cast<int>(o))) written[operation.operands[o].storage] = true;
      }
      (moves ? first : rest).push_back(static_cast<int>(i));
    }
    if (first.empty() || first.back() == static_cast<int>(first.size()) - 1) return;  // they are in front
    List<Operation> ordered;
    ordered.reserve(draft_.operations.size());
    for (int i : first) ordered.push_back(std::move(draft_.operations[i]));
    for (int i : rest) ordered.push_back(std::move(draft_.operations[i]));
    draft_.operations = std::move(ordered);
  }
  constexpr void note_costs() {
    costs_.reserve(draft_.operations.size());
    heavy_.reserve(draft_.operations.size());
    for (const Operation& operation : draft_.operations) {
      const std::int64_t largest = largest_operand(operation), cost = cost_of(operation, largest);
      costs_.push_back(cost);
      heavy_.push_back(is_heavy(cost, largest));
    }
  }
  /// Lets each operation join the last group that writes one of its inputs, or start a new group.
  constexpr void join_consumers() {
    draft_.groups.reserve(draft_.operations.size());
    for (std::size_t i = 0; i < draft_.operations.size(); ++i) {
      const Operation& operation = draft_.operations[i];
      Group single = group_of(static_cast<int>(i));
      // a product that leaves partials is heavy, but works on no more than the block that this vertex wrote
      const bool may_join = target_.fuses && is_free(operation) && (!heavy_[i] || operation.partial);
      const int producer = may_join ? last_producer(operation) : -1;
      if (producer >= 0 && takes_members(group(producer)) && may_move(single, producer) && try_merge(producer, single)) {
        note_use(single, producer);
        continue;
      }
      draft_.groups.push_back(std::move(single));
      note_use(draft_.groups.back(), static_cast<int>(draft_.groups.size()) - 1);
    }
  }
  /// Moves a group without products down to the first group that reads its results, such as the other branch of a sum.
  constexpr void join_producers() {
    constexpr int never = (std::numeric_limits<int>::max)();
    PerStorage<int> next_uses(draft_.storages.size(), never), next_writes(next_uses);
    int* const next_use = next_uses.data();
    int* const next_write = next_writes.data();
    for (std::size_t i = draft_.groups.size(); i-- > 0;) {
      Group& moved = draft_.groups[i];
      int user = never, overwritten = never;
      for_each_use(moved, [&](int storage, bool writes) {
        if (writes && next_use[storage] < user) user = next_use[storage];
        if (next_write[storage] < overwritten) overwritten = next_write[storage];
      });
      int position = static_cast<int>(i);
      if (user != never && user <= overwritten && takes_members(moved) && !has_heavy_member(moved) &&
          takes_members(group(user)) && !has_heavy_member(group(user)) && try_merge(position, group(user))) {
        group(user) = std::exchange(moved, Group{});
        position = user;
      }
      for_each_use(group(position), [&](int storage, bool writes) {
        if (position < next_use[storage]) next_use[storage] = position;
        if (writes && position < next_write[storage]) next_write[storage] = position;
      });
    }
  }
  /// Lets a group with a product that changes a tensor in place join the last group with a product that read the tensor, such
  /// as the product by a weight in the backward pass. So the weight passes through the caches once for both.
  constexpr void share_passes() {
    std::fill(writer_.begin(), writer_.end(), -1);
    std::fill(user_.begin(), user_.end(), -1);
    for (std::size_t i = 0; i < draft_.groups.size(); ++i) {
      if (draft_.groups[i].members.empty()) continue;
      const int reader = has_heavy_member(draft_.groups[i]) ? last_reader_of_changed(draft_.groups[i]) : -1;
      if (reader >= 0 && has_heavy_member(group(reader)) && takes_members(group(reader)) && may_move(draft_.groups[i], reader) &&
          try_merge(reader, draft_.groups[i])) {
        note_use(draft_.groups[i], reader);
        draft_.groups[i].members.clear();
        continue;
      }
      note_use(draft_.groups[i], static_cast<int>(i));
    }
  }

  constexpr Group group_of(int number) const {
    const Operation& operation = draft_.operations[number];
    Group result;
    result.members.push_back({number});
    result.cost = costs_[number];
    result.grid = operation.work.axes;
    for (int axis = 0; axis < operation.work.axes.size(); ++axis)
      result.members.back().grid_axis.push_back(static_cast<std::int8_t>(axis));
    return result;
  }
  /// Returns whether an operation may be in a group with others.
  static constexpr bool is_free(const Operation& operation) {
    if (operation.is_call() || operation.stream >= 0 || operation.alone) return false;
    for (const WorkAxis& axis : operation.work.axes)
      if (axis.kind == WorkAxisKind::reduction) return false;  // it is cut: other sums are whole
    return true;
  }
  constexpr bool takes_members(const Group& group) const { return is_free(draft_.operation(group.members[0])); }
  constexpr bool has_heavy_member(const Group& group) const {
    for (const Member& member : group.members)
      if (heavy_[member.operation]) return takes_members(group);
    return false;
  }
  constexpr int last_producer(const Operation& operation) const {
    int last = -1;
    for (int i = 0; i < operation.input_count; ++i) last = (std::max)(last, writer_[operation.operands[i].storage]);
    return last;
  }
  constexpr int last_reader_of_changed(const Group& group) const {
    int last = -1;
    for (const Member& member : group.members) {
      const Operation& operation = draft_.operation(member);
      if (operation.op->modifies >= 0) last = (std::max)(last, user_[operation.operands[operation.op->modifies].storage]);
    }
    return last;
  }
  /// Returns whether a group may run as part of an earlier one: no group after that one writes its operands, or uses its results.
  constexpr bool may_move(const Group& moved, int earlier) const {
    const int* const users = user_.data();
    const int* const writers = writer_.data();
    bool may = true;
    for_each_use(moved, [&](int storage, bool writes) { may = may && (writes ? users : writers)[storage] <= earlier; });
    return may;
  }
  constexpr bool try_merge(int first, const Group& second) {
    Group& group = draft_.groups[first];
    if (draft_.operation(group.members[0]).placement != draft_.operation(second.members[0]).placement) return false;
    if (group.members.size() + second.members.size() > max_stages) return false;
    if (operand_count(group) + operand_count(second) > max_locations) return false;
    const Alignment alignment(draft_, group, second);
    const FixedVector<WorkAxis, max_work_axes> grid = alignment.merged_grid();
    const DType dtype = dtype_of(draft_, group);  // vertices here are those before blocks are made smaller: see partition.hpp
    const Partition first_cut = partition(group.grid, dtype, target_);
    const Partition merged_cut = grid == group.grid ? first_cut : partition(grid, dtype, target_);
    const Partition second_cut = partition(second.grid, dtype_of(draft_, second), target_);
    if (!alignment.keeps_parts(first_cut, second_cut, merged_cut)) return false;
    // blocks of products stay as square as they are
    if (has_heavy_member(group) && !alignment.keeps_cuts_of_first(first_cut)) return false;
    if (has_heavy_member(second) && !alignment.keeps_cuts_of_second(second_cut)) return false;
    const std::int64_t before = group.cost / first_cut.vertices + second.cost / second_cut.vertices + target_.barrier_cost;
    if ((group.cost + second.cost) / merged_cut.vertices > before) return false;
    if (target_.checks_memory()) {
      Group merged = group;
      alignment.merge_into(merged, grid);
      if (outgrows_tiles(group, second, merged)) return false;
    }
    alignment.merge_into(group, grid);
    return true;
  }
  /// Returns whether vertices of a merged group are larger than a tile has room for, and larger than those of each group alone.
  constexpr bool outgrows_tiles(const Group& first, const Group& second, const Group& merged) const {
    const auto bytes_of = [&](const Group& group) { return fit_(draft_, group, target_).bytes; };
    const std::int64_t bytes = bytes_of(merged);
    return bytes > vertex_limit(target_) && bytes > bytes_of(first) && bytes > bytes_of(second);
  }
  constexpr int operand_count(const Group& group) const {
    std::size_t count = 0;
    for (const Member& member : group.members) count += draft_.operation(member).operands.size();
    return static_cast<int>(count);
  }
  constexpr void note_use(const Group& used, int number) {
    int* const users = user_.data();
    int* const writers = writer_.data();
    for_each_use(used, [&](int storage, bool writes) {
      if (users[storage] < number) users[storage] = number;
      if (writes && writers[storage] < number) writers[storage] = number;
    });
  }

  BodyDraft& draft_;
  const Target& target_;
  FitRule fit_;
  List<std::int64_t> costs_{};  // by operation
  List<bool> heavy_{};  // by operation: is_heavy
  PerStorage<int> writer_, user_;  // the last group so far that writes it, or that uses it; -1: none
};

}  // namespace detail

/// Forms the groups of a draft, in four passes over its operations. docs/how-it-works/architecture.md explains which operations
/// move where, and under which conditions. There is no barrier between operations of a group, and a result need not leave the
/// core. If the target checks memory, a group has room by the machine's rule.
constexpr void fuse(BodyDraft& draft, const Target& target, detail::FitRule fit = detail::fit_tiles) {
  detail::Fuser(draft, target, fit).run();
}

}  // namespace tilewright::internal
