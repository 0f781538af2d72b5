#pragma once
#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal {

namespace detail {
/// Returns where an op was traced: `Net_subgraph(0)/fc1`, or `the main graph` outside of modules.
constexpr Text place_in_model(const Ir& ir, GraphId graph, int scope) {
  Text place = ir.tables.record(graph).name;
  if (scope >= 0) {
    const std::string_view prefix = ir.tables.name_scopes[static_cast<std::size_t>(scope)].view();
    place += text(place.empty() ? "" : "/", prefix.substr(0, prefix.size() - 1));
  }
  if (place.empty()) place = "the main graph";
  return place;
}
}  // namespace detail

/// Returns the text of a run's error about a value with which the operation cannot compute.
constexpr PlannedFaultSite fault_site_of(const Ir& ir, const Operation& operation, const FaultText& fault) {
  return {text(operation.op->name, ": ", fault.value, " "),
          text(": ", fault.expected, " expected, in ", detail::place_in_model(ir, operation.graph, operation.scope))};
}

}  // namespace tilewright::internal
