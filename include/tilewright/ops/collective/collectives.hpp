#pragma once
#include "tilewright/core/collective_operator.hpp"
#include "tilewright/operand/collective_chunks.hpp"
#include "tilewright/ops/shape/shape.hpp"
#include "tilewright/program/comm_group.hpp"
#include "tilewright/program/replica_grouping.hpp"

namespace tilewright {

/// Shape in which replicated_all_gather returns the tensors of n replicas.
enum class GatheredShape : std::uint8_t {
  automatic,  ///< meta_shape for a tensor that has one, otherwise concat
  concat,  ///< concatenated along an axis: n times its extent
  new_axis,  ///< a new axis of extent n at that position
  meta_shape  ///< the tensor whose shards they are
};

/// Base of ops on the tensors of all replicas of a group. The planner does not divide them into vertices. D defines
///  - `template <PackedAttributes A, TensorSpec in, TensorSpec out> static void run_collective(std::byte* const* operands,
///    std::int64_t first, std::int64_t last)`, which processes work items [first, last). Operands are the inputs of all replicas,
///    then their outputs. Items may run in any order, and in parallel;
///  - the group CollectiveWork: the number of items, and the bytes that move between the replicas.
/// Its attributes have a member `groups`.
template <class D>
struct CollectiveOp : Op<D> {
  template <PackedAttributes, TensorSpec, TensorSpec>
  static constexpr std::int64_t stack_bytes();

 protected:
  /// Returns "(4, 32) float32 over ReplicaGrouping(num_replicas=8, stride=1, group_size=8, num_groups=1)".
  static constexpr Text describe(Ir& ir, const TensorSpec& spec, const ReplicaGroups& groups) {
    return text(to_text(spec), " over ", to_text(ir.replica_grouping(groups.stride, groups.group_size)));
  }
  /// Fails for dtypes that the op cannot reduce: bool allows logical_and and logical_or only.
  static constexpr bool require_dtype(Inference& op, const ReplicaGroups& groups, CollectiveOperator reduction) {
    using enum CollectiveOperator;
    const DType dtype = op.input(0).dtype;
    if (reduction == local || (dtype == boolean ? reduction == logical_and || reduction == logical_or : has_arithmetic(dtype)))
      return true;
    op.fail(to_text(reduction), " of ", describe(op.ir(), op.input(0), groups),
            ": a dtype other than bool and float8, or bool with logical_and or logical_or, expected");
    return false;
  }
};

/// Base of reductions whose result every replica gets.
template <class D>
struct AllReduceOp : CollectiveOp<D> {
  struct Attributes {
    ReplicaGroups groups;
    std::int64_t op = 0;  ///< a CollectiveOperator
  };
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const auto reduction = static_cast<CollectiveOperator>(attributes.op);
    if (reduction == CollectiveOperator::local)
      return op.fail("local of ", AllReduceOp::describe(op.ir(), op.input(0), attributes.groups), ": a reduction expected");
    if (!AllReduceOp::require_dtype(op, attributes.groups, reduction)) return;
    op.output(op.input(0));
  }
  constexpr operator CollectiveWork() const {
    return CollectiveWork{.collective_items = collective_items, .collective_volume = collective_volume};
  }
  static constexpr std::int64_t collective_items(const PackedAttributes& packed, const TensorSpec&, const TensorSpec& out) {
    return unpack<Attributes>(packed).groups.num_groups() * kernel::collective_chunks(out.nelms());
  }
  static constexpr CollectiveVolume collective_volume(const PackedAttributes& packed, const TensorSpec& in, const TensorSpec&) {
    return {.bytes = in.bytes(), .reduces = true, .gathers = true, .groups = unpack<Attributes>(packed).groups};
  }
  template <PackedAttributes A, TensorSpec in, TensorSpec>
  static void run_collective(std::byte* const* operands, std::int64_t first, std::int64_t last);
};
struct ReplicatedAllReduce : AllReduceOp<ReplicatedAllReduce> {
  static constexpr std::string_view name = "ReplicatedAllReduce";
};
struct ReplicatedAllReduceInplace : AllReduceOp<ReplicatedAllReduceInplace> {
  static constexpr std::string_view name = "ReplicatedAllReduceInplace";
  constexpr operator Effects() const { return Effects{.modifies = 0}; }
};

