#pragma once
// Changes of one number in a plan, or of the order of its steps, by seed; and when a changed plan does what it did before.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/lower/plan.hpp"
#include "tilewright/verified/footprints.hpp"

namespace plan_mutations {

namespace tw = tilewright;
using tw::Plan;
using tw::internal::Base, tw::internal::ComputeSet, tw::internal::Location, tw::internal::Source, tw::internal::Stage,
    tw::internal::StageOperand, tw::internal::Step, tw::internal::StepKind;

/// Draws rows of tables and changes them.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Changes a plan. Returns what was changed; nothing if the plan has no such row.
  std::optional<std::string> change(Plan& plan) {
    switch (random_() % 22) {
      case 0: return barrier(plan);
      case 1: return offset(plan);
      case 2: return other_location(plan);
      case 3: return memory_of_location(plan);
      case 4: return swapped_steps(plan);
      case 5: return repeated_step(plan);
      case 6: return attribute(plan);
      case 7: return op(plan);
      case 8: return stride(plan);
      case 9: return view_stride(plan);
      case 10: return extent(plan);
      case 11: return grid_axis(plan);
      case 12: return source(plan);
      case 13: return block(plan);
      case 14: return vertices(plan);
      case 15: return scratch(plan);
      case 16: return call(plan);
      case 17: return place_of_tensor(plan);
      case 18: return stream(plan);
      case 19: return size_of_memory(plan);
      case 20: return compute_set(plan);
      default: return barrier(plan);  // twice as many, because one line of a program makes one
    }
  }

 private:
  template <class Rows>
  auto* drawn(Rows& rows) {
    return rows.empty() ? nullptr : rows.data() + random_() % rows.size();
  }
  /// A step for which a condition holds.
  template <class Condition>
  Step* step_where(Plan& plan, const Condition& holds) {
    std::vector<Step*> steps;
    for (Step& step : plan.steps)
      if (holds(step)) steps.push_back(&step);
    return steps.empty() ? nullptr : steps[random_() % steps.size()];
  }
  static std::string step_name(const Plan& plan, const Step& step) {
    return " of step " + std::to_string(&step - plan.steps.data());
  }
  std::int64_t some_bytes() {
    constexpr std::int64_t distances[] = {4, -4, 64, -64, 128, 256, -256, 1024, 4096};
    return distances[random_() % std::size(distances)];
  }

