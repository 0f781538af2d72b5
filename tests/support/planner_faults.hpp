#pragma once
// Plans as a planner with a fault makes them. The name of a fault says in brackets where it comes from, if that is known: a
// commit that mended the planner or made what can fail so, a pass, or tests/random_programs/planted.py. A function looks for the
// first place in a plan where the fault shows, and breaks the plan there.
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

struct Fault {
  std::string_view name;  ///< what the planner does wrong
  void (*program)(Ir&);
  bool (*plant)(Plan&);  ///< returns whether the plan has a place for it
};

// ---- faults

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

inline const std::vector<Fault>& faults() {
  static const std::vector<Fault> all{
      {"an epilogue reads an operand that is not cut as the kernel's result (cd6d3524)", layer,
       [](Plan& plan) {
         return any_compute(plan, [&](Step&, ComputeSet& set) {
           if (set.stage_count < 2) return false;
           for (int s = 1; s < set.stage_count; ++s) {
             const Stage& stage = plan.stages[set.first_stage + s];
             for (int o = 0; o < stage.operand_count; ++o) {
               StageOperand& operand = plan.operands[stage.first_operand + o];
               for (int axis = 0; axis < operand.view.shape.rank; ++axis)
                 if (operand.source == Source::memory && operand.grid_axis[axis] >= 0 &&
                     blocks_along(set, operand.grid_axis[axis]) > 1)
                   return operand.grid_axis[axis] = -1, true;
             }
           }
           return false;
         });
       }},
      {"blocks of an operand all begin at its first element (a stride of 0)", layer,
       [](Plan& plan) {
         return any_compute(plan, [&](Step&, ComputeSet& set) {
           for (int i = 0; i < set.location_count * set.blocks.size(); ++i)
             if (std::int64_t& stride = plan.strides[set.first_stride + i];
                 stride != 0 && blocks_along(set, i % set.blocks.size()) > 1)
               return stride = 0, true;
           return false;
         });
       }},
      {"partial sums of all blocks lie at one place", softmax,
       [](Plan& plan) {
         return any_flow(plan, [&](Step& first, Step&, int location) {
           const ComputeSet& set = plan.compute_sets[first.compute_set];
           for (int axis = 0; axis < set.blocks.size(); ++axis)
             if (std::int64_t& stride =
                     plan.strides[set.first_stride + (location - first.first_location) * set.blocks.size() + axis];
                 stride != 0 && blocks_along(set, axis) > 1)
               return stride = 0, true;
           return false;
         });
       }},
      {"a group moves before another that writes what it reads (planted.py)", chain,
       [](Plan& plan) {
         return any_flow(plan, [&](Step& first, Step& second, int) {
           std::swap(first, second);
           return true;
         });
       }},
      {"memory is taken over although it is read later (planted.py)", chain,
       [](Plan& plan) {
         // a is written, read by a step that writes b, and read again: b is written over a
         return any_flow(plan, [&](Step& first, Step& second, int a) {
           const auto written = places(plan, second, true);
           if (written.empty() || &second == &first) return false;
           bool read_later = false;
           for (Step* later = &second + 1; later != plan.steps.data() + plan.steps.size(); ++later)
             for (const int r : places(plan, *later, false)) read_later = read_later || plan.locations[r] == plan.locations[a];
           if (!read_later) return false;
           const Location b = plan.locations[written[0]], over = plan.locations[a];
           for (Location& each : plan.locations)
             if (each == b) each = over;
           return true;
         });
       }},
      {"an update is dead code, because nothing reads its result", layer,
       [](Plan& plan) {
         return any_compute(plan, [&](Step& step, ComputeSet&) {
           for (const int w : places(plan, step, true))
             if (plan.locations[w].base == Base::variable) return leave_out(plan, step), true;
           return false;
         });
       }},
      {"an update moves before a step that reads the old value (b4ef5b57)", updates,
       [](Plan& plan) {
         for (std::size_t a = 0; a < plan.steps.size(); ++a)
           for (std::size_t b = a + 1; b < plan.steps.size(); ++b)
             for (const int w : places(plan, plan.steps[b], true))
               for (const int r : places(plan, plan.steps[a], false))
                 if (plan.locations[w] == plan.locations[r] && plan.locations[w].base == Base::variable) {
                   std::rotate(plan.steps.data() + a, plan.steps.data() + b, plan.steps.data() + b + 1);
                   return true;
                 }
         return false;
       }},
      {"an update in a called graph runs once more (cc4fdfc2)", updates,
       [](Plan& plan) {
         for (std::size_t s = 0; s + 1 < plan.steps.size(); ++s)
           for (const int w : places(plan, plan.steps[s], true))
             if (plan.locations[w].base == Base::variable) return plan.steps[s + 1] = plan.steps[s], true;
         return false;
       }},
      {"an update writes another variable of equal type (4c85ec20)", updates,
       [](Plan& plan) {
         for (Step& step : plan.steps)
           for (const int w : places(plan, step, true))
             if (plan.locations[w].base == Base::variable)
               for (const auto& other : plan.variables)
                 if (other.offset != plan.locations[w].offset) return plan.locations[w].offset = other.offset, true;
         return false;
       }},
      {"a call writes its result to the host's array of another stream (cb4ef8d9)", streams,
       [](Plan& plan) {
         Location* first = nullptr;
         for (Step& step : plan.steps)
           for (const int w : places(plan, step, true))
             if (plan.locations[w].base == Base::stream) {
               if (first && first->index != plan.locations[w].index)
                 return std::swap(first->index, plan.locations[w].index), true;
               first = &plan.locations[w];
             }
         return false;
       }},
      {"a load reads the stream of another input (f7adaaa4)", streams,
       [](Plan& plan) {
         Location* first = nullptr;
         for (Step& step : plan.steps)
           for (const int r : places(plan, step, false))
             if (plan.locations[r].base == Base::stream) {
               if (first && first->index != plan.locations[r].index) return first->index = plan.locations[r].index, true;
               first = &plan.locations[r];
             }
         return false;
       }},
      {"no barrier before a step that reads what the step before wrote (943eb6af)", chain,
       [](Plan& plan) {
         return any_flow(plan, [&](Step& first, Step& second, int) {
           if (&second != &first + 1 || first.vertices < 2 || !second.barrier_before) return false;
           return second.barrier_before = false, true;
         });
       }},
      {"no barrier before a step that overwrites what another reads (943eb6af)", updates,
       [](Plan& plan) {
         for (std::size_t s = 0; s + 1 < plan.steps.size(); ++s)
           for (const int w : places(plan, plan.steps[s + 1], true))
             for (const int r : places(plan, plan.steps[s], false))
               if (plan.locations[w] == plan.locations[r] && plan.steps[s + 1].barrier_before &&
                   plan.steps[s].vertices + plan.steps[s + 1].vertices > 2)
                 return plan.steps[s + 1].barrier_before = false, true;
         return false;
       }},
      {"the frame of a called body lies over a tensor of its caller", calls,
       [](Plan& plan) {
         return any_step(plan, [&](Step& step) {
           if (!step.is_call() || plan.bodies[step.body].frame_bytes == 0) return false;
           for (int i = 0; i < step.arguments; ++i)
             if (const Location& place = plan.locations[step.first_location + i];
                 place.base == Base::frame && place.offset != step.frame_offset)
               return step.frame_offset = place.offset, true;
           return false;
         });
       }},
      {"a call passes the arguments of another call of its graph (0f9c92d2)", calls,
       [](Plan& plan) {
         Step* first = nullptr;
         return any_step(plan, [&](Step& step) {
           if (step.kind != StepKind::call) return false;
           if (first && first->body == step.body) return step.first_location = first->first_location, true;
           first = &step;
           return false;
         });
       }},
      {"the arguments of a call are in another order (0f9c92d2)", calls,
       [](Plan& plan) {
         return any_step(plan, [&](Step& step) {
           if (step.kind != StepKind::call || step.arguments < 2) return false;
           std::swap(plan.locations[step.first_location], plan.locations[step.first_location + 1]);
           return true;
         });
       }},
      {"a conditional has its branches in the other order", calls,
       [](Plan& plan) {
         return any_step(plan, [](Step& step) {
           if (step.kind != StepKind::conditional) return false;
           std::swap(step.body, step.else_body);
           return true;
         });
       }},
      {"both branches of a conditional get the arguments of the first", calls,
       [](Plan& plan) {
         return any_step(plan, [&](Step& step) {
           if (step.kind != StepKind::conditional) return false;
           bool changed = false;
           for (int i = 0; i < step.arguments && 1 + step.arguments + i < step.location_count; ++i) {
             Location& place = plan.locations[step.first_location + 1 + step.arguments + i];
             const Location& other = plan.locations[step.first_location + 1 + i];
             changed = changed || place != other, place = other;
           }
           return changed;
         });
       }},
      {"a loop runs once less (1d1fc855)", loops,
       [](Plan& plan) { return any_step(plan, [](Step& step) { return step.kind == StepKind::loop && (--step.count, true); }); }},
      {"iterations of a loop write where they read (365024ef)", loops,
       [](Plan& plan) {
         return any_step(plan, [&](Step& step) {
           if (step.kind != StepKind::loop) return false;
           for (int i = 0; i < step.arguments; ++i)  // those of odd iterations, for those of even ones
             plan.locations[step.first_location + 2 * step.arguments + i] =
                 plan.locations[step.first_location + step.arguments + i];
           return true;
         });
       }},
      {"the first iteration of a loop reads what the second one reads", loops,
       [](Plan& plan) {
         return any_step(plan, [&](Step& step) {
           if (step.kind != StepKind::loop) return false;
           bool changed = false;
           for (int i = 0; i < step.arguments; ++i) {
             Location &first = plan.locations[step.first_location + i],
                      &second = plan.locations[step.first_location + step.arguments + i];
             changed = changed || first != second, first = second;
           }
           return changed;
         });
       }},
      {"a load reads the next row of a remote buffer (bcd12d7a)", rows,
       [](Plan& plan) {
         for (Step& step : plan.steps)
           for (const int r : places(plan, step, false))
             if (plan.locations[r].base == Base::remote)
               return plan.locations[r].offset += plan.remote_buffers[0].row_bytes(), true;
         return false;
       }},
      {"a row is stored in the gap that aligns the next one", rows,
       [](Plan& plan) {
         for (Step& step : plan.steps)
           for (const int w : places(plan, step, true))
             if (plan.locations[w].base == Base::remote) return plan.locations[w].offset += 32, true;
         return false;
       }},
      {"streaming memory is smaller than its rows", rows, [](Plan& plan) { return (plan.memory.remote -= 64) >= 0; }},
      {"the frame is smaller than what lies in it", chain,
       [](Plan& plan) {
         plan.bodies[BodyId::main].frame_bytes /= 2, plan.memory.frame /= 2;
         return plan.memory.frame > 0;
       }},
      {"two variables share memory", updates,
       [](Plan& plan) {
         if (plan.variables.size() < 2) return false;
         const std::int64_t from = plan.variables[1].offset, to = plan.variables[0].offset;
         plan.variables[1].offset = to;
         for (Location& each : plan.locations)
           if (each.base == Base::variable && each.offset == from) each.offset = to;
         return true;
       }},
      {"a product is written with its axes in another order than it is read (write_as_read)", chain,
       [](Plan& plan) {
         return any_operand(plan, Evaluation::kernel, [](StageOperand& operand, const Stage& stage, int o, ComputeSet&) {
           if (o < stage.input_count || operand.view.shape.rank != 2 || operand.source != Source::memory) return false;
           std::swap(operand.view.strides[0], operand.view.strides[1]);
           return true;
         });
       }},
      {"a transposed operand is read as it lies (views are values, 75392c28)", layer,
       [](Plan& plan) {
         return any_operand(plan, Evaluation::kernel, [](StageOperand& operand, const Stage& stage, int o, ComputeSet&) {
           if (o >= stage.input_count || operand.view.shape.rank != 2 || operand.source != Source::memory) return false;
           if (operand.view.strides[0] != 1) return false;
           operand.view.strides[0] = operand.view.shape[1], operand.view.strides[1] = 1;
           return true;
         });
       }},
      {"equal groups but for an attribute share one compute set", updates,
       [](Plan& plan) {
         for (Stage& stage : plan.stages)
           for (const Stage& other : plan.stages)
             if (stage.op == other.op && stage.attributes.count > 0 && !(stage.attributes == other.attributes))
               return stage.attributes = other.attributes, true;
         return false;
       }},
      {"scratch is smaller than what lies in it (544caa9f)", softmax,
       [](Plan& plan) {
         for (ComputeSet& set : plan.compute_sets)
           if (set.scratch_bytes > 0) return set.scratch_bytes /= 2, true;
         return false;
       }},
      {"an operand is read as numbers of another size (0f733afd)", calls,
       [](Plan& plan) {
         return any_operand(plan, Evaluation::kernel, [](StageOperand& operand, const Stage&, int, ComputeSet&) {
           operand.view.dtype = tw::float16;
           return true;
         });
       }},
      {"a step has a vertex too few (ceiling of a division)", layer,
       [](Plan& plan) {
         return any_compute(plan, [](Step& step, ComputeSet&) { return step.vertices > 1 && (--step.vertices, true); });
       }},
      {"an op before a call is moved into no graph (7dd9bacd)", calls,
       [](Plan& plan) {
         for (int s = 0; s < steps_of(plan, BodyId::main); ++s)
           if (Step& step = step_of(plan, BodyId::main, s); step.compute_set >= 0) return leave_out(plan, step), true;
         return false;
       }},
      {"a copy is left out that keeps an input by value apart (365024ef)", updates,
       [](Plan& plan) {
         // who reads the result reads the changed variable
         return any_flow(plan, [&](Step& first, Step& second, int w) {
           for (const int r : places(plan, first, false))
             if (plan.locations[r].base == Base::variable) {
               const Location from = plan.locations[w];
               for (const int reader : places(plan, second, false))
                 if (plan.locations[reader] == from) return plan.locations[reader] = plan.locations[r], true;
             }
           return false;
         });
       }},
      {"a kernel adds the parts of one sum only (reduction_stages)", softmax,
       [](Plan& plan) {
         return any_flow(plan, [&](Step&, Step& second, int) {
           const ComputeSet& set = plan.compute_sets[second.compute_set];
           StageOperand& operand = plan.operands[plan.stages[set.first_stage].first_operand];
           for (int axis = 0; axis < operand.view.shape.rank; ++axis)
             if (operand.view.shape[axis] > 1) return operand.view.shape[axis] -= 1, true;
           return false;
         });
       }},
  };
  return all;
}

}  // namespace planner_faults
