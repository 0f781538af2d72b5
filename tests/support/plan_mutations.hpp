#pragma once
// Changes of one number in a plan, or of the order of its steps, by seed. Each touches a row that a run reads.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/lower/plan.hpp"

namespace plan_mutations {

namespace tw = tilewright;
using tw::Plan;
using tw::internal::Base, tw::internal::Body, tw::internal::BodyId, tw::internal::ComputeSet, tw::internal::Location,
    tw::internal::Source, tw::internal::Stage, tw::internal::StageOperand, tw::internal::Step, tw::internal::StepKind;

/// Rows of a plan's tables that a run reads.
class ReadRows {
 public:
  struct Operand {
    ComputeSet* set = nullptr;
    Stage* stage = nullptr;
    StageOperand* row = nullptr;
    bool is_output = false;
  };

  explicit ReadRows(Plan& plan) : plan_(plan), has_body_(plan.bodies.size(), false), has_set_(plan.compute_sets.size(), false) {
    for (const BodyId root : {plan.after_upload, BodyId::main, plan.before_download}) add_body(root);
    for (std::size_t i = 0; i < has_set_.size(); ++i)
      if (has_set_[i]) add_set(plan.compute_sets[i]);
  }

  static std::int64_t blocks(const ComputeSet& set, int axis) {
    return (set.extents[axis] + set.blocks[axis] - 1) / set.blocks[axis];
  }
  /// Returns whether one of two steps writes the first byte of a tensor that the other accesses.
  bool depend(const Step& a, const Step& b) const {
    if (a.compute_set < 0 || b.compute_set < 0) return false;
    for (int i = 0; i < a.location_count; ++i)
      for (int k = 0; k < b.location_count; ++k)
        if (const Location& at = plan_.locations[a.first_location + i];
            at == plan_.locations[b.first_location + k] && at.base != Base::position && (writes(a, i) || writes(b, k)))
          return true;
    return false;
  }

  std::vector<Body*> bodies{};
  std::vector<Step*> steps{};
  std::vector<std::pair<Step*, Step*>> dependent{};  ///< neighbours of which one writes what the other accesses
  std::vector<Location*> locations{};
  std::vector<ComputeSet*> sets{};
  std::vector<Stage*> stages{};
  std::vector<Operand> operands{};
  std::vector<std::int64_t*> strides{};  ///< from block to block, or from iteration to iteration

 private:
  bool writes(const Step& step, int location) const {
    const ComputeSet& set = plan_.compute_sets[step.compute_set];
    for (int s = 0; s < set.stage_count; ++s) {
      const Stage& stage = plan_.stages[set.first_stage + s];
      for (int o = stage.input_count; o < stage.operand_count; ++o)
        if (const StageOperand& each = plan_.operands[stage.first_operand + o];
            each.source == Source::memory && each.index == location)
          return true;
    }
    return false;
  }
  void add_body(BodyId number) {
    if (number == BodyId::none || has_body_[static_cast<std::size_t>(number)]) return;
    has_body_[static_cast<std::size_t>(number)] = true;
    Body& body = plan_.bodies[number];
    bodies.push_back(&body);
    for (int s = 0; s < body.step_count; ++s) {
      Step& step = plan_.steps[body.first_step + s];
      add_step(step);
      if (s + 1 < body.step_count && depend(step, (&step)[1])) dependent.emplace_back(&step, &step + 1);
    }
  }
  void add_step(Step& step) {
    if (step.kind == StepKind::load_code) return;
    steps.push_back(&step);
    const auto read = step.kind == StepKind::loop ? std::min<std::int64_t>(step.count, 3) * step.arguments : step.location_count;
    for (int i = 0; i < read; ++i) locations.push_back(&plan_.locations[step.first_location + i]);
    if (step.compute_set >= 0) has_set_[static_cast<std::size_t>(step.compute_set)] = true;
    if (!step.is_call()) return;
    if (step.kind == StepKind::loop && step.count > 1)
      for (int i = 0; i < step.arguments; ++i) strides.push_back(&plan_.strides[step.first_stride + i]);
    add_body(step.body), add_body(step.else_body);
  }
  void add_set(ComputeSet& set) {
    sets.push_back(&set);
    for (int s = 0; s < set.stage_count; ++s) {
      Stage& stage = plan_.stages[set.first_stage + s];
      stages.push_back(&stage);
      for (int o = 0; o < stage.operand_count; ++o) {
        StageOperand& operand = plan_.operands[stage.first_operand + o];
        operands.push_back({&set, &stage, &operand, o >= stage.input_count});
        for (int axis = 0; axis < set.blocks.size(); ++axis)
          if (operand.source == Source::memory && blocks(set, axis) > 1)
            strides.push_back(&plan_.strides[set.first_stride + operand.index * set.blocks.size() + axis]);
      }
    }
  }

