#pragma once
#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// Checks that the result of each collective is where its operand is: replicas exchange what each tile has. A result with another
/// number of elements is on tiles of the same set.
constexpr void check_collectives(const auto& plan, const DataOnTiles& data, FirstFault& fault) {
  for (const BodyOnTiles& body : data.bodies) {
    const int first = plan.bodies.data()[static_cast<std::size_t>(body.body)].first_step;
    for (std::size_t s = 0; s < body.steps.size(); ++s) {
      if (plan.steps[static_cast<std::size_t>(first) + s].kind != StepKind::collective) continue;
      const List<int>& storages = body.steps[s].location_storages;
      const StorageRecord &operand = body.storages[static_cast<std::size_t>(storages[0])],
                          &result = body.storages[static_cast<std::size_t>(storages[storages.size() - 1])];
      const bool is_there = operand.elements == result.elements ? are_equal(operand.layout, result.layout)
                                                                : operand.layout.places.set == result.layout.places.set;
      fault.expect(is_there, "exchanges", body.body, static_cast<int>(s),
                   "the result of a collective is on other tiles than its operand: the same tiles expected");
    }
  }
}

}  // namespace tilewright::internal::proof::detail
