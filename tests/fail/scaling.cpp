// labels: none
// Programs whose collectives the simulation of many replicas does not know.
#include <tilewright/scaling/planned.hpp>

#include "traced.hpp"

constexpr void over_all(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {3}));
  ops::host_store(ir.d2h_stream("y", {3}), tw::ops::collectives::replicated_all_reduce(x));
}
constexpr void stored_over_pairs(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {3}));
  ops::host_store(ir.d2h_stream("y", {3}), tw::ops::collectives::replicated_all_reduce(x, {.group = ir.replica_grouping(1, 2)}));
}
constexpr auto compiles = tw::scaling::collectives_of<over_all>;

// CASE groups
// expect: collectives_of: 12 bytes over groups of 2 of 4 replicas: collectives over all replicas expected
constexpr auto groups = tw::scaling::collectives_of<stored_over_pairs>;