  Plan& plan_;
  std::vector<bool> has_body_, has_set_;
};

/// Draws rows and changes them.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Changes a plan. Returns what was changed; nothing if the plan has no such row.
  std::optional<std::string> change(Plan& plan) {
    static constexpr std::optional<std::string> (Mutator::* kinds[])(Plan&, ReadRows&) = {
        &Mutator::barrier, &Mutator::offset,        &Mutator::other_location, &Mutator::memory_of_location,
        &Mutator::order,   &Mutator::repeated_step, &Mutator::attribute,      &Mutator::op,
        &Mutator::stride,  &Mutator::view_stride,   &Mutator::extent,         &Mutator::grid_axis,
        &Mutator::operand, &Mutator::block,         &Mutator::vertices,       &Mutator::scratch,
        &Mutator::call,    &Mutator::place,         &Mutator::stream,         &Mutator::size_of_memory,
        &Mutator::code,    &Mutator::arguments};
    ReadRows rows(plan);
    return std::invoke(kinds[random_() % std::size(kinds)], this, plan, rows);
  }

 private:
  using Change = std::optional<std::string>;
  using Operand = ReadRows::Operand;

  std::int64_t drawn(std::int64_t count) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(count)); }
  bool coin() { return random_() % 2 == 0; }
  /// Returns a row for which a condition holds, or null.
  template <class Row, class Condition>
  Row* drawn(std::vector<Row>& rows, const Condition& holds) {
    std::vector<Row*> right;
    for (Row& row : rows)
      if (holds(row)) right.push_back(&row);
    return right.empty() ? nullptr : right[random_() % right.size()];
  }
  template <class Row>
  Row* drawn(std::vector<Row>& rows) {
    return drawn(rows, [](const Row&) { return true; });
  }
  static std::string step_name(const Plan& plan, const Step* step) {
    return " of step " + std::to_string(step - plan.steps.data());
  }
  std::int64_t some_bytes() {
    constexpr std::int64_t distances[] = {4, -4, 64, -64, 128, 256, -256, 1024, 4096};
    return distances[random_() % std::size(distances)];
  }

  Change barrier(Plan& plan, ReadRows& rows) {
    const auto is_needed = [](const auto& pair) {
      const auto& [before, step] = pair;
      return step->barrier_before && (before->vertices * before->pieces > 1 || step->vertices * step->pieces > 1);
    };
    const auto* const pair = drawn(rows.dependent, is_needed);
    if (!pair) return {};
    pair->second->barrier_before = false;
    return "no barrier" + step_name(plan, pair->second);
  }
  Change offset(Plan&, ReadRows& rows) {
    Location** const location = drawn(rows.locations, [](const Location* each) { return each->base != Base::position; });
    if (!location) return {};
    const std::int64_t by = some_bytes();
    (*location)->offset += by;
    return "offset of a location by " + std::to_string(by);
  }
  Change other_location(Plan&, ReadRows& rows) {
    if (rows.locations.empty()) return {};
    Location *const a = *drawn(rows.locations), *const b = *drawn(rows.locations);
    if (*a == *b) return {};
    *a = *b;
    return "one location for another";
  }
  Change memory_of_location(Plan&, ReadRows& rows) {
    Location** const location = drawn(rows.locations);
    if (!location) return {};
    const Base before = (*location)->base;
    if (coin()) {
      if (before == Base::frame || before == Base::position) return {};  // there is one
      (*location)->index += 1;
      return "index of a location";
    }
    (*location)->base = Base(random_() % 7);
    if ((*location)->base == before) return {};
    return "memory of a location";
  }
  Change order(Plan& plan, ReadRows& rows) {
    const auto* const pair = drawn(rows.dependent);
    if (!pair) return {};
    std::swap(*pair->first, *pair->second);
    return "order" + step_name(plan, pair->first) + " and the next";
  }
  Change repeated_step(Plan& plan, ReadRows& rows) {
    const auto* const pair = drawn(rows.dependent);
    if (!pair) return {};
    if (coin()) *pair->first = *pair->second;
    else *pair->second = *pair->first;
    return "one step for its neighbour" + step_name(plan, pair->first);
  }
  Change attribute(Plan&, ReadRows& rows) {
    Stage** const stage = drawn(rows.stages, [](const Stage* each) { return each->attributes.count > 0; });
    if (!stage) return {};
    (*stage)->attributes.words[random_() % (*stage)->attributes.count] += 1;
    return "an attribute of " + std::string((*stage)->name);
  }
  Change op(Plan&, ReadRows& rows) {
    if (rows.stages.empty()) return {};
    Stage *const a = *drawn(rows.stages), *const b = *drawn(rows.stages);
    if (a->op == b->op || a->operand_count != b->operand_count || a->input_count != b->input_count) return {};
    a->op = b->op, a->attributes = b->attributes;
    return std::string(b->name) + " for " + std::string(a->name);
  }
  Change stride(Plan&, ReadRows& rows) {
    std::int64_t** const stride = drawn(rows.strides);
    if (!stride) return {};
    **stride += some_bytes();
    return "a stride from block to block";
  }
  static bool is_in_memory(const Operand& each) { return each.row->source == Source::memory && each.row->view.shape.rank > 0; }
  Change view_stride(Plan&, ReadRows& rows) {
    const Operand* const operand = drawn(rows.operands, is_in_memory);
    if (!operand) return {};
    auto& view = operand->row->view;
    const auto axis = static_cast<int>(drawn(view.shape.rank)), other = static_cast<int>(drawn(view.shape.rank));
    if (view.shape[axis] == 1) return {};
    auto &own = view.strides[static_cast<std::size_t>(axis)], &others = view.strides[static_cast<std::size_t>(other)];
    if (view.shape[other] > 1 && own != others) std::swap(own, others);
    else own += 1;
    return "a stride of an operand";
  }
  Change extent(Plan&, ReadRows& rows) {
    const Operand* const operand = drawn(rows.operands, is_in_memory);
    if (!operand) return {};
    std::int64_t& extent = operand->row->view.shape[static_cast<int>(drawn(operand->row->view.shape.rank))];
    extent += coin() || extent == 1 ? 1 : -1;
    return "an extent of an operand";
  }
  Change grid_axis(Plan&, ReadRows& rows) {
    const Operand* const operand = drawn(rows.operands, [](const Operand& each) { return each.row->view.shape.rank > 0; });
    if (!operand) return {};
    const ComputeSet& set = *operand->set;
    const auto axis = static_cast<int>(drawn(operand->row->view.shape.rank));
    const auto cut = [&](int of_grid) { return of_grid >= 0 && ReadRows::blocks(set, of_grid) > 1 ? of_grid : -1; };
    std::int8_t& now = operand->row->grid_axis[axis];
    const int before = cut(now), after = static_cast<int>(drawn(set.blocks.size() + 1)) - 1;
    if (cut(after) == before) return {};  // nobody divides it, before and after
    now = static_cast<std::int8_t>(after);
    return "the axis of the grid of an operand";
  }
  Change operand(Plan&, ReadRows& rows) {
    const Operand* const operand = drawn(
        rows.operands, [](const Operand& each) { return !each.is_output || each.row->source == Source::memory; });
    if (!operand) return {};
    if (coin()) {
      operand->row->index += coin() ? 1 : 64;
      return "the number of an operand";
    }
    const Source before = std::exchange(operand->row->source, Source(random_() % 3));
    if (operand->row->source == before) return {};
    return "the source of an operand";
  }
  Change block(Plan&, ReadRows& rows) {
    ComputeSet** const drawn_set = drawn(rows.sets, [](const ComputeSet* each) { return each->blocks.size() > 0; });
    if (!drawn_set) return {};
    ComputeSet& set = **drawn_set;
    const auto axis = static_cast<int>(drawn(set.blocks.size()));
    const std::int64_t before = ReadRows::blocks(set, axis);
    if (coin()) set.blocks[axis] = std::max<std::int64_t>(1, set.blocks[axis] / 2);
    else set.extents[axis] += 1;
    if (ReadRows::blocks(set, axis) == before) return {};
    return "blocks of a set";
  }
  Step* compute_step(ReadRows& rows) {
    Step** const step = drawn(rows.steps, [](const Step* each) { return each->compute_set >= 0; });
    return step ? *step : nullptr;
  }
  Change vertices(Plan& plan, ReadRows& rows) {
    Step* const step = compute_step(rows);
    if (!step) return {};
    step->vertices += coin() ? 1 : -1;
    return "vertices" + step_name(plan, step);
  }
  Change scratch(Plan&, ReadRows& rows) {
    ComputeSet** const set = drawn(rows.sets, [](const ComputeSet* each) { return each->scratch_bytes > 0; });
    if (!set) return {};
    (*set)->scratch_bytes = 0;
    return "no scratch";
  }
  Change call(Plan& plan, ReadRows& rows) {
    Step** const drawn_step = drawn(rows.steps, [](const Step* each) { return each->is_call(); });
    if (!drawn_step) return {};
    Step* const step = *drawn_step;
    switch (random_() % 3) {
      case 0: step->frame_offset += some_bytes(); return "the frame" + step_name(plan, step);
      case 1: {
        if (step->kind != StepKind::loop) return {};
        step->count += coin() || step->count == 1 ? 1 : -1;
        return "iterations" + step_name(plan, step);
      }
      default: {
        const BodyId before = std::exchange(step->body, BodyId(random_() % plan.bodies.size()));
        if (step->body == before) return {};
        return "the body" + step_name(plan, step);
      }
    }
  }
  Change arguments(Plan& plan, ReadRows& rows) {
    Step** const step = drawn(rows.steps, [](const Step* each) { return each->location_count > 1; });
    if (!step) return {};
    if (random_() % 4 == 0) {  // the plan's table goes on, but the code takes no more
      if ((*step)->first_location + (*step)->location_count == static_cast<int>(plan.locations.size())) return {};
      ++(*step)->location_count;
      return "one location more" + step_name(plan, *step);
    }
    Location& first = plan.locations[(*step)->first_location];
    if (first == (&first)[1]) return {};
    std::swap(first, (&first)[1]);
    return "the order of locations" + step_name(plan, *step);
  }
  Change place(Plan& plan, ReadRows&) {
    const std::int64_t by = some_bytes();
    if (coin() && !plan.variables.empty()) {
      plan.variables[drawn(static_cast<std::int64_t>(plan.variables.size()))].offset += by;
      return "the place of a variable";
    }
    if (plan.constants.empty()) return {};
    plan.constants[drawn(static_cast<std::int64_t>(plan.constants.size()))].offset += by;
    return "the place of a constant";
  }
  Change stream(Plan& plan, ReadRows& rows) {
    if (Step** const step = drawn(rows.steps, [](const Step* each) { return each->stream >= 0; })) {
      (*step)->stream = -1;
      return "no move of a stream" + step_name(plan, *step);
    }
    if (plan.streams.empty()) return {};
    plan.streams[drawn(static_cast<std::int64_t>(plan.streams.size()))].elements += coin() ? 1 : -1;
    return "elements of a stream";
  }
  Change size_of_memory(Plan& plan, ReadRows& rows) {
    std::vector<std::int64_t*> sizes{&plan.memory.frame, &plan.memory.variables, &plan.memory.constants};
    for (Body* const body : rows.bodies) sizes.push_back(&body->frame_bytes);
    std::int64_t** const size = drawn(sizes, [](const std::int64_t* each) { return *each > 0; });
    if (!size) return {};
    **size /= 2;
    return "half of a memory";
  }
  Change code(Plan& plan, ReadRows& rows) {
    Step* const step = compute_step(rows);
    const auto set = static_cast<int>(drawn(static_cast<std::int64_t>(plan.compute_sets.size()) + 1));
    if (!step || set == step->compute_set) return {};
    step->compute_set = set;
    return "the code" + step_name(plan, step);
  }

  std::mt19937_64 random_;
};

}  // namespace plan_mutations
