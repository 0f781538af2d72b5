#pragma once
#include <type_traits>

#include "tilewright/core/list.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/lower/lower.hpp"

namespace tilewright::internal {

namespace detail {

constexpr const TileMap* tiles_of(const BodyDraft&) { return nullptr; }
constexpr const TileMap* tiles_of(const TileDraft& draft) { return &draft.tiles; }

/// Checks what later passes rely on while they change a draft: its numbers lead to what exists, its lists have the lengths of
/// each other. It also checks what no plan shows, such as that an operation is in one group. What a plan computes, and where, is
/// for its proof, tw::fault_of_plan.
class DraftViolation {
 public:
  constexpr DraftViolation(const BodyDraft& draft, const TileMap* tiles, Pass after, BodyId body, const Plan& plan)
      : draft_(draft), tiles_(tiles), after_(after), body_(body), plan_(plan) {}

  /// Returns the first violation, `rule: what was given: what was expected, in body 2 after fuse`; empty: there is none.
  constexpr Text run() {
    check_operations();
    if (violation_.empty() && after_ >= Pass::fuse) check_groups();
    if (violation_.empty() && after_ >= Pass::cut_groups) check_cuts();
    if (violation_.empty() && after_ >= Pass::reuse_dying_inputs) check_reuses();
    if (violation_.empty() && after_ >= Pass::map_tiles && tiles_ != nullptr) check_tiles();
    if (violation_.empty() && after_ >= Pass::place) check_steps();
    return violation_;
  }

 private:
  /// Records the first violation: the rule, the operation (-1: none), what is given and what is expected.
  constexpr bool expect(bool holds, std::string_view rule, int operation, const auto&... given_and_expected) {
    if (holds || !violation_.empty()) return holds;
    violation_ = text(rule, ": ");
    if (operation >= 0) {
      const OpInfo* const op = draft_.operations[operation].op;
      violation_ += text("operation ", operation, " (", op ? op->name : std::string_view("call"), ") ");
    }
    violation_ += text(given_and_expected..., ", in body ", body_, " after ", name_of(after_));
    return false;
  }
  constexpr int count() const { return static_cast<int>(draft_.operations.size()); }
  constexpr int group_count() const { return static_cast<int>(draft_.groups.size()); }

  constexpr void check_operations() {
    const int storages = static_cast<int>(draft_.storages.size());
    for (int i = 0; i < count(); ++i) {
      const Operation& operation = draft_.operations[i];
      const int operands = static_cast<int>(operation.operands.size());
      expect((operation.op != nullptr) != operation.is_call(), "one kind", i,
             operation.op ? "is an op and a call: only one of them expected" : "is no op and no call: one of them expected");
      expect(operation.loads_code ? operands == 0 : operation.input_count >= 0 && operation.input_count < operands,
             "inputs and outputs", i, "has ", operation.input_count, " inputs of ", operands,
             operation.loads_code ? " operands: no operand expected" : " operands: at least one output expected");
      for (int o = 0; o < operands; ++o) {
        const StorageId s = operation.operands[o].storage;
        if (!expect(s > StorageId::none && s < StorageId(storages), "operands exist", i, "has operand ", o, " in storage ", s,
                    ": a storage from 0 to ", storages - 1, " expected"))
          return;
      }
      if (operation.is_call()) check_call(i, operation);
      else if (after_ >= Pass::split_operations) check_work(i, operation);
    }
    for (int i = 0; i < storages; ++i) {
      const auto& [base, index, offset] = draft_.storages[StorageId(i)].location;
      expect(base != Base::frame || after_ >= Pass::place || (index == 0 && offset == 0), "place finds places", -1, "storage ", i,
             " is at index ", index, ", offset ", offset, " of memory `frame`: index 0 and offset 0 expected");
    }
  }
  constexpr void check_call(int i, const Operation& call) {
    const Calling& calling = call.calling;
    const int bodies = static_cast<int>(plan_.bodies.size());
    for (const BodyId callee : {calling.body, calling.else_body})
      expect(callee == BodyId::none || (callee > body_ && callee < BodyId(bodies)), "callees are planned before", i,
             "calls body ", callee, ": a body from ", static_cast<int>(body_) + 1, " to ", bodies - 1, " expected");
    if (call.loads_code) return;
    const int inputs = (calling.else_body != BodyId::none ? 1 : 0) + calling.inputs + calling.else_inputs;
    expect(call.input_count == inputs, "arguments of calls", i, "has ", call.input_count, " inputs: ", inputs, " expected");
    std::int64_t least = inputs + calling.outputs + calling.else_outputs + 1;
    if (calling.loop) least += calling.loop->carried;
    const auto operands = static_cast<std::int64_t>(call.operands.size());
    expect(operands >= least, "arguments of calls", i, "has ", operands, " operands: at least ", least, " expected");
  }

