#pragma once
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/split_reductions.hpp"

namespace tilewright {

namespace detail {

/// What it is worth that workers need not meet and a result stays near, in multiply-adds of one of them: a rough price. W1, W1a, W1h
/// and W3 of ./dev bench have other groups at an eighth of it, W5 at an eighth and at eight times as much.
inline constexpr std::int64_t barrier_cost = 4096;

constexpr std::int64_t largest_operand(const Operation& operation) {
  std::int64_t largest = 1;
  for (const Value& value : operation.operands) largest = std::max(largest, value.spec.nelms());
  return largest;
}
constexpr std::int64_t cost_of(const Operation& operation) {
  std::int64_t points = 1;
  for (const WorkAxis& axis : operation.work.axes) points *= axis.extent;
  return std::max(points, largest_operand(operation));
}
/// Whether the op does much for each of its operands' elements, as matrix products do.
constexpr bool is_heavy(const Operation& operation) { return cost_of(operation) > 2 * largest_operand(operation); }
constexpr Partition partition(const BodyDraft& draft, const Group& group, const Target& target) {
  const Operation& first = draft.operation(group.members[0]);
  return partition(group.grid, first.operands[static_cast<std::size_t>(first.input_count)].spec.dtype, target);
}

/// By axis of an operand: the axis of the grid that it is cut along, or -1.
using GridAxes = std::array<std::int8_t, max_rank>;
constexpr GridAxes grid_axes_of(const Operation& operation, const Member& member, int operand) {
  GridAxes result{};
  for (int axis = 0; axis < max_rank; ++axis) {
    const int followed = operation.work.follows(operand, axis);
    result[static_cast<std::size_t>(axis)] = static_cast<std::int8_t>(followed < 0 ? -1 : member.grid_axis[followed]);
  }
  return result;
}

/// How a second group can be cut along the grid of a first one, so that each vertex needs of what the other group makes or
/// changes only what the same vertex of that group has.
class Alignment {
 public:
  constexpr Alignment(const BodyDraft& draft, const Group& first, const Group& second) : first_(first), second_(second) {
    for (int axis = 0; axis < first.grid.size(); ++axis) {
      cuttable_.push_back(is_cut_always(first.grid[axis].kind));
      second_of_.push_back(-1);
    }
    for (int axis = 0; axis < second.grid.size(); ++axis) first_of_.push_back(-1);
    for_each_operand(draft, second, [&](const Operation& operation, int o, const Member& member) {
      const Value& b = operation.operands[at(o)];
      for_each_operand(draft, first, [&](const Operation& other, int p, const Member& other_member) {
        const Value& a = other.operands[at(p)];
        if (a.storage == b.storage && (operation.is_output(o) || other.is_output(p)))
          align(a, grid_axes_of(other, other_member, p), b, grid_axes_of(operation, member, o));
      });
    });
    for (int axis = 0; axis < cuttable_.size(); ++axis) {
      const int other = second_of_[axis];
      if (other < 0 || !is_cut_always(second.grid[other].kind) || (whole_of_second_ >> other & 1) != 0) cuttable_[axis] = 0;
    }
  }
  /// Whether what is cut in each group alone may still be cut when they are one.
  constexpr bool keeps_cuts_of_first(const Partition& cut) const {
    for (int axis = 0; axis < cuttable_.size(); ++axis)
      if (cut.blocks[axis] < first_.grid[axis].extent && cuttable_[axis] == 0) return false;
    return true;
  }
  constexpr bool keeps_cuts_of_second(const Partition& cut) const {
    for (int axis = 0; axis < first_of_.size(); ++axis)
      if (cut.blocks[axis] < second_.grid[axis].extent && (first_of_[axis] < 0 || cuttable_[first_of_[axis]] == 0)) return false;
    return true;
  }
  /// Whether there are as many parts of sums as each group alone has.
  constexpr bool keeps_parts(const Partition& first_cut, const Partition& second_cut, const Partition& merged_cut) const {
    for (int axis = 0; axis < first_of_.size(); ++axis)
      if (second_.grid[axis].kind == WorkAxisKind::summed && (first_of_[axis] < 0 || cuttable_[first_of_[axis]] == 0 ||
                                                              merged_cut.blocks[first_of_[axis]] != second_cut.blocks[axis]))
        return false;
    for (int axis = 0; axis < cuttable_.size(); ++axis)
      if (first_.grid[axis].kind == WorkAxisKind::summed &&
          (cuttable_[axis] == 0 || merged_cut.blocks[axis] != first_cut.blocks[axis]))
        return false;
    return true;
  }
  /// Both groups as one: only the axes that both can be cut along are still cut.
  constexpr Group merged() const {
    Group result = first_;
    result.cost += second_.cost;
    for (int axis = 0; axis < result.grid.size(); ++axis) {
      WorkAxis& common = result.grid[axis];
      if (cuttable_[axis] == 0) {
        common.kind = WorkAxisKind::whole;
        continue;
      }
      const WorkAxis& other = second_.grid[second_of_[axis]];
      common.grain = std::max(common.grain, other.grain);
      common.vectorised = common.vectorised || other.vectorised;
      if (other.kind == WorkAxisKind::summed) common.kind = WorkAxisKind::summed;
    }
    for (const Member& member : second_.members) {
      result.members.push_back(member);
      auto& axes = result.members.back().grid_axis;
      for (int axis = 0; axis < axes.size(); ++axis)
        if (axes[axis] >= 0) axes[axis] = first_of_[axes[axis]];
    }
    return result;
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// Matches the axes of two views of the same memory by their extents and strides.
  constexpr void align(const Value& a, const GridAxes& axes_of_a, const Value& b, const GridAxes& axes_of_b) {
    int unmatched = 0;
    for (int axis = 0; axis < a.spec.shape.rank; ++axis) unmatched += a.spec.shape[axis] != 1;
    bool fits = a.spec.dtype == b.spec.dtype && a.layout.offset == b.layout.offset;
    for (int axis = 0; fits && axis < b.spec.shape.rank; ++axis) {
      if (b.spec.shape[axis] == 1) continue;
      int match = 0;
      while (match < a.spec.shape.rank &&
             (a.spec.shape[match] != b.spec.shape[axis] || a.layout.strides[at(match)] != b.layout.strides[at(axis)]))
        ++match;
      fits = match < a.spec.shape.rank;
      --unmatched;
      if (fits) pair(axes_of_a[at(match)], axes_of_b[at(axis)]);
    }
    if (fits && unmatched == 0) return;
    for (int axis = 0; axis < cuttable_.size(); ++axis) cuttable_[axis] = 0;  // one vertex makes all of it before it takes any
  }
  /// An axis of the memory is cut along these axes of the two grids, or by none (-1).
  constexpr void pair(int first, int second) {
    if (first >= 0 && second >= 0 && second_of_[first] < 0 && first_of_[second] < 0) {
      second_of_[first] = static_cast<std::int8_t>(second);
      first_of_[second] = static_cast<std::int8_t>(first);
    } else if (first >= 0 && second_of_[first] != second) {
      cuttable_[first] = 0;
    }
    if (second >= 0 && first_of_[second] != first && first_of_[second] >= 0) cuttable_[first_of_[second]] = 0;
    if (second >= 0 && first < 0) whole_of_second_ |= 1u << second;
  }

  const Group& first_;
  const Group& second_;
  FixedVector<std::int8_t, max_work_axes> first_of_{};                        // by axis of the second grid, or -1
  FixedVector<std::int8_t, max_work_axes> second_of_{}, cuttable_{};          // by axis of the first grid
  unsigned whole_of_second_ = 0;  // bits of axes of the second grid that a vertex needs whole
};

/// Makes groups of operations.
class Fuser {
 public:
  constexpr Fuser(BodyDraft& draft, const Target& target)
      : draft_(draft), target_(target), writer_(draft.storages.size(), -1), user_(draft.storages.size(), -1) {}

