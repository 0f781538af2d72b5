#pragma once
#include <utility>

#include "tilewright/verified/frozen_rows.hpp"
#include "tilewright/verified/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// A frozen plan with the exchanges that its steps were planned with.
struct RowsWithMoves : FrozenRows {
  using FrozenRows::FrozenRows;

  List<StepMoves> moves{};
  List<PlannedExchange> exchanges{};
};

/// Returns the plan that a session runs, with the exchanges of its draft; without them, the plan, if it has none.
template <auto build, Target target>
constexpr auto drafted_plan(const Prepared& prepared) {
  constexpr const internal::detail::PlanDraft& draft = internal::detail::draft_of<build, target>;
  constexpr const auto& frozen = Program<build, target>::plan;
  if constexpr (draft.moves.count == 0) {
    return FrozenRows(frozen);
  } else {
    RowsWithMoves result(frozen);
    if constexpr (draft.lacks_moves) {
      Plan plan = lower(prepared);
      result.moves = std::move(plan.moves), result.exchanges = std::move(plan.exchanges);
    } else if (!TableReader(draft.plan.text(draft.moves)).read_lists(result.moves, result.exchanges)) {
      result.moves.clear();  // their number is then a fault
    }
    return result;
  }
}

}  // namespace tilewright::internal::proof::detail