  constexpr void check_work(int i, const Operation& operation) {
    const int axes = operation.work.axes.size(), operands = (std::min)(static_cast<int>(operation.operands.size()), max_operands);
    for (int o = 0; o < operands; ++o)
      for (int axis = 0; axis < max_rank; ++axis)
        expect(operation.work.follows(o, axis) < axes, "work has its axes", i, "has operand ", o, ", whose axis ", axis,
               " follows axis ", operation.work.follows(o, axis), " of the work: an axis from 0 to ", axes - 1, " expected");
    for (int axis = 0; axis < axes; ++axis)
      expect(operation.partial || !gives_partials(operation.work.axes[axis].kind), "sums that are cut give partials", i,
             "sums over axis ", axis,
             ", which can be cut, into a whole result: partials, or an axis that cannot be cut, expected");
  }

  constexpr void check_groups() {
    List<int> groups_of(draft_.operations.size(), 0);  // by operation: how many groups have it
    for (int g = 0; g < group_count(); ++g) {
      const Group& group = draft_.groups[g];
      if (!expect(!group.members.empty(), "groups have members", -1, "group ", g, " has no operation: at least one expected"))
        return;
      for (const Member& member : group.members) {
        if (!expect(member.operation >= 0 && member.operation < count(), "groups have members", -1, "group ", g,
                    " has operation ", member.operation, ": an operation from 0 to ", count() - 1, " expected"))
          return;
        ++groups_of[member.operation];
        const Operation& operation = draft_.operation(member);
        const bool is_alone = operation.alone || operation.is_call() || operation.stream >= 0;
        expect(!is_alone || group.members.size() == 1, "some operations are alone", member.operation, "is one of ",
               group.members.size(), " operations in group ", g, ": a group of its own expected");
        if (!operation.is_call()) check_grid(g, group, member, operation);
      }
      expect(group.members.size() <= static_cast<std::size_t>(max_stages), "groups are small", -1, "group ", g, " has ",
             group.members.size(), " operations: at most ", max_stages, " expected");
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

  constexpr void check_cuts() {
    if (!expect(draft_.cuts.size() == draft_.groups.size(), "cuts divide grids", -1, draft_.cuts.size(),
                " cuts: one for each of ", draft_.groups.size(), " groups expected"))
      return;
    for (int g = 0; g < group_count(); ++g) {
      const Group& group = draft_.groups[g];
      if (draft_.operation(group.members[0]).is_call()) continue;
      const auto& blocks = draft_.cuts[g].partition.blocks;
      if (!expect(blocks.size() == group.grid.size(), "cuts divide grids", -1, "group ", g, " has blocks along ", blocks.size(),
                  " axes: blocks along ", group.grid.size(), " expected"))
        return;
      for (int axis = 0; axis < blocks.size(); ++axis)
        expect(blocks[axis] >= 1 && blocks[axis] <= group.grid[axis].extent, "cuts divide grids", -1, "group ", g,
               " has blocks of ", blocks[axis], " along axis ", axis, ": blocks of 1 to ", group.grid[axis].extent, " expected");
      check_evaluations(g, group, draft_.cuts[g].evaluations);
    }
  }
  constexpr void check_evaluations(int g, const Group& group, const Evaluations& evaluations) {
    const auto& [kinds, kernels, in_registers, by_image] = evaluations;
    const std::size_t members = group.members.size();
    if (!expect(kinds.size() == members && kernels.size() == members && in_registers.size() == members,
                "each member is evaluated", -1, "group ", g, " has ", kinds.size(), " evaluations: ", members,
                ", one for each operation, expected"))
      return;
    for (std::size_t m = 0; m < members; ++m) {
      const Operation& operation = draft_.operation(group.members[m]);
      const int i = group.members[m].operation;
      expect(kernels[m] >= 0 && kernels[m] < static_cast<int>(members), "each member is evaluated", i, "has kernel ", kernels[m],
             ": a member from 0 to ", members - 1, " expected");
      expect(!in_registers[m] || draft_.storage(operation.operands[operation.input_count].storage).internal,
             "only internal values stay in registers", i,
             "keeps its result in registers, but the result's storage is not internal: an internal storage expected");
    }
  }

  /// Checks that storages that take over memory form a forest.
  constexpr void check_reuses() {
    const int storages = static_cast<int>(draft_.storages.size());
    for (int i = 0; i < storages; ++i) {
      const StorageId reused = draft_.storage(StorageId(i)).reuses;
      if (!expect(reused < StorageId(storages), "reuses are a forest", -1, "storage ", i, " reuses storage ", reused,
                  ": a storage from 0 to ", storages - 1, " expected"))
        return;
    }
    for (int i = 0; i < storages; ++i) {
      int steps = 0;
      for (auto up = StorageId(i); up != StorageId::none && steps <= storages; ++steps) up = draft_.storage(up).reuses;
      expect(steps <= storages, "reuses are a forest", -1, "storage ", i,
             " reuses storages in a circle: a storage with memory of its own at the end expected");
    }
  }

  constexpr bool is_set(int set) const { return set >= 0 && static_cast<std::size_t>(set) < plan_.tile_sets.size(); }
  constexpr void check_tiles() {
    expect(tiles_->layouts.size() == draft_.storages.size(), "storages have layouts", -1, tiles_->layouts.size(),
           " layouts: one for each of ", draft_.storages.size(), " storages expected");
    expect(tiles_->groups.size() == draft_.groups.size(), "vertices have places", -1, tiles_->groups.size(),
           " groups on tiles: ", draft_.groups.size(), " expected");
    for (std::size_t s = 0; s < draft_.storages.size() && violation_.empty(); ++s) {
      const TileLayout& layout = tiles_->layouts[StorageId(s)];
      expect(!layout.is_decided() || is_set(layout.places.set), "sets of tiles exist", -1, "storage ", s, " is on set ",
             layout.places.set, " of tiles: a set of the plan expected");
    }
    for (int g = 0; g < group_count() && violation_.empty(); ++g) {
      if (draft_.operation(draft_.groups[g].members[0]).is_call()) continue;
      const int set = tiles_->groups[g].grid.places.set;
      expect(is_set(set), "sets of tiles exist", -1, "group ", g, " is on set ", set, " of tiles: a set of the plan expected");
      for (const TileOperand& operand : tiles_->groups[g].operands)
        expect(operand.storage > StorageId::none && operand.storage < StorageId(draft_.storages.size()) &&
                   tiles_->layouts[operand.storage].is_decided(),
               "vertices know what they use", -1, "group ", g, " uses storage ", operand.storage,
               " on tiles: a storage with a layout expected");
    }
  }
  /// Checks the rows of moves, which only plans for simulated IPUs have.
  constexpr void check_steps() {
    for (const StepMoves& moves : plan_.moves)
      for (const int set : {moves.set, moves.from_set})
        expect(set == -1 || is_set(set), "sets of tiles exist", -1, "a step on set ", moves.set, " of tiles copies from set ",
               moves.from_set, ": sets of the plan, or none (-1), expected");
  }

  const BodyDraft& draft_;
  const TileMap* tiles_;  // null: the target has none
  Pass after_;
  BodyId body_;  // the draft's
  const Plan& plan_;
  Text violation_{};  // empty: none
};

}  // namespace detail

/// Returns the first violation of a draft after a pass; empty if it is valid. `plan` is the plan so far: the memory outside of
/// graphs, the called bodies, and after `place` the body itself.
constexpr Text find_violation(const auto& draft, Pass after, BodyId body, const Plan& plan) {
  return detail::DraftViolation(draft, detail::tiles_of(draft), after, body, plan).run();
}

/// An observer of `lower` that keeps the first violation of its passes.
class PassVerifier {
 public:
  constexpr void operator()(Pass after, BodyId body, const auto& draft, const Plan& plan) {
    if (violation_.empty() && changes_draft(after)) violation_ = find_violation(draft, after, body, plan);
  }
  constexpr void operator()(const Plan&) const {}  // tw::fault_of_plan checks it
  constexpr const Text& violation() const { return violation_; }

 private:
  Text violation_{};  // empty: none
};

/// Plans a program like `lower`, and checks the result of each pass, but not the plan. Errors: those of `lower`; a violation of a
/// pass, as `planner: rule: ...`.
constexpr Plan lower_checked(const Prepared& prepared) {
  PassVerifier verifier;
  Plan plan = lower(prepared, verifier);
  if (!verifier.violation().empty()) plan.fail(text("planner: ", verifier.violation()));
  return plan;
}

}  // namespace tilewright::internal
