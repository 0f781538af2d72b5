// Programs of several replicas in 1, 2 or 4 processes: each process checks what it gets against plain loops.
#include <cstdint>
#include <vector>

#include "../catch.hpp"
#include "tilewright/distributed/distributed.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
using namespace tw::literals;
using tw::Ir, tw::Tensor;

using Floats = std::vector<float>;
template <class Array>
Floats elements(const Array& array) {
  return Floats(array.data(), array.data() + array.size());
}

/// A variable of its own on each replica, plus 1.
constexpr void add_one(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor v = ir.variable(tw::values({0, 1, 2, 3, 4, 5, 6, 7}), {4}, tw::float32, "v",
                               {.replica_grouping = ir.replica_grouping(1, 1)});
  ops::accumulate_(v, ir.constant({1}, {4}));
}

/// An RTS variable that is gathered, and its gradient, scattered and added.
template <tw::CollectiveOperator op>
constexpr void sharded(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor shard = ir.replica_sharded_variable(tw::values({1, 1}), {2}, tw::float32, "v");
  const Tensor whole = collectives::replicated_all_gather(shard);
  ops::host_store(ir.d2h_stream("whole", {2}), whole);
  const Tensor part = collectives::replicated_reduce_scatter(ir.constant({1}, {2}),
                                                             {.op = op, .configure_output_for_replicated_tensor_sharding = true});
  ops::accumulate_(shard, part);
}

}  // namespace

TEST_CASE("groups of one: each replica adds to its own") {
  if (tw::distributed::Processes::world().count() > 2) return;
  tw::distributed::Session<add_one> session;
  session.run();
  CHECK(elements(session.get_tensor_data("v"_s)) == Floats{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("shards over two replicas") {
  if (tw::distributed::Processes::world().count() > 2) return;
  tw::distributed::Session<sharded<tw::CollectiveOperator::mean>> mean;
  const auto outputs = mean.run();
  CHECK(elements(outputs["whole"_s]) == Floats(static_cast<std::size_t>(2 * mean.instance_replication_factor()), 1.f));
  CHECK(elements(mean.get_tensor_data("v"_s)) == Floats{2, 2});
  tw::distributed::Session<sharded<tw::CollectiveOperator::add>> add;
  add.run();
  CHECK(elements(add.get_tensor_data("v"_s)) == Floats{3, 3});
}
