#pragma once
// takes: a whole plan with Plan::moves and Plan::step_cycles
// gives: Plan::tile_sets without their memory; PlanTotals::cycles
// keeps: all else
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/program/fold_bodies.hpp"
#include "tilewright/target/tile_sets.hpp"

namespace tilewright::internal {

namespace detail {

/// Calls f(figure of each...) for each figure.
constexpr void for_each_figure(auto f, auto&... uses) {
  f(uses.compute...);
  f(uses.exchange...);
  f(uses.sync...);
  f(uses.host...);
  f(uses.remote...);
  f(uses.collectives...);
  f(uses.links...);
  f(uses.waiting...);
  f(uses.assumed...);
  f(uses.flops...);
}
constexpr void add(CycleUse& to, const CycleUse& use) {
  for_each_figure([](std::int64_t& sum, std::int64_t figure) { sum += figure; }, to, use);
}

/// Computes the time of a body's steps if tiles of different sets run in parallel, each set in the order of its steps. A copy
/// from one set to another begins when both have reached it; the source continues when its data have gone. A call begins when all
/// sets that its bodies use have reached it, and these continue when all of them have ended it.
class Timeline {
 public:
  constexpr explicit Timeline(int sets)
      : clocks_(static_cast<std::size_t>(sets), 0), busy_(clocks_.size()), used_(clocks_.size()) {}

  constexpr void run(int set, const CycleUse& use) { occupy(set, clock(set), use); }
  constexpr void copy(const StepMoves& moves, const CycleUse& use) {
    const std::int64_t begin = (std::max)(clock(moves.set), clock(moves.from_set));
    occupy(moves.from_set, begin, {.exchange = use.exchange, .sync = use.sync, .links = use.links});
    occupy(moves.set, begin, use);
  }
  /// Adds `count` calls of one body, or of one of two, on the sets that they use; `use` is the cost of the call itself.
  constexpr void call(const CycleUse& use, std::int64_t count, const Timeline& one, const Timeline& other) {
    std::int64_t begin = 0, length = (std::max)(one.elapsed(), other.elapsed());
    List<CycleUse> both(clocks_.size());
    for (std::size_t set = 0; set < clocks_.size(); ++set) {
      if (!one.used_[set] && !other.used_[set]) continue;
      for_each_figure([](std::int64_t& larger, std::int64_t a, std::int64_t b) { larger = (std::max)(a, b); }, both[set],
                      one.busy_[set], other.busy_[set]);
      begin = (std::max)(begin, clocks_[set]);
      length = (std::max)(length, both[set].total());
    }
    for (std::size_t set = 0; set < clocks_.size(); ++set) {
      if (!one.used_[set] && !other.used_[set]) continue;
      used_[set] = true;
      clocks_[set] = begin + use.total() + count * length;
      add(busy_[set], use);
      for_each_figure([count](std::int64_t& sum, std::int64_t figure) { sum += count * figure; }, busy_[set], both[set]);
    }
  }
  constexpr std::int64_t elapsed() const { return *std::max_element(clocks_.data(), clocks_.data() + clocks_.size()); }
  /// Returns a set's cycles, including the time that it waits until all have ended.
  constexpr CycleUse use_of(int set) const {
    CycleUse use = busy_[static_cast<std::size_t>(set)];
    use.waiting = elapsed() - use.total();
    return use;
  }

 private:
  constexpr std::int64_t clock(int set) const { return clocks_[static_cast<std::size_t>(set)]; }
  constexpr void occupy(int set, std::int64_t begin, const CycleUse& use) {
    const auto at = static_cast<std::size_t>(set);
    used_[at] = true;
    clocks_[at] = begin + use.total();
    add(busy_[at], use);
  }

  List<std::int64_t> clocks_;  // by set: when its last step has ended
  List<CycleUse> busy_;
  List<bool> used_;
};

}  // namespace detail

/// Counts the cycles of a run by set of tiles, through calls. Those of the plan are the busiest set's; `waiting` makes the
/// totals of all sets equal to the length of the run. For a conditional, each figure is that of the branch where the figure is
/// larger.
constexpr void count_run_cycles(const TileSets& sets, Plan& plan) {
  List<detail::Timeline, BodyId> timelines(plan.bodies.size(), detail::Timeline(sets.size()));
  for (std::size_t i = plan.bodies.size(); i-- > 0;) {  // callers come before what they call
    const auto b = BodyId(i);
    const Body& body = plan.bodies[b];
    for (int s = body.first_step; s < body.first_step + body.step_count; ++s) {
      const Step& step = plan.steps[s];
      const CycleUse& use = plan.step_cycles[s];
      const StepMoves& moves = plan.moves[s];
      if (step.is_call())
        timelines[b].call(use, step.count, timelines[step.body],
                          timelines[step.else_body == BodyId::none ? step.body : step.else_body]);
      else if (moves.from_set >= 0) timelines[b].copy(moves, use);
      else timelines[b].run((std::max)(moves.set, 0), use);
    }
  }
  const detail::Timeline& run = timelines[BodyId::main];
  int busiest = 0;
  for (int set = 0; set < sets.size(); ++set) {
    plan.tile_sets[static_cast<std::size_t>(set)].cycles = run.use_of(set);
    if (run.use_of(set).waiting < run.use_of(busiest).waiting) busiest = set;
  }
  plan.cycles = plan.tile_sets[static_cast<std::size_t>(busiest)].cycles;
}

}  // namespace tilewright::internal
