#pragma once
#include <utility>

#include "tilewright/execute/executor.hpp"
#include "tilewright/execute/frozen_plan.hpp"
#include "tilewright/lower/lower.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

namespace detail {

struct Measured {
  PlanSizes sizes{};
  std::size_t failure = 0;  ///< length of the error text
};

/// Traces and plans a program once, to know its sizes and whether it is right.
template <auto build, Target target>
consteval Measured measure() {
  Ir ir(OnError::record);
  build(ir);
  const Plan plan = lower(ir, target);
  return {sizes_of(plan), ir.failure().size()};
}
template <auto build, Target target>
constexpr Text failure_text() {
  Ir ir(OnError::record);
  build(ir);
  lower(ir, target);
  return ir.failure();
}
/// Fails with the user's call stack where the program is wrong: here the trace throws.
template <auto build, Target target>
consteval bool trace_and_raise() {
  Ir ir;
  build(ir);
  lower(ir, target);
  return true;
}
template <auto build, Target target, PlanSizes sizes>
consteval FrozenPlan<sizes> trace_and_freeze() {
  Ir ir;
  build(ir);
  return freeze<sizes>(lower(ir, target));
}

template <auto build, Target target, Measured measured>
consteval auto make_plan() {
  if constexpr (measured.failure > 0) return FrozenPlan<PlanSizes{}>{};
  else return trace_and_freeze<build, target, measured.sizes>();
}
/// Nothing for a program that is right, else compile errors: the message, and the user's call stack.
template <auto build, Target target, Measured measured>
struct Errors {};
template <auto build, Target target, Measured measured>
  requires(measured.failure > 0)
struct Errors<build, target, measured> : Report<failure_text<build, target>, measured.failure> {
  static_assert(trace_and_raise<build, target>());
};

}  // namespace detail

/// A program: what `build`, a function of an Ir, traces, planned for a target while the program compiles. Errors of the model
/// are compile errors that show the message and the call stack of the trace.
template <auto build, Target target = cpu>
struct Program {
  static constexpr detail::Measured measured = detail::measure<build, target>();
  static constexpr auto plan = detail::make_plan<build, target, measured>();
  static constexpr detail::Errors<build, target, measured> errors{};
  static constexpr auto stream_bytes = [] {
    std::array<std::int64_t, plan.streams.size()> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = plan.streams[i].spec.bytes();
    return bytes;
  }();
  static ProgramView view() {
    return {plan.bodies, plan.steps, plan.locations, compute_functions<plan>, stream_bytes, plan.memory};
  }
};

/// Traces a program at run time: for a debugger, to print its graphs, or to plan it for a machine that is known late.
/// The tensors and graphs of an Ir point to it, so that it stays where it is.
template <class Build>
std::unique_ptr<Ir> trace(const Build& build) {
  auto ir = std::make_unique<Ir>();
  build(*ir);
  return ir;
}

}  // namespace tilewright