  constexpr void run() {
    if (target_.fuses) move_small_first();
    join_consumers();
    if (target_.fuses) {
      join_producers();
      share_passes();
    }
    erase_if(draft_.groups, [](const Group& group) { return group.members.empty(); });
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  constexpr Group& group(int i) { return draft_.groups[at(i)]; }

  /// What is computed from variables and inputs alone, and is hardly any work, comes first: the step of an optimiser, a factor.
  /// What reads it is then free to join others.
  constexpr void move_small_first() {
    constexpr std::int64_t small = barrier_cost / 64;
    List<char> used(draft_.storages.size(), 0), written(used);  // by operations that stay where they are
    List<Operation> first, rest;
    for (Operation& operation : draft_.operations) {
      bool moves = is_free(operation) && cost_of(operation) <= small;
      for (std::size_t o = 0; moves && o < operation.operands.size(); ++o)
        moves = (operation.is_output(static_cast<int>(o)) ? used : written)[at(operation.operands[o].storage)] == 0;
      for (std::size_t o = 0; !moves && o < operation.operands.size(); ++o) {
        used[at(operation.operands[o].storage)] = 1;
        if (operation.is_output(static_cast<int>(o))) written[at(operation.operands[o].storage)] = 1;
      }
      (moves ? first : rest).push_back(std::move(operation));
    }
    for (Operation& operation : rest) first.push_back(std::move(operation));
    draft_.operations = std::move(first);
  }
  /// Each operation joins the group that makes the last of its inputs, or is the first of a new one.
  constexpr void join_consumers() {
    draft_.groups.reserve(draft_.operations.size());
    for (std::size_t i = 0; i < draft_.operations.size(); ++i) {
      const Operation& operation = draft_.operations[i];
      Group single = group_of(static_cast<int>(i));
      // a product that leaves parts of sums for later does as little as it can for what this vertex made
      const bool may_join = target_.fuses && is_free(operation) && (!is_heavy(operation) || operation.partial);
      const int producer = may_join ? last_producer(operation) : -1;
      if (producer >= 0 && takes_members(group(producer)) && may_move(single, producer) && try_merge(producer, single)) {
        note_use(single, producer);
        continue;
      }
      draft_.groups.push_back(std::move(single));
      note_use(draft_.groups.back(), static_cast<int>(draft_.groups.size()) - 1);
    }
  }
  /// A group that has little to compute moves down to the first one that uses its results, such as the other branch of a sum.
  constexpr void join_producers() {
    constexpr int never = std::numeric_limits<int>::max();
    List<int> next_use(draft_.storages.size(), never), next_write(next_use);
    for (std::size_t i = draft_.groups.size(); i-- > 0;) {
      Group& moved = draft_.groups[i];
      int user = never, overwritten = never;
      for_each_operand(draft_, moved, [&](const Operation& operation, int o, const Member&) {
        const std::size_t storage = at(operation.operands[at(o)].storage);
        if (operation.is_output(o)) user = std::min(user, next_use[storage]);
        overwritten = std::min(overwritten, next_write[storage]);
      });
      int place = static_cast<int>(i);
      if (user != never && user <= overwritten && takes_members(moved) && !has_heavy_member(moved) &&
          takes_members(group(user)) && !has_heavy_member(group(user)) && try_merge(place, group(user))) {
        group(user) = std::exchange(moved, Group{});
        place = user;
      }
      for_each_operand(draft_, group(place), [&](const Operation& operation, int o, const Member&) {
        const std::size_t storage = at(operation.operands[at(o)].storage);
        next_use[storage] = std::min(next_use[storage], place);
        if (operation.is_output(o)) next_write[storage] = std::min(next_write[storage], place);
      });
    }
  }
  /// A group that changes a tensor in place, and has much to compute, joins the last group that read the tensor for as much, such
  /// as the product by a weight in the backward pass: the weight goes through the caches once for both.
  constexpr void share_passes() {
    std::ranges::fill(writer_, -1);
    std::ranges::fill(user_, -1);
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
    const Operation& operation = draft_.operations[at(number)];
    Group result;
    result.members.push_back({number});
    result.cost = cost_of(operation);
    result.grid = operation.work.axes;
    for (int axis = 0; axis < operation.work.axes.size(); ++axis)
      result.members.back().grid_axis.push_back(static_cast<std::int8_t>(axis));
    return result;
  }
  /// Whether an operation may be in a group with others.
  static constexpr bool is_free(const Operation& operation) {
    if (operation.is_call() || operation.stream >= 0 || operation.alone) return false;
    for (const WorkAxis& axis : operation.work.axes)
      if (axis.kind == WorkAxisKind::reduction) return false;  // one that is cut: others are whole
    return true;
  }
  constexpr bool takes_members(const Group& group) const { return is_free(draft_.operation(group.members[0])); }
  constexpr bool has_heavy_member(const Group& group) const {
    for (const Member& member : group.members)
      if (is_heavy(draft_.operation(member))) return takes_members(group);
    return false;
  }
  constexpr int last_producer(const Operation& operation) const {
    int last = -1;
    for (int i = 0; i < operation.input_count; ++i) last = std::max(last, writer_[at(operation.operands[at(i)].storage)]);
    return last;
  }
  constexpr int last_reader_of_changed(const Group& group) const {
    int last = -1;
    for (const Member& member : group.members) {
      const Operation& operation = draft_.operation(member);
      if (operation.op->modifies >= 0) last = std::max(last, user_[at(operation.operands[at(operation.op->modifies)].storage)]);
    }
    return last;
  }
  /// Whether all that a group reads is there when an earlier group runs, and nobody later wants what it overwrites.
  constexpr bool may_move(const Group& moved, int earlier) const {
    bool may = true;
    for_each_operand(draft_, moved, [&](const Operation& operation, int i, const Member&) {
      const std::size_t storage = at(operation.operands[at(i)].storage);
      may = may && (operation.is_output(i) ? user_[storage] : writer_[storage]) <= earlier;
    });
    return may;
  }
  constexpr bool try_merge(int first, const Group& second) {
    Group& group = draft_.groups[at(first)];
    if (group.members.size() + second.members.size() > max_stages) return false;
    if (operand_count(group) + operand_count(second) > max_locations) return false;
    const Alignment alignment(draft_, group, second);
    Group merged = alignment.merged();
    const Partition first_cut = partition(draft_, group, target_), second_cut = partition(draft_, second, target_);
    const Partition merged_cut = partition(draft_, merged, target_);
    if (!alignment.keeps_parts(first_cut, second_cut, merged_cut)) return false;
    // blocks of products stay as square as they are
    if (has_heavy_member(group) && !alignment.keeps_cuts_of_first(first_cut)) return false;
    if (has_heavy_member(second) && !alignment.keeps_cuts_of_second(second_cut)) return false;
    const std::int64_t before = group.cost / first_cut.vertices + second.cost / second_cut.vertices + barrier_cost;
    if (merged.cost / merged_cut.vertices > before) return false;
    group = std::move(merged);
    return true;
  }
  constexpr int operand_count(const Group& group) const {
    std::size_t count = 0;
    for (const Member& member : group.members) count += draft_.operation(member).operands.size();
    return static_cast<int>(count);
  }
  constexpr void note_use(const Group& used, int number) {
    for_each_operand(draft_, used, [&](const Operation& operation, int i, const Member&) {
      const std::size_t storage = at(operation.operands[at(i)].storage);
      user_[storage] = std::max(user_[storage], number);
      if (operation.is_output(i)) writer_[storage] = std::max(writer_[storage], number);
    });
  }

  BodyDraft& draft_;
  const Target& target_;
  List<int> writer_, user_;  // by storage: the last group that writes it, or uses it at all
};

}  // namespace detail

/// Makes the groups of a draft: operations that each vertex runs one after the other on its block of a common grid. What an
/// operation passes on to the next of its group needs not leave the core, and workers need not meet in between. An operation
/// moves up to the group that makes its last input, if it does little for each element: an activation, a bias, a softmax, the
/// update of a weight. The update of a weight then moves up to the last product that reads the weight.
constexpr void fuse(BodyDraft& draft, const Target& target) { detail::Fuser(draft, target).run(); }

}  // namespace tilewright