  std::optional<std::string> barrier(Plan& plan) {
    Step* const step = step_where(plan, [](const Step& each) { return each.barrier_before && each.compute_set >= 0; });
    if (!step) return {};
    step->barrier_before = false;
    return "no barrier" + step_name(plan, *step);
  }
  std::optional<std::string> offset(Plan& plan) {
    Location* const location = drawn(plan.locations);
    if (!location) return {};
    const std::int64_t by = some_bytes();
    location->offset += by;
    return "offset of a location by " + std::to_string(by);
  }
  std::optional<std::string> other_location(Plan& plan) {
    Location *const a = drawn(plan.locations), *const b = drawn(plan.locations);
    if (!a || *a == *b) return {};
    *a = *b;
    return "one location for another";
  }
  std::optional<std::string> memory_of_location(Plan& plan) {
    Location* const location = drawn(plan.locations);
    if (!location) return {};
    if (random_() % 2 == 0) location->index += 1;
    else location->base = Base(random_() % 7);
    return "memory of a location";
  }
  std::optional<std::string> swapped_steps(Plan& plan) {
    Step* const step = step_where(plan, [&](const Step& each) {
      for (const auto& body : plan.bodies)
        if (const auto number = &each - plan.steps.data();
            number >= body.first_step && number + 1 < body.first_step + body.step_count)
          return true;
      return false;
    });
    if (!step) return {};
    std::swap(step[0], step[1]);
    return "order" + step_name(plan, *step) + " and the next";
  }
  std::optional<std::string> repeated_step(Plan& plan) {
    if (plan.steps.size() < 2) return {};
    Step* const step = plan.steps.data() + random_() % (plan.steps.size() - 1);
    const bool first = random_() % 2 == 0;
    (first ? step[1] : step[0]) = first ? step[0] : step[1];
    return "one step for its neighbour" + step_name(plan, *step);
  }
  std::optional<std::string> attribute(Plan& plan) {
    Stage* const stage = drawn(plan.stages);
    if (!stage || stage->attributes.count == 0) return {};
    stage->attributes.words[random_() % stage->attributes.count] += 1;
    return "an attribute of " + std::string(stage->name);
  }
  std::optional<std::string> op(Plan& plan) {
    Stage *const a = drawn(plan.stages), *const b = drawn(plan.stages);
    if (!a || a->op == b->op || a->operand_count != b->operand_count || a->input_count != b->input_count) return {};
    a->op = b->op, a->attributes = b->attributes;
    return std::string(b->name) + " for " + std::string(a->name);
  }
  std::optional<std::string> stride(Plan& plan) {
    std::int64_t* const stride = drawn(plan.strides);
    if (!stride) return {};
    *stride += some_bytes();
    return "a stride from block to block";
  }
  std::optional<std::string> view_stride(Plan& plan) {
    StageOperand* const operand = drawn(plan.operands);
    if (!operand || operand->view.shape.rank == 0) return {};
    const auto rank = static_cast<std::uint64_t>(operand->view.shape.rank);
    if (rank > 1 && random_() % 2 == 0) std::swap(operand->view.strides[0], operand->view.strides[1]);
    else operand->view.strides[random_() % rank] += 1;
    return "a stride of an operand";
  }
  std::optional<std::string> extent(Plan& plan) {
    StageOperand* const operand = drawn(plan.operands);
    if (!operand || operand->view.shape.rank == 0) return {};
    const auto axis = static_cast<int>(random_() % static_cast<std::uint64_t>(operand->view.shape.rank));
    operand->view.shape[axis] = std::max<std::int64_t>(1, operand->view.shape[axis] + (random_() % 2 == 0 ? 1 : -1));
    return "an extent of an operand";
  }
  std::optional<std::string> grid_axis(Plan& plan) {
    StageOperand* const operand = drawn(plan.operands);
    if (!operand || operand->view.shape.rank == 0) return {};
    const auto axis = random_() % static_cast<std::uint64_t>(operand->view.shape.rank);
    operand->grid_axis[axis] = static_cast<std::int8_t>(static_cast<int>(random_() % 4) - 1);
    return "the axis of the grid of an operand";
  }
  std::optional<std::string> source(Plan& plan) {
    StageOperand* const operand = drawn(plan.operands);
    if (!operand) return {};
    switch (random_() % 3) {
      case 0: operand->index += 1; return "the number of an operand";
      case 1: operand->index += 64; return "the number of an operand by 64";
      default: operand->source = Source(random_() % 3); return "the source of an operand";
    }
  }
  std::optional<std::string> block(Plan& plan) {
    ComputeSet* const set = drawn(plan.compute_sets);
    if (!set || set->blocks.size() == 0) return {};
    const auto axis = static_cast<int>(random_() % static_cast<std::uint64_t>(set->blocks.size()));
    if (random_() % 2 == 0) set->blocks[axis] = std::max<std::int64_t>(1, set->blocks[axis] / 2);
    else set->extents[axis] += 1;
    return "blocks of a set";
  }
  std::optional<std::string> vertices(Plan& plan) {
    Step* const step = step_where(plan, [](const Step& each) { return each.compute_set >= 0; });
    if (!step) return {};
    step->vertices += random_() % 2 == 0 ? 1 : -1;
    return "vertices" + step_name(plan, *step);
  }
  std::optional<std::string> scratch(Plan& plan) {
    std::vector<ComputeSet*> sets;
    for (ComputeSet& set : plan.compute_sets)
      if (set.scratch_bytes > 0) sets.push_back(&set);
    if (sets.empty()) return {};
    sets[random_() % sets.size()]->scratch_bytes -= 64;
    return "bytes of scratch";
  }
  std::optional<std::string> call(Plan& plan) {
    Step* const step = step_where(plan, [](const Step& each) { return each.is_call(); });
    if (!step) return {};
    switch (random_() % 5) {
      case 0: step->frame_offset += some_bytes(); return "the frame" + step_name(plan, *step);
      case 1: step->count += 1; return "iterations" + step_name(plan, *step);
      case 2: step->count = std::max<std::int64_t>(1, step->count - 1); return "iterations" + step_name(plan, *step);
      case 3: step->body = tw::internal::BodyId(random_() % plan.bodies.size()); return "the body" + step_name(plan, *step);
      default:
        if (step->location_count < 2) return {};
        std::swap(plan.locations[step->first_location], plan.locations[step->first_location + 1]);
        return "the order of arguments" + step_name(plan, *step);
    }
  }
  std::optional<std::string> place_of_tensor(Plan& plan) {
    if (random_() % 2 == 0) {
      auto* const variable = drawn(plan.variables);
      if (!variable) return {};
      variable->offset += some_bytes();
      return "the place of a variable";
    }
    auto* const constant = drawn(plan.constants);
    if (!constant) return {};
    constant->offset += some_bytes();
    return "the place of a constant";
  }
  std::optional<std::string> stream(Plan& plan) {
    auto* const stream = drawn(plan.streams);
    if (!stream) return {};
    if (stream->moves) {
      Step* const step = step_where(plan, [](const Step& each) { return each.stream >= 0; });
      if (!step) return {};
      step->stream = -1;
      return "no move of a stream" + step_name(plan, *step);
    }
    stream->elements += random_() % 2 == 0 ? 1 : -1;
    return "elements of a stream";
  }
  std::optional<std::string> size_of_memory(Plan& plan) {
    switch (random_() % 4) {
      case 0: plan.memory.frame -= 64; return "bytes of the frame";
      case 1: plan.memory.variables -= 64; return "bytes of variables";
      case 2: plan.memory.constants -= 64; return "bytes of constants";
      default: drawn(plan.bodies)->frame_bytes -= 64; return "bytes of a body's frame";
    }
  }
  std::optional<std::string> compute_set(Plan& plan) {
    Step* const step = step_where(plan, [](const Step& each) { return each.compute_set >= 0; });
    if (!step) return {};
    const int set = static_cast<int>(random_() % (plan.compute_sets.size() + 1));
    if (set == step->compute_set) return {};
    step->compute_set = set;
    return "the code" + step_name(plan, *step);
  }

  std::mt19937_64 random_;
};

}  // namespace plan_mutations
