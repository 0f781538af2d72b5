#pragma once
#include "tilewright/lower/memory/compute_sets.hpp"
#include "tilewright/lower/program/dead_code.hpp"

namespace tilewright::internal {

/// A program during planning: data that the planners of all machines share.
struct Planning {
  const Ir& ir;
  const Target& target;
  const LiveCode& live;
  Plan& plan;
  List<BodyId, GraphId> body_of;  ///< none: the graph is dead or inlined
  List<GraphId, BodyId> bodies;  ///< graph of each body
  ComputeSets compute_sets{};
};

}  // namespace tilewright::internal
