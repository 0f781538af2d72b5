#pragma once
// Plans as a planner with a fault makes them. The name of a fault says in brackets where it comes from, if that is known: a
// commit that mended the planner or made what can fail so, a pass, or tests/random_programs/planted.py. A function looks for the
// first place in a plan where the fault shows, and breaks the plan there.
#include "plan_programs.hpp"

namespace planner_faults {

struct Fault {
  std::string_view name;  ///< what the planner does wrong
  void (*program)(Ir&);
  bool (*plant)(Plan&);  ///< returns whether the plan has a place for it
};

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
      {"both branches of a conditional run one graph", calls,
       [](Plan& plan) {
         return any_step(plan,
                         [](Step& step) { return step.kind == StepKind::conditional && (step.else_body = step.body, true); });
       }},
      {"a call runs the graph of another one of equal types", calls,
       [](Plan& plan) {
         BodyId other = BodyId::none;
         for (const Step& step : plan.steps)
           if (step.kind == StepKind::conditional) other = step.else_body;
         return any_step(plan, [&](Step& step) { return step.kind == StepKind::call && (step.body = other, true); });
       }},
      {"a scale is packed as another number", updates,
       [](Plan& plan) {
         for (Stage& stage : plan.stages)
           if (stage.attributes.count > 0) return stage.attributes.words[0] += 1, true;
         return false;
       }},
      {"blocks are halved after vertices are counted", layer,
       [](Plan& plan) {
         return any_compute(plan, [](Step& step, ComputeSet& set) {
           return step.vertices > 1 && set.blocks[0] > 1 && (set.blocks[0] /= 2, true);
         });
       }},
      {"a product reads its left operand twice", chain,
       [](Plan& plan) {
         return any_compute(plan, [&](Step& step, ComputeSet& set) {
           const Stage& stage = plan.stages[set.first_stage];
           if (stage.name != "MatMul") return false;
           const Location& left = plan.locations[step.first_location + plan.operands[stage.first_operand].index];
           Location& right = plan.locations[step.first_location + plan.operands[stage.first_operand + 1].index];
           return left != right && (right = left, true);
         });
       }},
  };
  return all;
}

}  // namespace planner_faults
