#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tilewright/lower/verify/draft_violation.hpp"

namespace tilewright::internal::detail {

/// Checks groups, their order and their division: the results of fuse and cut_groups.
class GroupsViolation : DraftViolation {
 public:
  using DraftViolation::DraftViolation;

  constexpr Text run() {
    if (after_ >= Pass::fuse) check_groups();
    if (violation_.empty() && after_ >= Pass::fuse) check_order();
    if (violation_.empty()) check_written_before_read();
    if (violation_.empty() && after_ >= Pass::cut_groups) check_cuts();
    return violation_;
  }

 private:
  constexpr void check_groups() {
    List<int> groups_of(draft_.operations.size(), 0);  // by operation: how many groups have it
    for (int g = 0; g < group_count(); ++g) {
      const Group& group = draft_.groups[g];
      if (!expect(!group.members.empty(), "groups have members", -1, "group ", g, " has no operation: at least one expected"))
        return;
      int operands = 0;
      for (const Member& member : group.members) {
        if (!expect(member.operation >= 0 && member.operation < count(), "groups have members", -1, "group ", g,
                    " has operation ", member.operation, ": an operation from 0 to ", count() - 1, " expected"))
          return;
        ++groups_of[member.operation];
        const Operation& operation = draft_.operation(member);
        operands += operand_count(operation);
        const bool is_alone = operation.alone || operation.is_call() || operation.stream >= 0;
        expect(!is_alone || group.members.size() == 1, "some operations are alone", member.operation, "is one of ",
               group.members.size(), " operations in group ", g, ": a group of its own expected");
        if (!operation.is_call()) check_grid(g, group, member, operation);
      }
      expect(group.members.size() <= static_cast<std::size_t>(max_stages), "groups are small", -1, "group ", g, " has ",
             group.members.size(), " operations: at most ", max_stages, " expected");
      expect(group.members.size() == 1 || operands <= max_locations, "groups are small", -1, "group ", g, " has ", operands,
             " operands: at most ", max_locations, " expected");
    }
    for (int i = 0; i < count(); ++i) expect(groups_of[i] == 1, "one group", i, "is in ", groups_of[i], " groups: one expected");
  }
  constexpr void check_grid(int g, const Group& group, const Member& member, const Operation& operation) {
    const int axes = operation.work.axes.size();
    if (!expect(member.grid_axis.size() == axes, "grids fit", member.operation, "has work of ", axes, " axes, of which ",
                member.grid_axis.size(), " have a place in the grid of group ", g, ": a place for each expected"))
      return;
    for (int axis = 0; axis < axes; ++axis) {
      const int cut = member.grid_axis[axis];
      if (!expect(cut >= -1 && cut < group.grid.size(), "grids fit", member.operation, "has axis ", axis, " along axis ", cut,
                  " of the grid of group ", g, ": an axis from 0 to ", group.grid.size() - 1, " expected"))
        return;
      if (cut < 0) continue;
      expect(group.grid[cut].extent == operation.work.axes[axis].extent, "grids fit", member.operation, "has extent ",
             operation.work.axes[axis].extent, " along axis ", cut, " of the grid of group ", g, ": extent ",
             group.grid[cut].extent, " expected");
      expect(group.grid[cut].kind == WorkAxisKind::whole || operation.work.axes[axis].kind != WorkAxisKind::whole, "grids fit",
             member.operation, "needs axis ", axis, " whole, but group ", g, " is cut along it: no cut along it expected");
    }
  }

  /// Checks that operations that share memory run in the order of the draft, whatever groups they are in.
  constexpr void check_order() {
    PerStorage<int> user(draft_.storages.size(), -1), writer(user);  // the last operation in the draft's order so far
    for (const Group& group : draft_.groups)
      for_each_operand(draft_, group, [&](const Operation& operation, int o, const Member& member) {
        const StorageId s = operation.operands[o].storage;
        const int before = operation.is_output(o) ? user[s] : writer[s];
        expect(before <= member.operation, "memory keeps its order", member.operation,
               operation.is_output(o) ? "writes" : "reads", " storage ", s, " after operation ", before,
               ": the order of the draft expected");
        user[s] = (std::max)(user[s], member.operation);
        if (operation.is_output(o)) writer[s] = (std::max)(writer[s], member.operation);
      });
  }
  /// Checks that everything read in the frame, or in a stream to the host, was written.
  constexpr void check_written_before_read() {
    PerStorage<bool> written(draft_.storages.size(), false);
    const auto visit = [&](int i) {
      const Operation& operation = draft_.operations[i];
      for (int o = 0; o < operand_count(operation); ++o) {
        const Value& value = operation.operands[o];
        if (operation.is_output(o)) written[value.storage] = true;
        else
          expect(written[value.storage] || !begins_empty(value.storage) || value.spec.nelms() == 0, "written before it is read",
                 i, "reads storage ", value.storage, ", which no earlier operation writes: an earlier write expected");
      }
    };
    if (after_ < Pass::fuse)
      for (int i = 0; i < count(); ++i) visit(i);
    else
      for (const Group& group : draft_.groups)
        for (const Member& member : group.members) visit(member.operation);
  }

