#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// Figures of a step's cycles. Those of a run have `waiting`, too, which depends on when the steps of other sets of tiles end.
struct CycleFigure {
  std::int64_t CycleUse::* of;
  std::string_view name;
};
inline constexpr CycleFigure cycle_figures[] = {
    {&CycleUse::compute, "compute"}, {&CycleUse::exchange, "exchange"},       {&CycleUse::sync, "sync"},
    {&CycleUse::host, "host"},       {&CycleUse::remote, "remote"},           {&CycleUse::links, "links"},
    {&CycleUse::assumed, "assumed"}, {&CycleUse::collectives, "collectives"}, {&CycleUse::flops, "flops"}};

/// Checks that the cycles of a run are the sums of those of its steps, on each set of tiles, through calls: of a conditional,
/// each figure is that of the branch where it is larger. A copy between sets begins when both have come to it, and a call when
/// all sets that its bodies use have; these go on when all have ended it. Each set waits for the last one.
template <class AnyPlan>
class CyclesProof {
 public:
  constexpr CyclesProof(const AnyPlan& plan, FirstFault& fault) : plan_(plan), fault_(fault), sets_(plan.tile_sets.size()) {}

  constexpr void run() {
    if (sets_ == 0) return void(expect(plan_.cycles == CycleUse{}, "cycles of a run on the host: none expected"));
    if (plan_.step_cycles.size() != plan_.steps.size() || plan_.moves.size() != plan_.steps.size())
      return;  // see StepCyclesProof
    for (const StepMoves& moves : plan_.moves)
      if ((std::max)(moves.set, moves.from_set) >= static_cast<int>(sets_)) return;  // see ExchangeProof
    List<Uses> bodies(plan_.bodies.size());
    for (std::size_t b = bodies.size(); b-- > 0;) {  // callers are before what they call
      bodies[b].resize(sets_);
      const Body& body = plan_.bodies.data()[b];
      for (int s = body.first_step; s < body.first_step + body.step_count; ++s)
        add(static_cast<std::size_t>(s), bodies, bodies[b]);
    }
    const std::int64_t length = length_of(bodies[0]);
    std::size_t busiest = 0;
    for (std::size_t set = 0; set < sets_; ++set) {
      CycleUse& expected = bodies[0][set].cycles;
      expected.waiting = length - expected.total();
      if (expected.waiting < bodies[0][busiest].cycles.waiting) busiest = set;
      compare(plan_.tile_sets[set].cycles, expected, " on set ", set, " of tiles");
    }
    compare(plan_.cycles, bodies[0][busiest].cycles, " of a run");
  }

 private:
  struct Use {
    CycleUse cycles{};
    std::int64_t end = 0;  ///< when its last step has ended
    bool is_used = false;
  };
  using Uses = List<Use>;  // by set of tiles

  constexpr bool expect(bool holds, const auto&... what) { return fault_.expect(holds, "cycles", BodyId::none, -1, what...); }
  constexpr void compare(const CycleUse& counted, const CycleUse& expected, const auto&... where) {
    const auto validate = [&](std::int64_t CycleUse::* of, std::string_view name) {
      expect(counted.*of == expected.*of, "counts ", counted.*of, " in `", name, "`", where..., ": ", expected.*of, " expected");
    };
    for (const CycleFigure& figure : cycle_figures) validate(figure.of, figure.name);
    validate(&CycleUse::waiting, "waiting");
  }
  static constexpr std::int64_t length_of(const Uses& uses) {
    std::int64_t length = 0;
    for (const Use& each : uses) length = (std::max)(length, each.end);
    return length;
  }
  static constexpr void add(Use& to, std::int64_t begin, const CycleUse& use) {
    to.is_used = true;
    to.end = begin + use.total();
    for (const CycleFigure& figure : cycle_figures) to.cycles.*figure.of += use.*figure.of;
  }
  constexpr void add(std::size_t s, const List<Uses>& bodies, Uses& uses) const {
    const Step& step = plan_.steps[s];
    const StepMoves& moves = plan_.moves[s];
    const CycleUse& use = plan_.step_cycles[s];
    if (step.is_call()) {
      const Uses& one = bodies[static_cast<std::size_t>(step.body)];
      return add_call(use, step.count, one,
                      step.else_body == BodyId::none ? one : bodies[static_cast<std::size_t>(step.else_body)], uses);
    }
    Use& own = uses[static_cast<std::size_t>((std::max)(moves.set, 0))];
    if (moves.from_set < 0) return add(own, own.end, use);
    Use& from = uses[static_cast<std::size_t>(moves.from_set)];
    const std::int64_t begin = (std::max)(own.end, from.end);
    add(from, begin, {.exchange = use.exchange, .sync = use.sync, .links = use.links});
    add(own, begin, use);
  }
  constexpr void add_call(const CycleUse& use, std::int64_t count, const Uses& one, const Uses& other, Uses& uses) const {
    std::int64_t begin = 0, length = (std::max)(length_of(one), length_of(other));
    List<CycleUse> of_call(sets_);
    for (std::size_t set = 0; set < sets_; ++set) {
      if (!one[set].is_used && !other[set].is_used) continue;
      for (const CycleFigure& figure : cycle_figures)
        of_call[set].*figure.of = (std::max)(one[set].cycles.*figure.of, other[set].cycles.*figure.of);
      begin = (std::max)(begin, uses[set].end);
      length = (std::max)(length, of_call[set].total());
    }
    for (std::size_t set = 0; set < sets_; ++set) {
      if (!one[set].is_used && !other[set].is_used) continue;
      add(uses[set], begin, use);
      uses[set].end += count * length;
      for (const CycleFigure& figure : cycle_figures) uses[set].cycles.*figure.of += count * of_call[set].*figure.of;
    }
  }

  const AnyPlan& plan_;
  FirstFault& fault_;
  std::size_t sets_;
};

}  // namespace tilewright::internal::proof::detail
