#pragma once
#include <algorithm>
#include <vector>

#include "tilewright/lower/compute_sets.hpp"
#include "tilewright/lower/memory.hpp"
#include "tilewright/lower/split_reductions.hpp"

namespace tilewright {

namespace detail {

constexpr ViewSpec view_spec(const Value& value) { return {value.spec.dtype, value.spec.shape, value.layout.strides}; }

/// Writes a schedule's operations to the plan as steps over a frame.
class Placement {
 public:
  constexpr Placement(const Schedule& schedule, const Target& target, ComputeSets& compute_sets, Plan& plan)
      : schedule_(schedule), target_(target), compute_sets_(compute_sets), plan_(plan), block_of_(schedule.storages.size(), -1) {}

  constexpr Body run() {
    Body body{.first_step = static_cast<int>(plan_.steps.size()), .step_count = static_cast<int>(schedule_.operations.size())};
    body.frame_bytes = allocate_frame();
    for (const Operation& operation : schedule_.operations) {
      if (operation.is_call()) add_call(operation);
      else add_compute(operation);
      if (operation.is_call()) body.max_arguments = std::max(body.max_arguments, plan_.steps.back().location_count);
    }
    return body;
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  constexpr std::int64_t allocate_frame() {
    for (std::size_t i = 0; i < schedule_.operations.size(); ++i)
      for_each_storage(schedule_.operations[i], [&](int used) {
        const int storage = schedule_.owner(used), step = static_cast<int>(i);
        if (!schedule_.in_frame(storage)) return;
        int& block = block_of_[at(storage)];
        if (block < 0) {
          block = static_cast<int>(blocks_.size());
          blocks_.push_back({schedule_.storage(storage).whole.bytes(), step, step});
        }
        blocks_[at(block)].last = step;
      });
    return allocate(blocks_, static_cast<int>(schedule_.operations.size()));
  }
  constexpr Location location(const Value& value) const {
    const int storage = schedule_.owner(value.storage);
    Location result = schedule_.storage(storage).location;
    if (schedule_.in_frame(storage)) result.offset = blocks_[at(block_of_[at(storage)])].offset;
    result.offset += value.layout.offset * size_of(value.spec.dtype);
    return result;
  }
  constexpr void add_call(const Operation& call) {
    Step step{.kind = StepKind::call, .target = call.body, .first_location = static_cast<int>(plan_.locations.size())};
    step.location_count = static_cast<int>(call.operands.size()) - 1;
    for (int i = 0; i < step.location_count; ++i) plan_.locations.push_back(location(call.operands[at(i)]));
    step.frame_offset = location(call.operands.back()).offset;
    plan_.steps.push_back(step);
  }
  constexpr void add_compute(const Operation& operation) {
    const Work work = work_of(operation);
    const DType dtype = operation.operands[at(operation.input_count)].spec.dtype;
    Partition cut = partition(work, dtype, target_);
    if (!operation.fused.empty()) cut_blocks(cut, work, dtype, target_.scratch_bytes, target_);

    Step step{.first_location = static_cast<int>(plan_.locations.size()), .vertices = cut.vertices, .stream = operation.stream};
    ComputeSet set{.op = operation.op->tag,
                   .attributes = operation.attributes,
                   .input_count = operation.input_count,
                   .blocks = cut.blocks,
                   .partial = operation.partial,
                   .whole_reduction = operation.whole_reduction};
    for (const Value& value : operation.operands) {
      set.operands.push_back(view_spec(value));
      if (operation.fused.empty() || set.operands.size() <= operation.input_count) plan_.locations.push_back(location(value));
    }
    for (const FusedOp& fused : operation.fused) {
      FusedStage stage{fused.op->tag, fused.attributes, fused.intermediate};
      for (const Value& value : fused.operands) {
        stage.operands.push_back(view_spec(value));
        if (value.storage >= 0) plan_.locations.push_back(location(value));
      }
      set.fused.push_back(stage);
    }
    step.location_count = static_cast<int>(plan_.locations.size()) - step.first_location;
    step.target = compute_sets_.add(plan_.compute_sets, set, work);
    plan_.steps.push_back(step);
  }

  const Schedule& schedule_;
  const Target& target_;
  ComputeSets& compute_sets_;
  Plan& plan_;
  std::vector<int> block_of_;  // by storage
  std::vector<LiveBlock> blocks_{};
};

}  // namespace detail

/// Cuts a schedule's operations into vertices, gives its memory places in a frame, and appends the steps to the plan.
constexpr Body place(const Schedule& schedule, const Target& target, ComputeSets& compute_sets, Plan& plan) {
  return detail::Placement(schedule, target, compute_sets, plan).run();
}

}  // namespace tilewright
