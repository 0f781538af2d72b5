#pragma once
#include <utility>

#include "tilewright/verified/frozen_rows.hpp"
#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// A frozen plan with the exchanges and cycles that its steps were planned with.
struct RowsWithMoves : FrozenRows {
  using FrozenRows::FrozenRows;

  List<StepMoves> moves{};
  List<CycleUse> step_cycles{};
  List<PlannedExchange> exchanges{};
};

/// Returns the plan that a session runs, with the exchanges and cycles that another planning of the program finds; without them,
/// the plan, if it has none.
template <auto build, Target target>
constexpr auto plan_with_moves(const Prepared& prepared) {
  constexpr const auto& frozen = Program<build, target>::plan;
  if constexpr (!internal::detail::draft_of<build, target>.has_moves) {
    return FrozenRows(frozen);
  } else {
    Plan plan = lower(prepared);
    RowsWithMoves result(frozen);
    result.moves = std::move(plan.moves);
    result.step_cycles = std::move(plan.step_cycles);
    result.exchanges = std::move(plan.exchanges);
    return result;
  }
}

}  // namespace tilewright::internal::proof::detail