/// A part of the reduction on each replica: of the flattened elements, or of an axis.
struct ReplicatedReduceScatter : CollectiveOp<ReplicatedReduceScatter> {
  constexpr operator KernelOperands() const { return KernelOperands{.takes_float8 = true}; }
  static constexpr std::string_view name = "ReplicatedReduceScatter";
  struct Attributes {
    ReplicaGroups groups;
    std::int64_t op = 0;  ///< a CollectiveOperator
    std::int64_t is_shard = 0;  ///< whether the result has the input's shape as its meta shape
    std::int64_t has_axis = 0;  ///< whether an axis is divided, which only `local` supports; otherwise the flattened elements
    std::int64_t axis = 0;
  };
  static constexpr void infer(Inference& op) {
    const auto [groups, reduction, is_shard, has_axis, axis] = op.attributes<Attributes>();
    const TensorSpec& in = op.input(0);
    if (!require_dtype(op, groups, static_cast<CollectiveOperator>(reduction))) return;
    if (has_axis == 0) {
      op.output({{shard_elements(in.nelms(), groups.group_size)}, in.dtype});
      if (is_shard != 0) op.output_meta_shape(in.shape, groups.group_size);
      return;
    }
    const int cut = op.require_axis(axis, in.shape.rank);
    if (cut < 0) return;
    if (in.shape[cut] % groups.group_size != 0)
      return op.fail("axis ", cut, " of ", describe(op.ir(), in, groups), ": an extent that the group size divides expected");
    TensorSpec result = in;
    result.shape[cut] /= groups.group_size;
    op.output(result);
  }
  static constexpr void gradient(GradientContext& op);  // gathers
  constexpr operator CollectiveWork() const {
    return CollectiveWork{.collective_items = collective_items, .collective_volume = collective_volume};
  }
  static constexpr std::int64_t collective_items(const PackedAttributes& packed, const TensorSpec&, const TensorSpec& out) {
    return unpack<Attributes>(packed).groups.num_replicas * kernel::collective_chunks(out.nelms());
  }
  /// Returns no traffic for a slice, because each replica has the whole tensor.
  static constexpr CollectiveVolume collective_volume(const PackedAttributes& packed, const TensorSpec& in, const TensorSpec&) {
    const auto attributes = unpack<Attributes>(packed);
    const bool reduces = static_cast<CollectiveOperator>(attributes.op) != CollectiveOperator::local;
    return {.bytes = in.bytes(), .reduces = reduces, .groups = attributes.groups};
  }
  template <PackedAttributes A, TensorSpec in, TensorSpec out>
  static void run_collective(std::byte* const* operands, std::int64_t first, std::int64_t last);
  /// Returns the number of elements in the axes from `axis` on.
  static constexpr std::int64_t elements_from(const Shape& shape, std::int64_t axis) {
    std::int64_t count = 1;
    for (int i = static_cast<int>(axis); i < shape.rank; ++i) count *= shape[i];
    return count;
  }
};

