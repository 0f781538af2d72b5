#pragma once
#include "tilewright/ops/collective/collectives.hpp"

// Tensor parallelism: replicas have parts of a layer's weights. The two collectives below begin and end such a part of a network;
// each is the gradient of the other ("Megatron-LM", arXiv 1909.08053, section 3, f and g).

namespace tilewright {

/// Gives its input, which is equal on all replicas of a group; the gradient is reduced.
struct ReplicatedAllReduceIdenticalInputs : Op<ReplicatedAllReduceIdenticalInputs> {
  static constexpr std::string_view name = "ReplicatedAllReduceIdenticalInputs";
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  struct Attributes {
    ReplicaGroups groups;
  };
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr void gradient(GradientContext& op);
  /// Declares, for the check that replicas stay equal, that the result is equal within a group. Nothing moves.
  constexpr operator CollectiveWork() const { return CollectiveWork{.collective_volume = collective_volume}; }
  static constexpr CollectiveVolume collective_volume(const PackedAttributes& packed, const TensorSpec&, const TensorSpec&) {
    return {.gathers = true, .groups = unpack<Attributes>(packed).groups};
  }
  static constexpr Layout view(const Shape&, const Layout& layout, const Shape&, const PackedAttributes&) { return layout; }
};

/// The sum over a group; the gradient, which is equal on all replicas of the group, passes through.
struct ReplicatedAllReduceIdenticalGradInputs : AllReduceOp<ReplicatedAllReduceIdenticalGradInputs> {
  static constexpr std::string_view name = "ReplicatedAllReduceIdenticalGradInputs";
  static constexpr void gradient(GradientContext& op) {
    op.input_gradient(0,
                      apply<ReplicatedAllReduceIdenticalInputs>({op.output_gradient(0)}, {op.attributes<Attributes>().groups}));
  }
};

constexpr void ReplicatedAllReduceIdenticalInputs::gradient(GradientContext& op) {
  op.input_gradient(0,
                    apply<ReplicatedAllReduceIdenticalGradInputs>({op.output_gradient(0)}, {op.attributes<Attributes>().groups}));
}

namespace ops::collectives {

/// Returns t unchanged; the caller guarantees that t is equal on all replicas of the group, by default of all. The gradient is
/// the sum of the replicas' gradients. It begins a part of a network whose weights are divided among replicas, and
/// replicated_all_reduce_identical_grad_inputs ends it. t: any shape and dtype. A run moves nothing forward, and backward what an
/// all-reduce moves. For the check that replicas stay equal, the result is equal within the group. So the function also declares
/// that the host gives all replicas of a group the same data.
///
/// Errors: a group of another Ir; a group without a constant stride.
///
///     x = collectives::replicated_all_reduce_identical_inputs(x, group);     // equal on all replicas
///     y = ops::gelu(x.matmul(columns)).matmul(rows);                         // a part of the sum
///     y = collectives::replicated_all_reduce_identical_grad_inputs(y, group) + bias;
[[nodiscard]] constexpr Tensor replicated_all_reduce_identical_inputs(Tensor t, const ReplicaGrouping& group = {}) {
  if (!t.is_usable()) return t;
  const ReplicaGroups groups = detail::groups_for("replicated_all_reduce_identical_inputs", t, group);
  return groups.group_size == 1 ? t : apply<ReplicatedAllReduceIdenticalInputs>({t}, {groups});
}

/// Returns the sum of t over the group, by default over all replicas. The gradient passes through unchanged; the caller
/// guarantees that it is equal on all replicas of the group. It ends a part of a network whose weights are divided among
/// replicas; replicated_all_reduce_identical_inputs begins it. t: any shape; the dtypes and the order of the sum are those of
/// replicated_all_reduce. A run moves forward what an all-reduce moves, and backward nothing.
///
/// Errors: a group of another Ir; a group without a constant stride; bool or float8.
[[nodiscard]] constexpr Tensor replicated_all_reduce_identical_grad_inputs(Tensor t, const ReplicaGrouping& group = {}) {
  if (!t.is_usable()) return t;
  const ReplicaGroups groups = detail::groups_for("replicated_all_reduce_identical_grad_inputs", t, group);
  return groups.group_size == 1 ? t : apply<ReplicatedAllReduceIdenticalGradInputs>({t}, {groups});
}

}  // namespace ops::collectives

}  // namespace tilewright
