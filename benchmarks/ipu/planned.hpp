#pragma once
// A program that is planned at run time, and tables of what its plan costs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tilewright/tilewright.hpp>
#include <vector>

namespace planned {

namespace tw = tilewright;
namespace internal = tilewright::internal;

/// A step of a plan: its ops, the module of the first one, and the group as it lies on tiles.
struct Step {
  internal::BodyId body{};
  std::string ops{}, module{};
  std::int64_t vertices = 0, tiles = 0, times = 0;  ///< in a run
};

/// Gathers the steps of a plan while it is made, in the plan's order.
class Observer {
 public:
  Observer(const tw::Ir& ir, const tw::Target& target, std::vector<Step>& steps) : ir_(ir), target_(target), steps_(steps) {}

  void operator()(internal::Pass pass, internal::BodyId body, const internal::BodyDraft& draft, const tw::Plan&) const {
    if (pass != internal::Pass::place) return;
    for (std::size_t g = 0; g < draft.groups.size(); ++g) {
      Step step{.body = body};
      for (const internal::Member& member : draft.groups[g].members) {
        const internal::Operation& operation = draft.operation(member);
        if (!step.ops.empty()) step.ops += ", ";
        step.ops += operation.is_call() ? "call of body " + std::to_string(static_cast<int>(operation.calling.body))
                                        : std::string(operation.op->name);
        if (step.module.empty() && operation.graph != tw::GraphId::none)
          step.module = internal::detail::place_in_model(ir_, operation.graph, operation.scope).view();
      }
      if (!draft.operation(draft.groups[g].members[0]).is_call()) {
        step.vertices = draft.cuts[g].partition.vertices;
        step.tiles = std::min(step.vertices, target_.tiles);
      }
      steps_.push_back(std::move(step));
    }
  }
  void operator()(const tw::Plan&) const {}

 private:
  const tw::Ir& ir_;
  const tw::Target& target_;
  std::vector<Step>& steps_;
};

struct Program {
  std::string name;
  tw::Target target{};
  tw::Plan plan{};
  std::vector<Step> steps{};
};

/// Traces and plans a program, whether or not it fits in the tiles' memory.
template <class Build>
Program plan(std::string name, const Build& build, const tw::Target& target) {
  Program result{std::move(name), target};
  const tw::Target unlimited = target.with_bytes_per_tile(0);
  const tw::Prepared prepared = tw::prepare(*tw::trace(build, unlimited), unlimited);
  result.plan = tw::lower(prepared, Observer(prepared.ir(), unlimited, result.steps));
  std::vector<std::int64_t> times(result.plan.bodies.size(), 0);
  times[0] = 1;
  for (std::size_t b = 0; b < times.size(); ++b) {  // bodies stand before those that they call
    const internal::Body& body = result.plan.bodies[internal::BodyId(b)];
    for (int s = 0; s < body.step_count; ++s) {
      const auto number = static_cast<std::size_t>(body.first_step + s);
      const internal::Step& step = result.plan.steps[number];
      result.steps[number].times = times[b];
      if (!step.is_call()) continue;
      times[static_cast<std::size_t>(step.body)] += times[b] * step.count;
      if (step.else_body != internal::BodyId::none) times[static_cast<std::size_t>(step.else_body)] += times[b] * step.count;
    }
  }
  return result;
}

}  // namespace planned