/// Concatenates or stacks the tensors of all replicas on each of them.
struct ReplicatedAllGather : CollectiveOp<ReplicatedAllGather> {
  constexpr operator KernelOperands() const { return KernelOperands{.takes_float8 = true}; }
  static constexpr std::string_view name = "ReplicatedAllGather";
  struct Attributes {
    ReplicaGroups groups;
    std::int64_t shape = 0;  ///< a GatheredShape, but not `automatic`
    std::int64_t axis = 0;
    std::int64_t meta_shape = -1;  ///< index in IrTables::meta_shapes
  };
  static constexpr void infer(Inference& op) {
    const auto [groups, mode, axis, meta_shape] = op.attributes<Attributes>();
    const TensorSpec& in = op.input(0);
    if (static_cast<GatheredShape>(mode) == GatheredShape::meta_shape) {
      const auto [whole, parts] = op.ir().tables.meta_shapes[static_cast<std::size_t>(meta_shape)];
      if (parts != groups.group_size)
        return op.fail(describe(op.ir(), in, groups), " to ", to_text(whole), ", which is in ", parts, " parts: groups of ",
                       parts, " replicas expected");
      return op.output({whole, in.dtype});
    }
    TensorSpec result = in;
    if (static_cast<GatheredShape>(mode) == GatheredShape::concat) {
      const int along = op.require_axis(axis, in.shape.rank);
      if (along < 0) return;
      result.shape[along] *= groups.group_size;
      return op.output(result);
    }
    if (in.shape.rank == max_rank)
      return op.fail(describe(op.ir(), in, groups), " with a new axis: at most ", max_rank - 1, " axes expected");
    const int place = op.require_axis(axis, in.shape.rank + 1);
    if (place < 0) return;
    result.shape.push_back(groups.group_size);
    for (int i = in.shape.rank; i > place; --i) std::swap(result.shape[i], result.shape[i - 1]);
    op.output(result);
  }
  static constexpr void gradient(GradientContext& op) {
    const auto [groups, mode, axis, meta_shape] = op.attributes<Attributes>();
    const TensorSpec in = op.input_spec(0);
    if (static_cast<GatheredShape>(mode) == GatheredShape::meta_shape) {
      op.ir().fail(text(name, ": gradient of ", describe(op.ir(), in, groups), " to ", to_text(op.output_spec(0).shape),
                        ": shards that are gathered outside of the graph expected"));
      return;
    }
    using LocalSlice = ReplicatedReduceScatter;
    const LocalSlice::Attributes slice{groups, static_cast<std::int64_t>(CollectiveOperator::local), 0, 1, axis};
    const Tensor dx = apply<LocalSlice>({op.output_gradient(0)}, slice);
    op.input_gradient(0, dx.shape() == in.shape ? dx : dx.reshape(in.shape));
  }
  constexpr operator CollectiveWork() const {
    return CollectiveWork{.collective_items = collective_items, .collective_volume = collective_volume};
  }
  static constexpr std::int64_t collective_items(const PackedAttributes& packed, const TensorSpec&, const TensorSpec& out) {
    return unpack<Attributes>(packed).groups.num_groups() * kernel::collective_chunks(out.nelms());
  }
  static constexpr CollectiveVolume collective_volume(const PackedAttributes& packed, const TensorSpec&, const TensorSpec& out) {
    return {.bytes = out.bytes(), .gathers = true, .groups = unpack<Attributes>(packed).groups};
  }
  template <PackedAttributes A, TensorSpec in, TensorSpec out>
  static void run_collective(std::byte* const* operands, std::int64_t first, std::int64_t last);
};

constexpr void ReplicatedReduceScatter::gradient(GradientContext& op) {
  const auto [groups, reduction, is_shard, has_axis, axis] = op.attributes<Attributes>();
  const TensorSpec in = op.input_spec(0);
  if (static_cast<CollectiveOperator>(reduction) != CollectiveOperator::local) {
    op.ir().fail(text(name, ": gradient of ", to_text(static_cast<CollectiveOperator>(reduction)), " of ",
                      describe(op.ir(), in, groups), ", which has none: a slice, or a reduction outside of the graph, expected"));
    return;
  }
  ReplicatedAllGather::Attributes gather{
      .groups = groups, .shape = static_cast<std::int64_t>(GatheredShape::concat), .axis = axis};
  if (has_axis == 0) {
    gather.shape = static_cast<std::int64_t>(GatheredShape::meta_shape);
    gather.meta_shape = op.ir().tables.add_meta_shape(in.shape, groups.group_size);
  }
  op.input_gradient(0, apply<ReplicatedAllGather>({op.output_gradient(0)}, gather));
}

