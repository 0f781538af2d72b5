#pragma once
#include "tilewright/core/requirements.hpp"

#include <concepts>
#include <string_view>
#include <utility>

#include "tilewright/core/text/constant_text.hpp"
#include "tilewright/execute/program.hpp"
#include "tilewright/lower/figures/frame_peak.hpp"
#include "tilewright/transform/prepare.hpp"
#include "tilewright/verified/called_graphs.hpp"
#include "tilewright/verified/globals.hpp"
#include "tilewright/verified/memory/ranges.hpp"
#include "tilewright/verified/op_uses.hpp"
#include "tilewright/verified/plan_run.hpp"
#include "tilewright/verified/plan_tables.hpp"
#include "tilewright/verified/plan_with_moves.hpp"
#include "tilewright/verified/step_text.hpp"
#include "tilewright/verified/tiles/tiles.hpp"

namespace tilewright {

namespace internal::proof::detail {

/// Returns a plan of which all code of the proof has one type: the plan itself, or the rows of a frozen one.
constexpr const Plan& rows_of(const Plan& plan) { return plan; }
template <PlanSizes sizes>
constexpr FrozenRows rows_of(const FrozenPlan<sizes>& plan) {
  return FrozenRows(plan);
}
template <std::derived_from<FrozenRows> Rows>
constexpr const Rows& rows_of(const Rows& rows) {
  return rows;
}
/// Finds the first fault of a plan. `called`: graphs that run once.
template <bool may_have_tiles>
constexpr Fault find_fault(const Prepared& prepared, const auto& plan, std::string_view ignored, CalledGraphs& called) {
  if (Text wrong = RangesCheck(prepared.target()).run(plan); !wrong.empty()) return {std::move(wrong)};
  GlobalsCheck globals(plan, prepared.ir());
  if (!globals.has_rows())
    return {"tables: other numbers of variables, constants, streams, remote buffers or replicas: those of the program expected"};
  if (Text wrong; ignored != "values" && !(wrong = globals.run()).empty()) return {std::move(wrong)};
  ValueTerms terms;
  PlanStages in_strips;  // only plans for simulated IPUs have strips
  if (prepared.target().ipu)
    in_strips = {{plan.stages.data(), plan.stages.size()}, {plan.operands.data(), plan.operands.size()}, &prepared.target()};
  OpUses(prepared.ir(), terms, in_strips).run();
  const RunEffects expected = GraphRun(prepared.ir(), terms, in_strips, called).run();
  if (Fault fault = TablesCheck(plan, prepared.target(), terms, ignored).run(); !fault.what.empty()) return fault;
  PlanRun run(plan, terms, called);
  run.ignore(ignored);
  if (Fault fault = run.run(expected); !fault.what.empty()) return fault;
  return {fault_on_tiles<may_have_tiles>(plan, prepared.target(), terms, run.reads_unwritten(), ignored)};
}
/// Numbers of ops of a run. Up to most_ops, the proof follows each call. If graphs that run once show a fault, it follows each
/// call, too, up to most_ops_again, because a plan may do in another way what a graph does for the inputs of one call.
inline constexpr double most_ops = 1000, most_ops_again = 1e6;
template <bool may_have_tiles>
constexpr Fault find_fault(const Prepared& prepared, const auto& plan, std::string_view ignored) {
  CalledGraphs called(prepared.ir());
  if (called.steps() > most_ops) {
    CalledGraphs once = called;
    once.find();
    Fault fault = find_fault<may_have_tiles>(prepared, plan, ignored, once);
    if (fault.what.empty() || called.steps() > most_ops_again) return fault;
  }
  return find_fault<may_have_tiles>(prepared, plan, ignored, called);
}
/// Returns the step of a fault, its tensors, and the module in which its op was traced. Another planning of the program finds the
/// module, which no plan has.
constexpr Text place_of(const Fault& fault, const Prepared& prepared, const auto& plan) {
  if (fault.body == BodyId::none) return {};
  const Body& body = plan.bodies.data()[static_cast<std::size_t>(fault.body)];
  if (fault.step >= body.step_count) return {};
  Text result = text(", in step ", fault.step, " of body ", fault.body, ", ", StepText(plan, fault.body, fault.step).run());
  FramePeaks peaks(prepared.ir(), prepared.target());
  lower(prepared, peaks);
  const auto number = static_cast<std::size_t>(body.first_step + fault.step);
  if (number < peaks.modules().size() && !peaks.modules()[number].empty()) result += text(", in ", peaks.modules()[number]);
  return result;
}

/// Returns the text of a plan's first fault, or an empty one.
template <bool may_have_tiles = true>
constexpr Text fault_text_of(const Prepared& prepared, const auto& plan, std::string_view ignored) {
  const auto& rows = rows_of(plan);
  Fault fault = find_fault<may_have_tiles>(prepared, rows, ignored);
  if (!fault.what.empty()) fault.what += place_of(fault, prepared, rows);
  return std::move(fault.what);
}

}  // namespace internal::proof::detail

/// Proves that a plan does what the graphs of a prepared program say: `fault_of_plan(prepared, lower(prepared))`. Returns the
/// first fault, `rule: what was given: what was expected, in step 3 of body 2, MatMul [Add] of x (8, 100) float32, ..., in
/// Net_subgraph(0)/fc1`; an empty text: the plan is proven. `plan`: a Plan, or a frozen one. It runs graphs and plan on names of
/// values in place of numbers, so its time grows with the steps that a run makes, and with the columns of tensors that are put
/// together from others. In long runs, a called graph that only changes what its caller gives runs once, not in each call. Rules:
/// docs/how-to/proofs.md. `ignored`: a rule that is not checked.
constexpr Text fault_of_plan(const Prepared& prepared, const auto& plan, std::string_view ignored = {}) {
  return internal::proof::detail::fault_text_of(prepared, plan, ignored);
}

namespace internal::proof::detail {

/// Why a program is not proven; empty: it is, or its errors say why it has no plan.
template <auto build, Target target>
inline constexpr tilewright::detail::ConstantText fault_text = [] {
  tilewright::detail::ConstantText result;
  if constexpr (internal::detail::draft_of<build, target>.failure == 0) {
    Ir ir;
    trace_for(target, build, ir);
    const Prepared prepared = prepare(std::move(ir), target);
    constexpr bool may_have_tiles = target.ipu != nullptr;
    if (const Text fault = fault_text_of<may_have_tiles>(prepared, plan_with_moves<build, target>(prepared), {}); !fault.empty())
      result.set(text("verified: ", fault));
  }
  return result;
}();
template <auto build, Target target>
constexpr const tilewright::detail::ConstantText& fault_message() {
  return fault_text<build, target>;
}
/// Complete for a program that is proven; otherwise compile errors.
template <auto build, Target target, std::size_t size>
struct MustBeProven : Report<fault_message<build, target>, size> {};
template <auto build, Target target>
struct MustBeProven<build, target, 0> : Program<build, target> {};

}  // namespace internal::proof::detail

/// Proves, while a program compiles, that its frozen plan, which a session runs, does what the program's graphs say:
/// `static_assert(tw::verified<program, tw::cpu>)`. A plan with a fault is a compile error with the text of `fault_of_plan`.
template <auto program, Target target = cpu>
inline constexpr bool verified =
    sizeof(internal::proof::detail::MustBeProven<program, target, internal::proof::detail::fault_text<program, target>.size()>) >
    0;

}  // namespace tilewright
