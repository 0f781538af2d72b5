#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/lower/steps/barriers.hpp"
#include "tilewright/lower/verify/coverage.hpp"
#include "tilewright/lower/verify/plan_violation.hpp"

namespace tilewright::internal::detail {

/// Checks the tables of a plan: each row has one owner, and compute sets are complete.
class TablesViolation : PlanViolation {
 public:
  using PlanViolation::PlanViolation;

  constexpr Text run() {
    check_tables();
    if (violation_.empty()) check_sets();
    return violation_;
  }

 private:
  constexpr void check_tables() {
    Coverage steps(plan_.steps.size()), stages(plan_.stages.size()), operands(plan_.operands.size());
    Coverage strides(plan_.strides.size()), locations(plan_.locations.size());
    const auto take = [&](Coverage& table, std::string_view name, std::string_view owner, std::size_t number, std::int64_t first,
                          std::int64_t count) {
      expect(table.take(first, count), "rows have one owner", owner, " ", number, " has ", name, " ", first, " to ",
             first + count, ": rows that exist and have no other owner expected");
    };
    expect(!plan_.bodies.empty(), "bodies exist", "no body: at least one expected");
    std::size_t number = 0;
    for (const Body& body : plan_.bodies) take(steps, "steps", "body", number++, body.first_step, body.step_count);
    for (std::size_t i = 0; i < plan_.compute_sets.size(); ++i) {
      const ComputeSet& set = plan_.compute_sets[i];
      take(stages, "stages", "compute set", i, set.first_stage, set.stage_count);
      take(strides, "strides", "compute set", i, set.first_stride, std::int64_t{set.location_count} * set.blocks.size());
    }
    for (std::size_t i = 0; i < plan_.stages.size(); ++i)
      take(operands, "operands", "stage", i, plan_.stages[i].first_operand, plan_.stages[i].operand_count);
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      take(locations, "locations", "step", i, step.first_location, step.location_count);
      if (step.kind == StepKind::loop) take(strides, "strides", "step", i, step.first_stride, step.arguments);
    }
    const auto complete = [&](const Coverage& table, std::string_view name) {
      expect(table.is_complete(), "rows have one owner", "a row of the ", name, " has no owner: an owner expected");
    };
    complete(steps, "steps"), complete(stages, "stages"), complete(operands, "operands"), complete(strides, "strides");
    complete(locations, "locations");
  }

  constexpr void check_sets() {
    for (std::size_t i = 0; i < plan_.compute_sets.size() && violation_.empty(); ++i) {
      where_ = text(", in compute set ", i);
      const ComputeSet& set = plan_.compute_sets[i];
      expect(set.stage_count >= 1 && set.stage_count <= max_stages, "sets are small", set.stage_count, " stages: 1 to ",
             max_stages, " expected");
      expect(set.location_count <= max_locations, "sets are small", set.location_count, " locations: at most ", max_locations,
             " expected");
      expect(set.scratch_bytes >= 0 && set.scratch_bytes <= max_scratch_bytes, "scratch is limited", set.scratch_bytes,
             " bytes of scratch: at most ", max_scratch_bytes, " expected");
      if (!expect(set.extents.size() == set.blocks.size(), "blocks divide grids", "blocks along ", set.blocks.size(),
                  " axes: blocks along ", set.extents.size(), " expected"))
        return;
      for (int axis = 0; axis < set.blocks.size(); ++axis)
        expect(set.blocks[axis] >= 1 && set.blocks[axis] <= set.extents[axis], "blocks divide grids", "blocks of ",
               set.blocks[axis], " along axis ", axis, ": blocks of 1 to ", set.extents[axis], " expected");
      for (int s = 0; s < set.stage_count && violation_.empty(); ++s) check_stage(set, s);
    }
  }
  constexpr void check_stage(const ComputeSet& set, int s) {
    const Stage& checked = stage(set, s);
    expect(checked.op != nullptr && !checked.name.empty(), "stages have ops", "stage ", s,
           " has no op: an op with a name expected");
    expect(checked.input_count >= 0 && checked.input_count < checked.operand_count, "stages have outputs", "stage ", s, " (",
           checked.name, ") has ", checked.input_count, " inputs of ", checked.operand_count,
           " operands: at least one output expected");
    for (int o = 0; o < checked.operand_count && violation_.empty(); ++o) check_operand(set, s, o);
    expect(s > 0 || checked.evaluation != Evaluation::epilogue, "epilogues follow kernels", "stage 0 (", checked.name,
           ") is in an epilogue: a kernel before it expected");
    if (checked.evaluation != Evaluation::expression) return;
    int readers = 0;
    for (int later = s + 1; later < set.stage_count; ++later)
      for (int o = 0; o < stage(set, later).input_count; ++o) {
        const StageOperand& operand = plan_.operands[stage(set, later).first_operand + o];
        readers += operand.source == Source::value && operand.index == s;
      }
    expect(readers == 1, "expressions have one reader", "stage ", s, " (", checked.name, ") has ", readers,
           " readers: one expected");
  }
  constexpr void check_operand(const ComputeSet& set, int s, int o) {
    const Stage& of = stage(set, s);
    const StageOperand& operand = plan_.operands[of.first_operand + o];
    for (int axis = 0; axis < operand.view.shape.rank; ++axis)
      if (!expect(operand.grid_axis[axis] >= -1 && operand.grid_axis[axis] < set.blocks.size(), "operands follow the grid",
                  "operand ", o, " of stage ", s, " (", of.name, ") follows axis ", int{operand.grid_axis[axis]},
                  " of the grid: an axis from 0 to ", set.blocks.size() - 1, " expected"))
        return;
    bool holds = operand.index >= 0;
    switch (operand.source) {
      case Source::memory: holds = holds && operand.index < set.location_count; break;
      case Source::value: holds = holds && (o < of.input_count ? operand.index < s : operand.index == s); break;
      case Source::scratch:
        holds = holds && operand.index % memory_alignment == 0 &&
                operand.index + span_bytes(slice_of(operand, set.blocks)) <= set.scratch_bytes;
        break;
    }
    if (!holds)
      expect(false, "operands exist", "operand ", o, " of stage ", s, " (", of.name, ") has index ", operand.index, " in ",
             name_of(operand.source), ": ", indices_of(set, s, o), " expected");
  }
  /// Returns which indices an operand can have, for the text of a violation.
  constexpr Text indices_of(const ComputeSet& set, int s, int o) const {
    switch (plan_.operands[stage(set, s).first_operand + o].source) {
      case Source::memory: return text("a location from 0 to ", set.location_count - 1);
      case Source::value: return o < stage(set, s).input_count ? text("an earlier stage") : text("stage ", s);
      case Source::scratch: return text("a multiple of ", memory_alignment, ", and an end of at most ", set.scratch_bytes, ",");
    }
    return {};
  }
};

}  // namespace tilewright::internal::detail
