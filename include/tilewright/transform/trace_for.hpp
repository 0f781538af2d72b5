#pragma once
#include "tilewright/graph/ir.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/transform/autodiff.hpp"
#include "tilewright/transform/composed_forms.hpp"

namespace tilewright {

constexpr MachineKind kind_of(const Target& target) {
  return target.ipu == nullptr ? MachineKind::host : MachineKind::simulated_ipu;
}

constexpr void begin_trace(const Target& target, Ir& ir) {
  ir.tables.traced_for = kind_of(target);
  replaces_composed_forms(ir, ir.tables.traced_for == MachineKind::host);
  adds_activations(ir, ir.tables.traced_for == MachineKind::host);
}
/// Traces a program that is to be prepared for a target. The trace depends on the kind of machine alone.
template <class Build>
constexpr void trace_for(const Target& target, const Build& build, Ir& ir) {
  begin_trace(target, ir);
  build(ir);
}

}  // namespace tilewright
