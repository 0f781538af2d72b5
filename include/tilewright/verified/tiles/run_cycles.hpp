#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// Figures of a step's cycles. Those of a run have `waiting`, too, which depends on when the steps of other sets of tiles end.
inline constexpr std::int64_t CycleUse::* cycle_figures[] = {&CycleUse::compute, &CycleUse::exchange,    &CycleUse::sync,
                                                             &CycleUse::host,    &CycleUse::remote,      &CycleUse::links,
                                                             &CycleUse::assumed, &CycleUse::collectives, &CycleUse::flops};

/// Checks that the cycles of a run are the sums of those of its steps, on each set of tiles, through calls: of a conditional,
/// each figure is that of the branch where it is larger. The runs of all sets have one length.
template <class AnyPlan>
class CyclesProof {
 public:
  constexpr CyclesProof(const AnyPlan& plan, FirstFault& fault) : plan_(plan), fault_(fault), sets_(plan.tile_sets.size()) {}

  constexpr void run() {
    if (sets_ == 0) return void(expect(plan_.cycles == CycleUse{}, "cycles of a run on the host: none expected"));
    if (!expect(plan_.step_cycles.size() == plan_.steps.size() && plan_.moves.size() == plan_.steps.size(), "cycles of ",
                plan_.step_cycles.size(), " steps: ", plan_.steps.size(), " expected"))
      return;
    List<Uses> bodies(plan_.bodies.size());
    for (std::size_t b = bodies.size(); b-- > 0;) {  // callers are before what they call
      bodies[b].resize(sets_);
      const Body& body = plan_.bodies.data()[b];
      for (int s = body.first_step; s < body.first_step + body.step_count; ++s)
        if (!add(static_cast<std::size_t>(s), bodies, bodies[b])) return;
    }
    const std::int64_t length = plan_.cycles.total();
    bool is_busiest = false;
    for (std::size_t set = 0; set < sets_; ++set) {
      const CycleUse& use = plan_.tile_sets[set].cycles;
      CycleUse expected = bodies[0][set].cycles;
      expected.waiting = length - expected.total();
      expect(use == expected && use.waiting >= plan_.cycles.waiting && plan_.cycles.waiting >= 0, "counts ", use.total(),
             " cycles on set ", set, " of tiles, ", use.compute, " of them computing, in a run of ", length, ": ",
             expected.total() - expected.waiting, " and ", expected.compute, ", those of its steps, and time to wait, expected");
      is_busiest = is_busiest || use == plan_.cycles;
    }
    expect(is_busiest, "counts ", length, " cycles of a run, ", plan_.cycles.compute,
           " of them computing: those of the set of tiles that waits least expected");
  }

 private:
  struct Use {
    CycleUse cycles{};
    bool is_used = false;
  };
  using Uses = List<Use>;  // by set of tiles

  constexpr bool expect(bool holds, const auto&... what) { return fault_.expect(holds, "traffic", BodyId::none, -1, what...); }
  static constexpr void add(Use& to, const CycleUse& use) {
    to.is_used = true;
    for (const auto figure : cycle_figures) to.cycles.*figure += use.*figure;
  }
  constexpr bool add(std::size_t s, const List<Uses>& bodies, Uses& uses) {
    const Step& step = plan_.steps[s];
    const StepMoves& moves = plan_.moves[s];
    const CycleUse& use = plan_.step_cycles[s];
    if (step.is_call()) {
      const Uses& one = bodies[static_cast<std::size_t>(step.body)];
      const Uses& other = step.else_body == BodyId::none ? one : bodies[static_cast<std::size_t>(step.else_body)];
      for (std::size_t set = 0; set < sets_; ++set) {
        if (!one[set].is_used && !other[set].is_used) continue;
        add(uses[set], use);
        for (const auto figure : cycle_figures)
          uses[set].cycles.*figure += step.count * (std::max)(one[set].cycles.*figure, other[set].cycles.*figure);
      }
      return true;
    }
    if (!expect((std::max)(moves.set, moves.from_set) < static_cast<int>(sets_), "tiles of set ",
                (std::max)(moves.set, moves.from_set), ": a set of the plan expected"))
      return false;
    if (moves.from_set >= 0)
      add(uses[static_cast<std::size_t>(moves.from_set)], {.exchange = use.exchange, .sync = use.sync, .links = use.links});
    add(uses[static_cast<std::size_t>((std::max)(moves.set, 0))], use);
    return true;
  }

  const AnyPlan& plan_;
  FirstFault& fault_;
  std::size_t sets_;
};

}  // namespace tilewright::internal::proof::detail
