#pragma once
#include <cstddef>
#include <utility>

#include "tilewright/graph/ir.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/transform/check_code_loads.hpp"
#include "tilewright/transform/check_replicas.hpp"
#include "tilewright/transform/composed_forms.hpp"
#include "tilewright/transform/convolution_forms.hpp"
#include "tilewright/transform/fuse_across_calls.hpp"
#include "tilewright/transform/loop_inputs.hpp"
#include "tilewright/transform/partials_types.hpp"
#include "tilewright/transform/trace_for.hpp"

namespace tilewright {

/// A program whose graphs are ready for a machine: the input of `lower`. prepare() creates it. With OnError::record, the Ir has
/// the first error.
class Prepared {
 public:
  constexpr const Ir& ir() const { return ir_; }
  constexpr const Target& target() const { return target_; }

 private:
  friend constexpr Prepared prepare(Ir&& ir, const Target& target);
  constexpr Prepared(Ir&& ir, const Target& target) : ir_(std::move(ir)), target_(target) {}

  Ir ir_;
  Target target_;
};

/// Prepares a traced program for a machine: checks replicas and loads of code, replaces composed forms by ops, gives products
/// the target's dtype of partial sums, chooses the forms of convolutions and moves ops into called graphs (both for the host),
/// and wraps graphs of loops whose inputs would change. Takes ownership of the Ir, so its tensors and graphs become invalid.
/// Errors: an Ir that was traced for another kind of machine; errors of the checks.
constexpr Prepared prepare(Ir&& ir, const Target& target) {
  Prepared prepared(std::move(ir), target);
  Ir& graphs = prepared.ir_;
  graphs.tables.functions = {};
  const MachineKind& kind = *target.kind;
  if (graphs.tables.traced_for != kind.name)
    graphs.fail(text("prepare: a program that was traced for ", graphs.tables.traced_for, ", for ", kind.name,
                     ": trace(build, target) with the same target expected"));
  check_replicas(graphs);
  for (std::size_t graph = 0; graph < graphs.tables.graphs.size(); ++graph) replace_composed_forms(graphs, GraphId(graph));
  check_code_loads(graphs);
  if (target.partials_type != float32) set_partials_types(graphs, target.partials_type);
  if (graphs.failed()) return prepared;
  if (kind.rewrites.transforms_convolutions) choose_convolution_forms(graphs, target);
  if (target.fuses && kind.rewrites.fuses_across_calls) move_ops_into_callees(graphs);
  keep_loop_inputs(graphs);
  return prepared;
}
/// Prepares a copy of an Ir. The Ir itself does not change, and can be prepared again.
constexpr Prepared prepare(const Ir& ir, const Target& target) { return prepare(Ir(ir), target); }

}  // namespace tilewright
