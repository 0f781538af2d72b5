#pragma once
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/program/remote_buffer.hpp"
#include "tilewright/program/replica_grouping.hpp"

namespace tilewright {

/// Tensors of a replicated variable in the host's array. For a sharded variable, they are whole tensors.
enum class RetrievalMode : std::uint8_t {
  one_per_group,  ///< one for each group: the tensor of its first replica, or of its first replicas with all shards
  all_replicas  ///< one for each replica, made of the replica's shard and those of the other replicas that gather it
};

/// Options of a replicated variable. The replicas of a group start with equal values. Without a grouping, all replicas form one
/// group.
///
/// If there are several groups, the host's array has a first axis over groups, or over replicas with RetrievalMode::all_replicas.
/// Initial values are one number for all elements, or one number for each element of each group.
struct VariableOptions {
  ReplicaGrouping replica_grouping{};  ///< groups of replicas with separate values; none: one group of all
  RetrievalMode retrieval_mode = RetrievalMode::one_per_group;  ///< tensors in the host's array
};
/// Options of a replicated variable that is cut into `shard_over` shards, by default one for each replica of a group. The
/// replicas of a group take the shards in turn; if there are fewer shards than replicas, they start again with the first.
struct ShardedVariableOptions {
  ReplicaGrouping replica_grouping{};  ///< groups of replicas with separate values; none: one group of all
  std::int64_t shard_over = 0;  ///< number of shards; 0: the number of replicas in a group
  RetrievalMode retrieval_mode = RetrievalMode::one_per_group;  ///< whole tensors in the host's array
};
/// Options of a remote buffer of `entries` rows. Each row is cut into `shard_over` shards, by default one for each replica of a
/// group.
struct ShardedBufferOptions {
  ReplicaGrouping replica_grouping{};  ///< groups of replicas with separate values; none: one group of all
  std::int64_t shard_over = 0;  ///< number of shards; 0: the number of replicas in a group
  std::int64_t entries = 1;  ///< rows, each for a whole tensor
};

namespace detail {

/// Returns the distribution of a variable over the replicas, and the group of each replica (empty: one group).
constexpr Pair<Distribution, List<int>> distribute(const Ir& ir, const Shape& shape, const ReplicaGrouping& grouping,
                                                   RetrievalMode mode = RetrievalMode::one_per_group) {
  Pair<Distribution, List<int>> result;
  result.first.shape = shape;
  result.first.all_replicas = mode == RetrievalMode::all_replicas && ir.replication_factor() > 1;
  if (!grouping.valid() || grouping.num_groups() == 1) return result;
  result.first.groups = static_cast<int>(grouping.num_groups());
  result.second = grouping.assignment();
  return result;
}
/// Returns the number of shards of a tensor; 0 after an error, which names `what`.
constexpr std::int64_t shards(Ir& ir, std::string_view what, std::string_view name, const ReplicaGrouping& grouping,
                              std::int64_t shard_over) {
  const std::int64_t group = grouping.valid() ? grouping.group_size() : ir.replication_factor();
  if (shard_over == 0) shard_over = group;
  if (ir.replication_factor() == 1)
    ir.fail(text(what, ": '", name, "' in a program of one replica: a replication factor above 1 expected"));
  else if (shard_over < 1 || group % shard_over != 0)
    ir.fail(
        text(what, ": '", name, "' over ", shard_over, " replicas of groups of ", group, ": a divisor of ", group, " expected"));
  return ir.failed() ? 0 : shard_over;
}
constexpr TensorSpec shard_spec(const Shape& shape, DType dtype, std::int64_t shard_over) {
  return {{shard_elements(shape.nelms(), shard_over)}, dtype};
}

/// Returns the record of a variable. Fails for other tensors; the error names `what`.
constexpr const VariableRecord* find_variable(const Tensor& t, std::string_view what) {
  if (t.kind() == TensorKind::variable || t.kind() == TensorKind::remote)
    return &t.ir().tables.variables[static_cast<std::size_t>(t.ir().tables.record(t).payload)];
  if (!t.ir().failed()) t.ir().fail(text(what, ": ", to_text(t), ": a variable expected"));
  return nullptr;
}
}  // namespace detail

constexpr ReplicaGrouping Tensor::replica_grouping() const {
  const VariableRecord* variable = detail::find_variable(*this, "replica_grouping");
  if (!variable || variable->assignment.empty()) return ir().replica_grouping();
  return ir().replica_grouping_from_assignments(variable->assignment);
}
constexpr RetrievalMode Tensor::retrieval_mode() const {
  const VariableRecord* variable = detail::find_variable(*this, "retrieval_mode");
  return variable && variable->distribution.all_replicas ? RetrievalMode::all_replicas : RetrievalMode::one_per_group;
}
constexpr Shape Tensor::shape_on_host() const {
  const VariableRecord* variable = detail::find_variable(*this, "shape_on_host");
  if (!variable) return shape();
  const auto& [whole, groups, shard_over, all_replicas] = variable->distribution;
  const std::int64_t tensors = all_replicas ? ir().replication_factor() : groups;
  if (tensors == 1) return whole;
  Shape result{tensors};
  for (int axis = 0; axis < whole.rank; ++axis) result.push_back(whole[axis]);
  return result;
}
constexpr Shape Tensor::shape_on_replica() const {
  detail::find_variable(*this, "shape_on_replica");
  return shape();
}

/// Creates a variable of the given shape on each replica, with separate values in each group of replicas.
constexpr Tensor Ir::variable(const Initialiser& initialiser, const Shape& shape, DType dtype, std::string_view name,
                              const VariableOptions& options) {
  auto [distribution, assignment] = detail::distribute(*this, shape, options.replica_grouping, options.retrieval_mode);
  return add_variable("variable", TensorKind::variable, initialiser, {shape, dtype}, name, distribution, std::move(assignment));
}
/// Creates a variable of the given shape that is sharded over the replicas of each group. Returns the replica's shard, a tensor
/// of shape [ceil(elements / shard_over)] with the given shape as its meta_shape. Zeros fill the last shard. The host's array has
/// the whole shape, with a first axis over groups or replicas as for other variables. With RetrievalMode::all_replicas, a replica
/// takes its shard from its own tensor of the host's array, and the host gets the shards that the replica would gather. Fails for
/// a program of one replica, and if shard_over does not divide the size of the groups.
constexpr Tensor Ir::replica_sharded_variable(const Initialiser& initialiser, const Shape& shape, DType dtype,
                                              std::string_view name, const ShardedVariableOptions& options) {
  const std::int64_t parts = detail::shards(*this, "replica_sharded_variable", name, options.replica_grouping,
                                            options.shard_over);
  if (parts == 0 || !detail::check_spec(*this, "replica_sharded_variable", name, {shape, dtype})) return Tensor::invalid(*this);
  auto [distribution, assignment] = detail::distribute(*this, shape, options.replica_grouping, options.retrieval_mode);
  distribution.shard_over = parts;
  const Tensor result = add_variable("replica_sharded_variable", TensorKind::variable, initialiser,
                                     detail::shard_spec(shape, dtype, parts), name, distribution, std::move(assignment));
  if (result.valid()) tables.set_meta_shape(result, shape, parts);
  return result;
}
constexpr Tensor Ir::replica_sharded_variable(const Initialiser& initialiser, const Shape& shape, DType dtype,
                                              std::string_view name) {
  return replica_sharded_variable(initialiser, shape, dtype, name, {});
}

/// Creates a variable in row `offset` of each replica's rows of a remote buffer, with separate values in each group of replicas.
constexpr Tensor Ir::remote_variable(const Initialiser& initialiser, const RemoteBuffer& buffer, std::int64_t offset,
                                     std::string_view name, const VariableOptions& options) {
  return add_remote_variable("remote_variable", initialiser, buffer, offset, name,
                             detail::distribute(*this, buffer.tensor_shape(), options.replica_grouping, options.retrieval_mode));
}
/// Creates a remote buffer for shards of tensors of the given shape. Each replica has rows of [ceil(elements / shard_over)]
/// elements. A loaded row has the given shape as its meta_shape. Fails for a program of one replica, and if shard_over does not
/// divide the size of the groups.
constexpr RemoteBuffer Ir::replica_sharded_buffer(const Shape& shape, DType dtype, const ShardedBufferOptions& options) {
  const std::int64_t parts = detail::shards(*this, "replica_sharded_buffer", to_text(TensorSpec{shape, dtype}).view(),
                                            options.replica_grouping, options.shard_over);
  if (parts == 0 || !detail::check_spec(*this, "replica_sharded_buffer", "", {shape, dtype})) return RemoteBuffer::invalid(*this);
  const RemoteBuffer result = remote_buffer(detail::shard_spec(shape, dtype, parts).shape, dtype, options.entries);
  if (!result.valid()) return result;
  tables.remote_buffers.back().meta_shape = tables.add_meta_shape(shape, parts);
  tables.remote_buffers.back().shard_over = parts;
  return result;
}
/// Creates a sharded variable in row `offset` of a buffer that replica_sharded_buffer created. The variable has the buffer's
/// whole shape. Options are those of replica_sharded_variable. Fails for other buffers.
constexpr Tensor Ir::remote_replica_sharded_variable(const Initialiser& initialiser, const RemoteBuffer& buffer,
                                                     std::int64_t offset, std::string_view name, const VariableOptions& options) {
  if (failed() || !buffer.is_usable()) return Tensor::invalid(*this);
  const RemoteBufferRecord& record = tables.remote_buffers[static_cast<std::size_t>(buffer.id() - 1)];
  if (record.meta_shape < 0)
    return fail(text("remote_replica_sharded_variable: '", name, "' in ", to_text(buffer),
                     ", which is not sharded: one of replica_sharded_buffer expected"));
  if (detail::shards(*this, "remote_replica_sharded_variable", name, options.replica_grouping, record.shard_over) == 0)
    return Tensor::invalid(*this);
  auto distribution = detail::distribute(*this, tables.meta_shapes[static_cast<std::size_t>(record.meta_shape)].whole,
                                         options.replica_grouping, options.retrieval_mode);
  distribution.first.shard_over = record.shard_over;
  return add_remote_variable("remote_replica_sharded_variable", initialiser, buffer, offset, name, std::move(distribution));
}
constexpr Tensor Ir::remote_replica_sharded_variable(const Initialiser& initialiser, const RemoteBuffer& buffer,
                                                     std::int64_t offset, std::string_view name) {
  return remote_replica_sharded_variable(initialiser, buffer, offset, name, VariableOptions());
}
constexpr Tensor Ir::remote_replica_sharded_variable(const Initialiser& initialiser, const RemoteBuffer& buffer,
                                                     std::int64_t offset, std::string_view name,
                                                     const ReplicaGrouping& grouping) {
  return remote_replica_sharded_variable(initialiser, buffer, offset, name, VariableOptions{.replica_grouping = grouping});
}

}  // namespace tilewright
