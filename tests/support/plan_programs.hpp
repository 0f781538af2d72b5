#pragma once
// Plans as a planner with a fault makes them. The name of a fault says in brackets where it comes from: a commit that mended the
// planner or made what can fail so, or tests/random_programs/planted.py. A function looks for the first place in a plan where
// the fault shows, and breaks the plan there. The faults were written before their author read the rules of the proof.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <tilewright/tilewright.hpp>
#include <utility>
#include <vector>

namespace planner_faults {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Ir, tw::Plan, tw::Tensor;
using tw::internal::Base, tw::internal::BodyId, tw::internal::ComputeSet, tw::internal::Evaluation, tw::internal::Location,
    tw::internal::Source, tw::internal::Stage, tw::internal::StageOperand, tw::internal::Step, tw::internal::StepKind;

inline Tensor load(Ir& ir, std::string_view name, const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return ops::host_load(ir.h2d_stream(name, shape, dtype));
}
inline void store(std::string_view name, Tensor x) { ops::host_store(x.ir().d2h_stream(name, x.spec()), x); }
inline Tensor variable(Ir& ir, std::string_view name, const tw::Shape& shape) {
  return ir.variable(tw::ones(), shape, tw::float32, name);
}

// ---- programs

/// A layer with its bias and activation, a sum over rows, and an update of the weight.
inline void layer(Ir& ir) {
  const Tensor x = load(ir, "x", {64, 32}), w = variable(ir, "w", {32, 48}), b = variable(ir, "b", {48});
  const Tensor y = ops::gelu(x.matmul(w) + b);
  store("sum", ops::sum(y, {0}));
  ops::scaled_add_(w, x.T().matmul(y), {.b = -0.5});
}
/// A softmax, and a sum that some machines add in parts.
inline void softmax(Ir& ir) {
  const Tensor x = load(ir, "x", {64, 512});
  store("y", ops::softmax(x));
  store("sum", ops::sum(x));
}
/// Results that are used again after other results.
inline void chain(Ir& ir) {
  const Tensor x = load(ir, "x", {64, 64}), w = variable(ir, "w", {64, 64});
  const Tensor a = x.matmul(w), b = a.matmul(w), c = b.matmul(w);
  store("y", a.matmul(c.matmul(b)));
}
/// A variable that is read, changed and read again, a copy of its value, and parts of one tensor.
inline void updates(Ir& ir) {
  const Tensor x = load(ir, "x", {8, 16}), w = variable(ir, "w", {8, 16}), v = variable(ir, "v", {8, 16});
  const Tensor before = ops::exp(w);
  ops::scaled_add_(w, x, {.b = 0.5});
  ops::scaled_add_(v, ops::exp(w), {.b = 0.25});
  store("both", ops::concat({before, w.matmul(v.T()).matmul(x)}, 0));
}
/// Two calls of one graph, and a branch.
inline void calls(Ir& ir) {
  tw::Graph step = ir.create_graph([](Tensor x, Tensor w) { return ops::tanh(x.matmul(w)).matmul(w); },
                                   tw::TensorSpec{{16, 16}, tw::float32}, tw::TensorSpec{{16, 16}, tw::float32});
  tw::Graph other = ir.create_graph([](Tensor x, Tensor w) { return ops::exp(x + w); }, tw::TensorSpec{{16, 16}, tw::float32},
                                    tw::TensorSpec{{16, 16}, tw::float32});
  const Tensor w = variable(ir, "w", {16, 16}), u = variable(ir, "u", {16, 16}), x = load(ir, "x", {16, 16});
  const Tensor first = tw::call(step, {x, w}), second = tw::call(step, {first, u});
  const Tensor chosen = tw::conditional(load(ir, "condition", {}, tw::boolean), {step, {second, w}}, {other, {first, u}});
  store("y", chosen.matmul(second) + x);
}
/// A loop that carries one tensor.
inline void loops(Ir& ir) {
  const Tensor w = variable(ir, "w", {16, 16}), x = load(ir, "x", {16, 16});
  const tw::Graph step = ir.create_graph([](Tensor t) { return ops::tanh(t) * 0.5; }, x);
  const Tensor last = tw::repeat(step, 5, {x});
  store("y", last.matmul(w) + x);
}
/// Rows in streaming memory, two of which are used, and constants.
inline void rows(Ir& ir) {
  const tw::RemoteBuffer buffer = ir.remote_buffer({16}, tw::float32, 4);
  const Tensor a = ops::remote_load(buffer, 1), b = ops::remote_load(buffer, 3);
  ops::remote_store(buffer, 2, a + b);
  store("y", ops::exp(a) * b);
}
/// Two streams to the host of equal type, and two of the host's.
inline void streams(Ir& ir) {
  const Tensor a = load(ir, "a", {8, 8}), b = load(ir, "b", {8, 8});
  store("sum", ops::exp(a));
  store("product", ops::exp(b));
}

// ---- what a plan says of its steps

inline int steps_of(const Plan& plan, BodyId body) { return plan.bodies[body].step_count; }
inline Step& step_of(Plan& plan, BodyId body, int s) { return plan.steps[plan.bodies[body].first_step + s]; }
/// The numbers of the locations that a compute step reads, or writes.
inline std::vector<int> places(const Plan& plan, const Step& step, bool written) {
  std::vector<int> found;
  if (step.compute_set < 0) return found;
  const ComputeSet& set = plan.compute_sets[step.compute_set];
  for (int s = 0; s < set.stage_count; ++s) {
    const Stage& stage = plan.stages[set.first_stage + s];
    for (int o = 0; o < stage.operand_count; ++o)
      if (const StageOperand& operand = plan.operands[stage.first_operand + o];
          operand.source == Source::memory && (o >= stage.input_count) == written)
        found.push_back(step.first_location + operand.index);
  }
  return found;
}
/// Calls f(step) for each step of the main body, and then of the others, until it returns true. Returns whether it did.
template <class F>
bool any_step(Plan& plan, const F& f) {
  for (Step& step : plan.steps)
    if (f(step)) return true;
  return false;
}
template <class F>
bool any_compute(Plan& plan, const F& f) {
  return any_step(plan, [&](Step& step) { return step.compute_set >= 0 && f(step, plan.compute_sets[step.compute_set]); });
}
/// Calls f(first, second, location) for two steps of a body, of which the second one reads what the first one wrote.
template <class F>
bool any_flow(Plan& plan, const F& f) {
  for (int body = 0; body < static_cast<int>(plan.bodies.size()); ++body)
    for (int a = 0; a < steps_of(plan, BodyId(body)); ++a)
      for (int b = a + 1; b < steps_of(plan, BodyId(body)); ++b) {
        Step &first = step_of(plan, BodyId(body), a), &second = step_of(plan, BodyId(body), b);
        for (const int w : places(plan, first, true))
          for (const int r : places(plan, second, false))
            if (plan.locations[w] == plan.locations[r] && f(first, second, w)) return true;
      }
  return false;
}
/// Takes a step out of its body.
inline void leave_out(Plan& plan, Step& step) {
  const auto number = static_cast<int>(&step - plan.steps.data());
  for (auto& body : plan.bodies) {
    if (number >= body.first_step && number < body.first_step + body.step_count) --body.step_count;
    else if (body.first_step > number) --body.first_step;
  }
  for (Step* s = &step; s + 1 != plan.steps.data() + plan.steps.size(); ++s) *s = s[1];
  plan.steps.pop_back();
}
/// Calls f(operand, stage, set) for each operand in memory of stages that are evaluated in some way.
template <class F>
bool any_operand(Plan& plan, Evaluation evaluation, const F& f) {
  return any_compute(plan, [&](Step&, ComputeSet& set) {
    for (int s = 0; s < set.stage_count; ++s)
      if (const Stage& stage = plan.stages[set.first_stage + s]; stage.evaluation == evaluation)
        for (int o = 0; o < stage.operand_count; ++o)
          if (f(plan.operands[stage.first_operand + o], stage, o, set)) return true;
    return false;
  });
}
inline int blocks_along(const ComputeSet& set, int axis) {
  return static_cast<int>((set.extents[axis] + set.blocks[axis] - 1) / set.blocks[axis]);
}

}  // namespace planner_faults
