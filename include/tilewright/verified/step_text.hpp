#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/lower/print_plan.hpp"

namespace tilewright::internal::proof::detail {

/// Returns a name of a plan, or of a frozen one, which has names in a pool.
constexpr std::string_view name_in(const auto& plan, const auto& name) {
  if constexpr (requires { plan.text(name); }) return plan.text(name);
  else return name.view();
}

/// Returns the name of a variable, a stream or a remote buffer in brackets; empty: it has none.
constexpr Text row_name(const auto& plan, Base base, std::size_t number) {
  std::string_view name;
  if (base == Base::variable) name = name_in(plan, plan.variables[number].name);
  else if (base == Base::stream) name = name_in(plan, plan.streams[number].name);
  else name = name_in(plan, plan.remote_buffers[number].name);
  if (name.empty()) return {};
  return text(" (", name, ")");
}

/// Names a step of a plan and its tensors, for the text of a fault. The plan may be wrong: rows that do not exist are not read.
template <class AnyPlan>
class StepText {
 public:
  /// `step`: its number in the body, which exists.
  constexpr StepText(const AnyPlan& plan, BodyId body, int step)
      : plan_(plan), body_(plan.bodies.data()[static_cast<std::size_t>(body)]), number_(step) {}

  /// Returns `MatMul [Add] of x (8, 100) float32, fc1.weight (100, 64) float32 to Add (8, 64) float32`.
  constexpr Text run() const {
    const Step& step = step_at(number_);
    if (step.kind == StepKind::load_code) return text("the load of the code of body ", step.body);
    if (step.kind == StepKind::conditional) return text("the call of body ", step.body, " or ", step.else_body);
    if (step.is_call()) return text("the call of body ", step.body);
    const ComputeSet* const set = set_of(step);
    if (set == nullptr) return "a step";
    Text result = internal::detail::print_stages(plan_, *set);
    add_tensors(step, *set, false, " of ", result);
    add_tensors(step, *set, true, " to ", result);
    return result;
  }

 private:
  static constexpr int most_names = 6;  // of operands, and of results

  constexpr const Step& step_at(int step) const { return plan_.steps[static_cast<std::size_t>(body_.first_step + step)]; }
  constexpr const ComputeSet* set_of(const Step& step) const {
    if (step.compute_set < 0 || static_cast<std::size_t>(step.compute_set) >= plan_.compute_sets.size()) return nullptr;
    const ComputeSet& set = plan_.compute_sets[static_cast<std::size_t>(step.compute_set)];
    const auto end = static_cast<std::int64_t>(step.first_location) + step.location_count;
    const bool has_locations = step.first_location >= 0 && end <= static_cast<std::int64_t>(plan_.locations.size()) &&
                               step.location_count >= set.location_count;
    return has_locations ? &set : nullptr;
  }
  /// Calls f(stage, operand) for operands of a step in memory: results, or others. f returns false to stop.
  constexpr void for_each_operand(const ComputeSet& set, bool results, const auto& f) const {
    for (int s = 0; s < set.stage_count; ++s) {
      const Stage& stage = plan_.stages[static_cast<std::size_t>(set.first_stage + s)];
      for (int o = results ? stage.input_count : 0; o < (results ? stage.operand_count : stage.input_count); ++o)
        if (const StageOperand& operand = plan_.operands[static_cast<std::size_t>(stage.first_operand + o)];
            operand.source == Source::memory && operand.index >= 0 && operand.index < set.location_count && !f(stage, operand))
          return;
    }
  }
  constexpr const Location& location_of(const Step& step, const StageOperand& operand) const {
    return plan_.locations[static_cast<std::size_t>(step.first_location + operand.index)];
  }
  constexpr void add_tensors(const Step& step, const ComputeSet& set, bool results, std::string_view before,
                             Text& text_of) const {
    int count = 0;
    bool is_known[max_locations]{};
    for_each_operand(set, results, [&](const Stage& stage, const StageOperand& operand) {
      const Location& location = location_of(step, operand);
      if (location.base == Base::position || is_known[operand.index]) return true;
      is_known[operand.index] = true;
      if (count == most_names) return text_of += ", ...", false;
      text_of += count++ == 0 ? before : ", ";
      text_of += tensor_at(location, results ? stage.name : std::string_view());
      text_of += text(" ", to_text(TensorSpec{operand.view.shape, operand.view.dtype}));
      return true;
    });
  }
  static constexpr bool is_in(const auto& row, const Location& location) {
    return row.offset <= location.offset && location.offset < row.offset + row.spec.bytes();
  }
  /// Returns the name of a tensor. `maker`: the op that writes it, if that is known.
  constexpr Text tensor_at(const Location& location, std::string_view maker) const {
    const auto index = static_cast<std::size_t>(location.index);
    std::string_view name;
    switch (location.base) {
      case Base::argument: return text("argument ", location.index);
      case Base::stream:
        if (index < plan_.streams.size()) name = name_in(plan_, plan_.streams[index].name);
        break;
      case Base::variable:
        for (const auto& each : plan_.variables)
          if (each.base == Base::variable && is_in(each, location)) name = name_in(plan_, each.name);
        break;
      case Base::constant:
        for (const auto& each : plan_.constants)
          if (is_in(each, location)) name = name_in(plan_, each.name);
        break;
      case Base::remote: return "rows of streaming memory";
      default: name = maker.empty() ? maker_of(location) : maker;
    }
    if (!name.empty()) return name;
    return text("bytes from ", location.offset, " on of memory `", name_of(location.base), "`");
  }
  /// Returns the op that writes a place in the frame last before the step, or after it; empty: none does.
  constexpr std::string_view maker_of(const Location& location) const {
    std::string_view name;
    const auto look = [&](int s) {
      const Step& step = step_at(s);
      if (const ComputeSet* const set = step.is_call() ? nullptr : set_of(step))
        for_each_operand(*set, true, [&](const Stage& stage, const StageOperand& operand) {
          if (location_of(step, operand) == location) name = stage.name;
          return true;
        });
    };
    for (int s = number_; s-- > 0 && name.empty();) look(s);
    for (int s = number_ + 1; s < body_.step_count && name.empty(); ++s) look(s);
    return name;
  }

  const AnyPlan& plan_;
  const Body& body_;
  int number_;
};

}  // namespace tilewright::internal::proof::detail
