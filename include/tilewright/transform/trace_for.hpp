#pragma once
#include "tilewright/graph/ir.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

/// Traces a program that is to be prepared for a target. The trace depends on the kind of machine alone.
template <class Build>
constexpr void trace_for(const Target& target, const Build& build, Ir& ir) {
  ir.tables.traced_for = target.kind->name;
  ir.tables.rewrites = target.kind->rewrites;
  build(ir);
}

}  // namespace tilewright
