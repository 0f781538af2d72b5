#pragma once
#include <cstddef>

#include "tilewright/lower/verify/draft_violation.hpp"

namespace tilewright::internal::detail {

/// Checks what the plan says of a body's steps beside what they do: the results of place, count_moves and count_step_cycles, from
/// which figures are counted.
class StepsViolation : DraftViolation {
 public:
  using DraftViolation::DraftViolation;

  constexpr Text run() {
    if (after_ < Pass::place) return violation_;
    check_exchanges();
    check_tiles();
    return violation_;
  }

 private:
  constexpr const Body& body() const { return plan_.bodies[body_]; }
  constexpr void check_exchanges() {
    int next = 0;
    for (const PlannedExchange& exchange : plan_.exchanges) {
      const bool is_of_body = exchange.last_step() >= body().first_step;  // others are of bodies that are planned before
      expect(exchange.step_count >= 1 && exchange.first_step >= next &&
                 (!is_of_body ||
                  (exchange.first_step >= body().first_step && exchange.last_step() < body().first_step + body().step_count)),
             "exchanges are steps of a body", -1, "an exchange of steps ", exchange.first_step, " to ", exchange.last_step(),
             ": steps of one body, from step ", next, " on, expected");
      next = exchange.last_step() + 1;
    }
  }
  /// Checks the rows of a simulated IPU's steps. For other targets the plan has no tiles.
  constexpr void check_tiles() {
    const std::size_t steps = plan_.tile_sets.empty() ? 0 : plan_.steps.size();
    if (!expect(plan_.moves.size() == steps && plan_.step_cycles.size() == steps, "steps have moves and cycles", -1,
                plan_.moves.size(), " rows of moves and ", plan_.step_cycles.size(), " of cycles: ", steps, " of each expected"))
      return;
    const int sets = static_cast<int>(plan_.tile_sets.size());
    for (int s = 0; s < body().step_count && steps > 0; ++s) {
      const int number = body().first_step + s;
      const StepMoves& moves = plan_.moves[number];
      const bool has_vertices = plan_.steps[number].compute_set >= 0;
      expect(moves.set < sets && (moves.set >= 0) == has_vertices, "steps are on tiles", -1, "step ", s, " is on set ", moves.set,
             " of tiles: ", has_vertices ? "a set of the plan" : "no set (-1)", " expected");
      expect(moves.from_set >= -1 && moves.from_set < sets, "steps are on tiles", -1, "step ", s, " copies from set ",
             moves.from_set, " of tiles: a set of the plan, or none (-1), expected");
    }
  }
};

}  // namespace tilewright::internal::detail
