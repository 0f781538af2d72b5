// labels: more tsan
// Programs on several simulated IPUs, and on IO tiles, on tiles with memory of their own.
#include "../../support/instance_programs.hpp"
#include "../../support/ipu_programs.hpp"
#include "run.hpp"
#include "tilewright/verified/lower_verified.hpp"

namespace {

using namespace ipu_programs;

inline constexpr tw::Target three_ipus = tw::gc200.with_tiles(5).with_ipus(3), two_ipus = tw::gc200.with_tiles(40).with_ipus(2);
inline constexpr tw::Target with_io = tw::gc200.with_tiles(40).with_io_tiles(32);

/// A collective and a remote buffer of IPU 1.
constexpr void two_replicas(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {6, 8}));
  const Tensor a = ir.variable(tw::normal(0, 1), {8, 8}, tw::float32, "a");
  Tensor h = x.matmul(a).copy_to_ipu(1);
  const auto device = tw::ipu(ir, 1);
  const Tensor b = ir.variable(tw::normal(0, 1), {8, 8}, tw::float32, "b");
  Tensor y = ops::collectives::replicated_all_reduce(h.matmul(b));
  const auto buffer = ir.remote_buffer({6, 8}, tw::float32, 2);
  ops::remote_store(buffer, 1, y);
  Tensor z = ops::remote_load(buffer, 1);
  ops::host_store(ir.d2h_stream("y", {6, 8}), z + 1);
}
/// Branches on two IPUs.
constexpr void in_branches(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {6, 8}));
  const Tensor c = ops::host_load(ir.h2d_stream("c", {}, tw::boolean));
  const auto then = ir.create_graph([](Tensor t) { return ops::exp(t).copy_to_ipu(1); }, x);
  const auto otherwise = ir.create_graph([](Tensor t) { return ops::negate(t).copy_to_ipu(1); }, x);
  const Tensor y = tw::conditional(c, {then, {x}}, {otherwise, {x}})[0];
  const auto device = tw::ipu(ir, 1);
  ops::host_store(ir.d2h_stream("y", {6, 8}), y + 1);
}
/// Loads that are one exchange, and stores, on IO tiles.
constexpr void merged(Ir& ir) {
  const auto a = ir.h2d_stream("a", {6}), b = ir.h2d_stream("b", {6});
  Tensor x, y;
  {
    const auto loads = tw::io_tile_exchange(ir);
    x = ops::host_load(a);
    y = ops::host_load(b);
  }
  const Tensor z = ops::io_tile_copy(x) + ops::io_tile_copy(y);
  const auto buffer = ir.remote_buffer({6}, tw::float32, 2);
  const Tensor out = ops::io_tile_copy(z);
  {
    const auto io = tw::io_tiles(ir);
    ops::remote_store(buffer, 0, out);
    ops::host_store(ir.d2h_stream("z", {6}), out);
  }
}

}  // namespace

TEST_CASE("pipelines on simulated IPUs give in strict mode what they give in the fast mode") {
  check_strict<inference<true>, three_ipus>();
  check_strict<training<true>, two_ipus>();
  check_strict<training<true>, two_ipus.with_io_tiles(32)>(1);
}
TEST_CASE("collectives between simulated IPUs give in strict mode what they give in the fast mode") {
  check_strict<reductions, three_ipus>(1);
  check_strict<gradients, three_ipus>(1);
}
TEST_CASE("IO tiles give in strict mode what they give in the fast mode") {
  check_strict<on_io_tiles, with_io>();
  check_strict<merged, with_io>();
}
TEST_CASE("replicas and branches of simulated IPUs give in strict mode what they give in the fast mode") {
  check_strict<two_replicas, two_ipus>();
  check_strict<in_branches, two_ipus>();
}
TEST_CASE("passes and plans for several simulated IPUs are right") {
  const auto violation = [](auto build, const tw::Target& target) {
    Ir ir(tw::OnError::record);
    tw::trace_for(target, build, ir);
    return tw::lower_verified(tw::prepare(std::move(ir), target)).failure.string();
  };
  CHECK(violation(inference<true>, three_ipus).empty());
  CHECK(violation(training<true>, two_ipus.with_io_tiles(32)).empty());
  CHECK(violation(reductions, three_ipus).empty());
  CHECK(violation(on_io_tiles, with_io).empty());
  CHECK(violation(two_replicas, two_ipus).empty());
}

TEST_CASE("replicas with groups and shards give in strict mode what they give in the fast mode") {
  using namespace instance_programs;
  constexpr tw::Target few = tw::gc200.with_tiles(5);
  check_strict<add_one, few>();
  check_strict<shards<CollectiveOperator::mean>, few>();
  check_strict<remote_shards<CollectiveOperator::add>, few>();
  check_strict<strided_shards, few>();
}