  constexpr bool begins_empty(StorageId storage) const {
    const Location& location = draft_.storage(storage).location;
    if (draft_.storage(storage).begins_undefined) return false;
    return location.base == Base::frame ||
           (location.base == Base::stream && plan_.streams[location.index].direction == StreamDirection::device_to_host);
  }

  constexpr void check_cuts() {
    if (!expect(draft_.cuts.size() == draft_.groups.size(), "cuts divide grids", -1, draft_.cuts.size(),
                " cuts: one for each of ", draft_.groups.size(), " groups expected"))
      return;
    for (int g = 0; g < group_count(); ++g) {
      const Group& group = draft_.groups[g];
      if (draft_.operation(group.members[0]).is_call()) continue;
      check_cut(g, group, draft_.cuts[g].partition);
      if (violation_.empty()) check_evaluations(g, group, draft_.cuts[g]);
    }
  }
  constexpr void check_cut(int g, const Group& group, const Partition& cut) {
    if (!expect(cut.blocks.size() == group.grid.size(), "cuts divide grids", -1, "group ", g, " has blocks along ",
                cut.blocks.size(), " axes: blocks along ", group.grid.size(), " expected"))
      return;
    std::int64_t vertices = 1;
    for (int axis = 0; axis < cut.blocks.size(); ++axis) {
      const std::int64_t block = cut.blocks[axis], extent = group.grid[axis].extent;
      if (!expect(block >= 1 && block <= extent, "cuts divide grids", -1, "group ", g, " has blocks of ", block, " along axis ",
                  axis, ": blocks of 1 to ", extent, " expected"))
        return;
      expect(block == extent || group.grid[axis].kind != WorkAxisKind::whole, "cuts divide grids", -1, "group ", g,
             " is cut along axis ", axis, ", which cannot be cut: one block expected");
      vertices *= block_count(extent, block);
    }
    expect(cut.vertices == vertices, "cuts divide grids", -1, "group ", g, " has ", cut.vertices, " vertices: ", vertices,
           ", one for each block, expected");
  }
  constexpr void check_evaluations(int g, const Group& group, const Cut& cut) {
    const auto& [kinds, kernels, in_registers, by_image] = cut.evaluations;
    const std::size_t members = group.members.size();
    if (!expect(kinds.size() == members && kernels.size() == members && in_registers.size() == members,
                "each member is evaluated", -1, "group ", g, " has ", kinds.size(), " evaluations: ", members,
                ", one for each operation, expected"))
      return;
    PerStorage<bool> has_scratch(draft_.storages.size(), false);
    std::int64_t scratch = 0;
    for (std::size_t m = 0; m < members; ++m) {
      const Operation& operation = draft_.operation(group.members[m]);
      const int i = group.members[m].operation;
      expect(kernels[m] >= 0 && kernels[m] < static_cast<int>(members), "each member is evaluated", i, "has kernel ", kernels[m],
             ": a member from 0 to ", members - 1, " expected");
      expect(!in_registers[m] || draft_.storage(operation.operands[operation.input_count].storage).internal,
             "only internal values stay in registers", i,
             "keeps its result in registers, but the result's storage is not internal: an internal storage expected");
      for (int o = operation.input_count; o < operand_count(operation) && !in_registers[m]; ++o) {
        const Value& value = operation.operands[o];
        if (!draft_.storage(value.storage).internal || std::exchange(has_scratch[value.storage], true)) continue;
        const bool is_one_image = (by_image >> m & 1) != 0;
        scratch += align(scratch_bytes(value, grid_axes_of(operation, group.members[m], o), cut.partition.blocks, is_one_image));
      }
    }
    expect(scratch <= max_scratch_bytes, "scratch is limited", -1, "group ", g, " has ", scratch, " bytes of scratch: at most ",
           max_scratch_bytes, " expected");
  }
};

}  // namespace tilewright::internal::detail
