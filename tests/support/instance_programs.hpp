#pragma once
// Four programs of replicas with variables in groups and shards: what a user's guide to several processes begins with.
#include "programs.hpp"
#include "tilewright/tilewright.hpp"

namespace instance_programs {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::CollectiveOperator, tw::Ir, tw::RemoteBuffer, tw::Tensor;

/// A variable with values of its own on each replica, plus 1.
constexpr void add_one(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor v = ir.variable(tw::values({0, 1, 2, 3, 4, 5, 6, 7}), {4}, tw::float32, "v",
                               {.replica_grouping = ir.replica_grouping(1, 1)});
  ops::accumulate_(v, ir.constant({1}, {4}));
}

/// A variable in shards is gathered; the shards get their parts of a reduced gradient.
template <CollectiveOperator op>
constexpr void shards(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor shard = ir.replica_sharded_variable(tw::values({1, 1}), {2}, tw::float32, "v");
  support::store("whole", ops::collectives::replicated_all_gather(shard));
  const Tensor part = ops::collectives::replicated_reduce_scatter(
      ir.constant({1}, {2}), {.op = op, .configure_output_for_replicated_tensor_sharding = true});
  ops::accumulate_(shard, part);
}

/// The same with the variable in a row of a remote buffer.
template <CollectiveOperator op>
constexpr void remote_shards(Ir& ir) {
  ir.set_replication_factor(2);
  const RemoteBuffer buffer = ir.replica_sharded_buffer({2}, tw::float32, {});
  ir.remote_replica_sharded_variable(tw::values({1, 1}), buffer, 0, "v");
  const Tensor shard = ops::remote_load(buffer, 0);
  support::store("whole", ops::collectives::replicated_all_gather(shard));
  const Tensor part = ops::collectives::replicated_reduce_scatter(
      ir.constant({1}, {2}), {.op = op, .configure_output_for_replicated_tensor_sharding = true});
  ops::remote_store(buffer, 0, shard + part);
}

/// Four groups of four replicas, whose neighbours are four apart; two shards, so that each group has two copies of its tensor.
constexpr void strided_shards(Ir& ir) {
  ir.set_replication_factor(16);
  const auto group = ir.replica_grouping(4, 4), copy = ir.replica_grouping(4, 2);
  tw::List<double> values;
  for (int i = 0; i < 4 * 6; ++i) values.push_back(i);
  const Tensor shard = ir.replica_sharded_variable(tw::values(values), {3, 2}, tw::float32, "v",
                                                   {.replica_grouping = group, .shard_over = 2});
  const Tensor whole = ops::collectives::replicated_all_gather(shard, {.group = copy});
  support::store("whole", whole);
  ops::copy_var_update_(shard, ops::collectives::replica_sharded_slice(whole + 1, copy));
}

}  // namespace instance_programs
