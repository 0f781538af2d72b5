#pragma once
#include "tilewright/lower/namespace.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/transform/autodiff.hpp"
#include "tilewright/transform/composed_forms.hpp"

namespace tilewright::internal {

/// Traces a program that is to be planned for a target.
template <class Build>
constexpr void trace_for(const Target& target, const Build& build, Ir& ir) {
  replaces_composed_forms(ir, target.ipu == nullptr);
  adds_activations(ir, target.ipu == nullptr);
  build(ir);
}

}  // namespace tilewright::internal
