#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <string_view>

#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

namespace detail {
/// Returns the operands in memory whose channels are the last axis: " (channels last: 0, 2)"; empty: none.
constexpr Text layouts_of(const auto& plan, const Stage& stage) {
  Text result;
  for (int o = 0; o < stage.operand_count; ++o) {
    const StageOperand& operand = plan.operands[static_cast<std::size_t>(stage.first_operand + o)];
    if (operand.source == Source::memory && is_channels_last(operand.view))
      result += text(result.empty() ? " (channels last: " : ", ", o);
  }
  if (!result.empty()) result += ")";
  return result;
}
/// Returns stages as text. MatMul [Add, Gelu]; ReduceSum: kernels in sequence, with their epilogues in brackets. Sub <Mul, Exp>:
/// one expression.
constexpr Text print_stages(const auto& plan, const ComputeSet& set) {
  Text result, parts;
  bool in_epilogue = false;
  for (int s = 0; s < set.stage_count; ++s) {
    const Stage& stage = plan.stages[static_cast<std::size_t>(set.first_stage + s)];
    if (stage.evaluation == Evaluation::expression) {
      if (!parts.empty()) parts += ", ";
      parts += stage.name;
      continue;
    }
    if (stage.evaluation == Evaluation::epilogue) result += in_epilogue ? ", " : " [";
    else if (!result.empty()) result += in_epilogue ? "]; " : "; ";
    in_epilogue = stage.evaluation == Evaluation::epilogue;
    result += stage.name;
    if (stage.evaluation == Evaluation::kernel) result += detail::layouts_of(plan, stage);
    if (!parts.empty()) result += text(" <", parts, ">");
    parts = Text();
  }
  if (in_epilogue) result += "]";
  return result;
}
/// Returns the IPU on which a step runs, if that is not IPU 0.
constexpr Text place_of(const Step& step) {
  if (step.ipu <= 0) return {};
  return text(" on IPU ", step.ipu);
}
}  // namespace detail

/// Returns a plan as text: for each body its steps, with the number of vertices, their extents along the axes of the grid, and
/// the ops that each vertex runs. A line `--` is a barrier of the workers. With several IPUs, a line that names an IPU is a
/// barrier of that IPU's workers only.
constexpr Text print_plan(const auto& plan) {
  Text result;
  int number = 0;
  for (const Body& body : plan.bodies) {
    std::string_view when;
    if (BodyId(number) == plan.after_upload) when = ", after an upload";
    if (BodyId(number) == plan.before_download) when = ", before a download";
    result += text("Body ", number++, " : ", body.step_count, " steps, ", body.frame_bytes, " bytes", when, "\n");
    for (int s = 0; s < body.step_count; ++s) {
      const Step& step = plan.steps[static_cast<std::size_t>(body.first_step + s)];
      if (step.kind == StepKind::call || step.kind == StepKind::loop) {
        result += text("  call body ", step.body, detail::place_of(step));
        if (step.kind == StepKind::loop) result += text(" ", step.count, " times");
        result += "\n";
        continue;
      }
      if (step.kind == StepKind::conditional) {
        result += text("  --\n  call body ", step.body, " or ", step.else_body, "\n");
        continue;
      }
      if (step.kind == StepKind::load_code) {
        result += text("  load the code of body ", step.body, "\n");
        continue;
      }
      if (step.barrier_before && step.joins_ipus) result += "  --\n";
      else if (step.barrier_before) result += text("  -- of IPU ", step.ipu, "\n");
      const ComputeSet& set = plan.compute_sets[static_cast<std::size_t>(step.compute_set)];
      Text extents;
      for (int axis = 0; axis < set.blocks.size(); ++axis) extents += text(axis > 0 ? " x " : "", set.blocks[axis]);
      result += text("  ", step.parts(), " of ", extents, ": ", detail::print_stages(plan, set), detail::place_of(step), "\n");
    }
  }
  return result;
}

}  // namespace tilewright::internal

namespace tilewright {
using internal::print_plan;
}  // namespace tilewright