namespace ops::collectives {

using tilewright::CollectiveOperator, tilewright::CommGroup, tilewright::CommGroupType, tilewright::GatheredShape;

/// Options of replicated_all_reduce. Without a group, all replicas take part.
struct AllReduceOptions {
  CollectiveOperator op = CollectiveOperator::add;  ///< how elements are combined
  ReplicaGrouping group{};  ///< replicas that exchange data; by default all
};
struct ReduceScatterOptions {
  CollectiveOperator op = CollectiveOperator::add;  ///< how elements are combined
  ReplicaGrouping group{};  ///< replicas that exchange data; by default all
  Flag configure_output_for_replicated_tensor_sharding = false;  ///< whether the result has t's shape as its meta shape
};
struct ReplicatedSliceOptions {
  int axis = 0;  ///< axis that is divided
  ReplicaGrouping group{};  ///< replicas that exchange data; by default all
};
struct AllGatherOptions {
  int axis = 0;  ///< axis of the concatenation, or position of the new axis
  ReplicaGrouping group{};  ///< replicas that exchange data; by default all
  GatheredShape output_shape = GatheredShape::automatic;  ///< arrangement of the group's tensors in the result
};

namespace detail {
/// Returns the numbers of a grouping. Fails unless it belongs to t's Ir and has a constant stride; the error names `what`.
constexpr ReplicaGroups groups_for(std::string_view what, Tensor t, const ReplicaGrouping& group) {
  Ir& ir = t.ir();
  if (!group.valid()) return ir.replica_grouping().groups();
  if (&group.ir() != &ir)
    ir.fail(text(what, ": ", to_text(t), " over ", to_text(group), " of another Ir: a group of the tensor's Ir expected"));
  else if (!group.is_const())
    ir.fail(text(what, ": ", to_text(t), " over ", to_text(group), ": a grouping with a constant stride expected"));
  return group.groups();
}
/// Returns the axis counted from the first. Returns an axis out of range unchanged, so that the op fails.
constexpr std::int64_t from_the_first(std::int64_t axis, int rank) { return axis < 0 && axis >= -rank ? axis + rank : axis; }
}  // namespace detail

/// Reduces t over the group, element by element; every replica gets the result. t: any shape, float16, float32, int32 or uint32.
/// The result has t's shape, dtype and meta shape. float16 is reduced in float32 and rounded once. Replicas are combined in their
/// order, so results do not depend on the number of threads. Not differentiable. (`mul` multiplies; in PopXL it takes the mean.)
[[nodiscard]] constexpr Tensor replicated_all_reduce(Tensor t, const AllReduceOptions& options = {}) {
  if (!t.is_usable()) return t;
  const ReplicaGroups groups = detail::groups_for("replicated_all_reduce", t, options.group);
  return apply<ReplicatedAllReduce>({t}, {groups, static_cast<std::int64_t>(options.op)});
}
/// Reduces t over the group in place, element by element, on every replica. Returns an alias of t. Dtypes and order are those of
/// replicated_all_reduce. Not differentiable.
constexpr Tensor replicated_all_reduce_(Tensor t, const AllReduceOptions& options = {}) {
  if (!t.is_usable()) return t;
  const ReplicaGroups groups = detail::groups_for("replicated_all_reduce_", t, options.group);
  return apply<ReplicatedAllReduceInplace>({t}, {groups, static_cast<std::int64_t>(options.op)});
}

/// Reduces t over a group of n replicas; replica i of the group gets part i of n. t: any shape, float16, float32, int32 or
/// uint32. Result: (ceil(elements / n),), a part of t's flattened elements, with zeros after the last. With the operator `local`,
/// each replica gets its part of its own t without a reduction. Only `local` is differentiable.
[[nodiscard]] constexpr Tensor replicated_reduce_scatter(Tensor t, const ReduceScatterOptions& options = {}) {
  if (!t.is_usable()) return t;
  const ReplicaGroups groups = detail::groups_for("replicated_reduce_scatter", t, options.group);
  return apply<ReplicatedReduceScatter>(
      {t}, {groups, static_cast<std::int64_t>(options.op), options.configure_output_for_replicated_tensor_sharding ? 1 : 0});
}

/// Returns this replica's shard of t, which all replicas of a group have, with t's shape as its meta shape. The shard is that of
/// replicated_reduce_scatter with `local`. The gradient is gathered from the shards' gradients.
[[nodiscard]] constexpr Tensor replica_sharded_slice(Tensor t, const ReplicaGrouping& group = {}) {
  if (!t.is_usable()) return t;
  const ReplicaGroups groups = detail::groups_for("replica_sharded_slice", t, group);
  return apply<ReplicatedReduceScatter>({t}, {groups, static_cast<std::int64_t>(CollectiveOperator::local), 1});
}

/// Returns a slice of t, a tensor that all n replicas of a group have. The op cuts t along an axis into n slices of the same
/// size. Replica i of the group gets slice i. Fails if n does not divide the extent. The axis remains if its extent becomes 1.
/// (PopXL removes it.) The gradient is gathered along the axis.
[[nodiscard]] constexpr Tensor replicated_slice(Tensor t, const ReplicatedSliceOptions& options = {}) {
  if (!t.is_usable()) return t;
  const ReplicaGroups groups = detail::groups_for("replicated_slice", t, options.group);
  const std::int64_t axis = detail::from_the_first(options.axis, t.rank());
  return apply<ReplicatedReduceScatter>({t}, {groups, static_cast<std::int64_t>(CollectiveOperator::local), 0, 1, axis});
}

/// Gathers the tensors t of all n replicas of a group on each of them, in one of three arrangements:
///  - `concat`: concatenated along the axis;
///  - `new_axis`: along a new axis of extent n with number `axis` (PopXL mixes up elements if that is not 0);
///  - `meta_shape`: t is a shard, and the result is the whole tensor of t's meta shape. The groups must be those of the shards.
/// The default is `meta_shape` if t has one, otherwise `concat`. The gradient is this replica's slice of the result's gradient.
/// That is correct if all replicas process the result in the same way and so have equal gradients. `meta_shape` is not
/// differentiable.
[[nodiscard]] constexpr Tensor replicated_all_gather(Tensor t, const AllGatherOptions& options = {}) {
  if (!t.is_usable()) return t;
  Ir& ir = t.ir();
  ReplicatedAllGather::Attributes attributes{.groups = detail::groups_for("replicated_all_gather", t, options.group)};
  const int meta_shape = ir.tables.record(t).meta_shape;
  GatheredShape shape = options.output_shape;
  if (shape == GatheredShape::automatic) shape = meta_shape < 0 ? GatheredShape::concat : GatheredShape::meta_shape;
  attributes.shape = static_cast<std::int64_t>(shape);
  if (shape == GatheredShape::meta_shape) {
    if (meta_shape < 0)
      return ir.fail(text("replicated_all_gather: ", to_text(t), " over ",
                          to_text(ir.replica_grouping(attributes.groups.stride, attributes.groups.group_size)),
                          " to its meta shape: a tensor that has one expected"));
    attributes.meta_shape = meta_shape;
  } else {
    attributes.axis = detail::from_the_first(options.axis, t.rank() + (shape == GatheredShape::new_axis ? 1 : 0));
  }
  return apply<ReplicatedAllGather>({t}, attributes);
}

}  // namespace ops::collectives

}  // namespace tilewright
