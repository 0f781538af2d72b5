#pragma once
#include "tilewright/op/op.hpp"

namespace tilewright {

/// An alias of a tensor whose values may differ between replicas. Before planning, readers of the alias read its input instead.
struct DiffersByReplica : Op<DiffersByReplica> {
  static constexpr std::string_view name = "DiffersByReplica";
  constexpr operator Effects() const { return Effects{.is_alias = true}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr void gradient(GradientContext& op) { op.input_gradient(0, op.output_gradient(0)); }
  static constexpr Layout view(const Shape&, const Layout& layout, const Shape&, const PackedAttributes&) { return layout; }
};

/// Returns an alias of x, any shape and dtype, and declares that replicas may have different values. Without the declaration,
/// planning a program of several replicas fails if a run would give replicas different values of a variable that they share. For
/// this check, everything computed from the alias counts as equal on all replicas, and a variable that is changed in place
/// through the alias may differ:
///
///     ops::scaled_add_(weight, tw::differs_by_replica(gradient), {.b = -0.1});  // local steps, of which a later run takes means
///     ops::accumulate_(tw::differs_by_replica(sum), gradient);                  // each replica has a sum of its own
///
/// The alias costs nothing in a run, and gradients pass through. In a program of one replica it is x itself.
constexpr Tensor differs_by_replica(Tensor x) {
  if (!x.valid() || x.ir().replication_factor() == 1) return x;
  return apply<DiffersByReplica>({x});
}

}  // namespace tilewright
