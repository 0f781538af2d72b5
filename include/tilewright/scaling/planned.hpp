#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/execute/program.hpp"
#include "tilewright/execute/stages.hpp"
#include "tilewright/scaling/algorithm.hpp"

namespace tilewright::scaling {

namespace detail {

/// Bytes that a compute set moves between replicas in each execution.
template <const auto& plan, std::size_t set>
inline constexpr CollectiveVolume volume_of_set = [] {
  constexpr internal::Stage stage = plan.stages[static_cast<std::size_t>(plan.compute_sets[set].first_stage)];
  using O = internal::detail::OpType<stage.op>;
  if constexpr (op_info<O>.collective_volume != nullptr) {
    const auto spec = [&](int operand) {
      const ViewSpec& view = plan.operands[static_cast<std::size_t>(stage.first_operand + operand)].view;
      return TensorSpec{view.shape, view.dtype};
    };
    return op_info<O>.collective_volume(stage.attributes, spec(0), spec(1));
  } else {
    return CollectiveVolume{};
  }
}();

/// Returns a compute set's transfer between replicas as a collective. If it moves nothing, returns a collective that never runs.
template <const auto& plan, std::size_t set>
consteval Collective collective_of_set() {
  constexpr CollectiveVolume volume = volume_of_set<plan, set>;
  if constexpr ((volume.reduces || volume.gathers) && volume.groups.group_size != volume.groups.num_replicas) {
    constexpr auto problem = [] {
      const CollectiveVolume& moved = volume_of_set<plan, set>;
      return text("collectives_of: ", moved.bytes, " bytes over groups of ", moved.groups.group_size, " of ",
                  moved.groups.num_replicas, " replicas: collectives over all replicas expected");
    };
    static_assert(sizeof(Report<problem>) > 0);
  }
  if (!volume.reduces && !volume.gathers) return {.times = 0};
  return {.bytes = volume.bytes, .reduces = volume.reduces, .gathers = volume.gathers, .times = 0};
}

template <std::size_t sets>
struct CountedCollectives {
  std::array<Collective, sets> collectives{};
  std::size_t count = 0;  ///< number of collectives that run

  constexpr void add(const Collective& added) {
    if (added.times == 0 || added.bytes == 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      Collective& known = collectives[i];
      if (known.bytes != added.bytes || known.reduces != added.reduces || known.gathers != added.gathers) continue;
      known.times += added.times;
      return;
    }
    collectives[count++] = added;
  }
};

/// Returns how often each compute set of a plan runs in one run of the program. Of a conditional, it counts the branch that
/// moves more bytes.
template <const auto& plan>
consteval std::array<std::int64_t, plan.compute_sets.size()> runs_of_sets() {
  std::array<std::int64_t, plan.compute_sets.size()> runs{};
  std::array<std::int64_t, plan.bodies.size()> bytes{}, calls{};
  const auto index = [](internal::BodyId body) { return static_cast<std::size_t>(body); };
  for (std::size_t b = plan.bodies.size(); b-- > 0;)  // callers come before what they call
    for (int s = 0; s < plan.bodies[b].step_count; ++s) {
      const internal::Step& step = plan.steps[static_cast<std::size_t>(plan.bodies[b].first_step + s)];
      if (step.kind == internal::StepKind::collective)
        bytes[b] += plan.compute_sets[static_cast<std::size_t>(step.compute_set)].traffic.bytes;
      if (!step.is_call()) continue;
      std::int64_t called = bytes[index(step.body)];
      if (step.else_body != internal::BodyId::none) called = (std::max)(called, bytes[index(step.else_body)]);
      bytes[b] += step.count * called;
    }
  calls[0] = 1;
  for (std::size_t b = 0; b < plan.bodies.size(); ++b)
    for (int s = 0; s < plan.bodies[b].step_count; ++s) {
      const internal::Step& step = plan.steps[static_cast<std::size_t>(plan.bodies[b].first_step + s)];
      if (step.kind == internal::StepKind::collective) runs[static_cast<std::size_t>(step.compute_set)] += calls[b];
      if (!step.is_call()) continue;
      internal::BodyId called = step.body;
      if (step.else_body != internal::BodyId::none && bytes[index(step.else_body)] > bytes[index(called)])
        called = step.else_body;
      calls[index(called)] += calls[b] * step.count;
    }
  return runs;
}

template <const auto& plan>
consteval auto count_collectives() {
  constexpr std::size_t sets = plan.compute_sets.size();
  const auto runs = runs_of_sets<plan>();
  CountedCollectives<sets> counted;
  const auto add = [&](Collective collective, std::int64_t times) {
    collective.times = times;
    counted.add(collective);
  };
  [&]<std::size_t... set>(std::index_sequence<set...>) {
    (add(collective_of_set<plan, set>(), runs[set]), ...);
  }(std::make_index_sequence<sets>{});
  return counted;
}

template <const auto& plan>
inline constexpr auto collectives_of_plan = [] {
  constexpr auto counted = count_collectives<plan>();
  std::array<Collective, counted.count> result{};
  std::copy_n(counted.collectives.begin(), counted.count, result.begin());
  return result;
}();

}  // namespace detail

/// Collectives of a run of a program, as an array of Collective, from the constants of its plan. The program is traced for at
/// least 2 replicas; the number does not matter. Equal collectives are merged and their numbers of executions added; those
/// that move nothing are omitted. In a conditional, the branch that moves more bytes counts. A collective over groups of only
/// some replicas does not compile.
///
///     constexpr auto collectives = tw::scaling::collectives_of<train_step>;
template <auto build, Target machine = cpu>
inline constexpr const auto& collectives_of = detail::collectives_of_plan<internal::Program<build, machine>::plan>;

}  // namespace tilewright::scaling
