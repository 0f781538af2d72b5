#pragma once
// Floating point operations of a step, counted from its plan.
#include <cstdint>
#include <string_view>
#include <tilewright/lower/plan.hpp>

namespace flops {

namespace internal = tilewright::internal;

/// 2 m n k of all matrices of a product of a stage: the extents that its group's grid cuts, and those of its operands that it
/// does not. `of(i)` is operand i of a, b and c.
constexpr std::int64_t of_product(const internal::ComputeSet& set, const auto& of) {
  bool cut[tilewright::max_work_axes]{};
  for (int i = 0; i < 3; ++i)
    for (int axis = 0; axis < of(i).view.shape.rank; ++axis)
      if (of(i).grid_axis[axis] >= 0) cut[of(i).grid_axis[axis]] = true;
  std::int64_t result = 2;
  for (int axis = 0; axis < set.extents.size(); ++axis)
    if (cut[axis]) result *= set.extents[axis];
  for (int axis = 0; axis < of(2).view.shape.rank; ++axis)
    if (of(2).grid_axis[axis] < 0) result *= of(2).view.shape[axis];
  const auto& a = of(0);
  return a.grid_axis[a.view.shape.rank - 1] < 0 ? result * a.view.shape[-1] : result;
}
/// Of attention, as its composed form multiplies: all scores, also those that a causal mask hides; `products` products of
/// queries, keys and width.
constexpr std::int64_t of_attention(int products, const auto& of) {
  return 2 * products * of(0).view.shape.nelms() * of(1).view.shape[2];
}

/// Of all products of matrices in one run: forward, both gradients, and attention with 2 products forward and 4 backward, since
/// scores that a backward pass computes again are no work of the step. Nothing else counts.
constexpr std::int64_t of_plan(const auto& plan) {
  std::int64_t times[256]{1}, result = 0;
  for (int b = 0; b < static_cast<int>(plan.bodies.size()); ++b) {  // bodies stand before those that they call
    const internal::Body& body = plan.bodies.data()[b];
    for (int s = 0; s < body.step_count; ++s) {
      const internal::Step& step = plan.steps[static_cast<std::size_t>(body.first_step + s)];
      if (step.is_call()) times[static_cast<int>(step.body)] += times[b] * step.count;
      if (step.kind != internal::StepKind::compute) continue;
      const internal::ComputeSet& set = plan.compute_sets[static_cast<std::size_t>(step.compute_set)];
      for (int i = 0; i < set.stage_count; ++i) {
        const internal::Stage& stage = plan.stages[static_cast<std::size_t>(set.first_stage + i)];
        const auto of = [&](int operand) -> const auto& {
          return plan.operands[static_cast<std::size_t>(stage.first_operand + operand)];
        };
        if (stage.name == "MatMul") result += times[b] * of_product(set, of);
        else if (stage.name == "ScaledDotProductAttention") result += times[b] * of_attention(2, of);
        else if (stage.name == "ScaledDotProductAttentionGrad") result += times[b] * of_attention(4, of);
      }
    }
  }
  return result;
}

}  // namespace flops
