// Programs that name IPUs and tiles which their machine does not have.
#include "traced.hpp"

constexpr void on_two(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {4}));
  ops::host_store(ir.d2h_stream("y", {4}), ops::exp(x.copy_to_ipu(1)));
}
tw::Session<on_two, tw::cpu.with_ipus(2)> fits;

// CASE ipu_that_is_not_there
// expect: IpuCopy.101 on IPU 1: the target has 1 IPU in a replica: Target::with_ipus(2) expected
// expect: on_two
tw::Session<on_two, tw::cpu> ipu_that_is_not_there;

constexpr void on_io_tiles(Ir& ir) {
  const auto io = tw::io_tiles(ir);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {4}));
  ops::host_store(ir.d2h_stream("y", {4}), x);
}
// CASE simulated_io_tiles
// expect: HostLoad.100 on IO tiles of IPU 0 of a simulated machine: compute tiles of IPU 0, or the host, expected
tw::Session<on_io_tiles, tw::ipu_model> simulated_io_tiles;

// CASE several_simulated_ipus
// expect: IpuCopy.101 on IPU 1 of a simulated machine: compute tiles of IPU 0, or the host, expected
tw::Session<on_two, tw::ipu_model.with_ipus(2)> several_simulated_ipus;

// CASE no_ipus
// expect: with_ipus(0)
constexpr tw::Target no_ipus = tw::cpu.with_ipus(0);
