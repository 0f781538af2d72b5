// labels: none
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
tw::Session<on_two, tw::ipu_model.with_ipus(2)> simulated_ipus_fit;
tw::Session<on_io_tiles, tw::ipu_model.with_io_tiles(32)> simulated_io_tiles_fit;

// CASE io_tiles_that_are_not_there
// expect: HostLoad.100 on IO tiles of IPU 0: the target has no IO tiles: Target::with_io_tiles expected
tw::Session<on_io_tiles, tw::ipu_model> io_tiles_that_are_not_there;

// CASE simulated_ipu_that_is_not_there
// expect: IpuCopy.101 on IPU 1: the target has 1 IPU in a replica: Target::with_ipus(2) expected
tw::Session<on_two, tw::ipu_model> simulated_ipu_that_is_not_there;

constexpr void computes_in_an_exchange(Ir& ir) {
  const auto stream = ir.h2d_stream("x", {4});
  const auto loads = tw::io_tile_exchange(ir);
  ops::exp(ops::host_load(stream));
}
// CASE op_in_an_exchange
// expect: merge_exchange: Exp.101: a load or a store expected in a scope of these alone
// expect: computes_in_an_exchange
tw::Session<computes_in_an_exchange, tw::ipu_model.with_io_tiles(32)> op_in_an_exchange;

// CASE odd_io_tiles
// expect-in-source: with_io_tiles: an even number of at least 32, and below the number of tiles, expected
constexpr tw::Target odd_io_tiles = tw::ipu_model.with_io_tiles(33);

// CASE io_tiles_of_the_host
// expect-in-source: with_io_tiles: the host has no IO tiles: a simulated IPU, such as gc200, expected
constexpr tw::Target io_tiles_of_the_host = tw::cpu.with_io_tiles(32);

// CASE ipus_without_links
// expect-in-source: with_ipus: too many IPUs for the links: at most ipu->link.linked_ipus expected
constexpr tw::Target ipus_without_links = tw::c600.with_ipus(9);

constexpr void large_second(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {4, 10000}));
  const Tensor w = ir.variable(tw::zeros(), {10000, 16}, tw::float32, "small");
  const Tensor hidden = x.matmul(w).copy_to_ipu(1);
  const auto device = tw::ipu(ir, 1);
  const Tensor v = ir.variable(tw::zeros(), {16, 25000}, tw::float32, "large");
  ops::host_store(ir.d2h_stream("y", {4, 25000}), hidden.matmul(v));
}
// CASE second_ipu_is_too_small
// expect: memory: tile 8 of 16, on IPU 1, needs
// expect: largest tensors: large
tw::Session<large_second, tw::ipu_model.with_tiles(8).with_bytes_per_tile(262'144).with_ipus(2)> second_ipu_is_too_small;

// CASE no_ipus
// expect: with_ipus(0)
constexpr tw::Target no_ipus = tw::cpu.with_ipus(0);

/// A program with a function of a variable.
template <auto function>
constexpr void with_variable(Ir& ir) {
  function(ir.variable(tw::ones(), {2}, tw::float32, "x"));
}
template <auto function>
using Case = Traced<with_variable<function>>;

// CASE copy_to_a_negative_ipu
// expect: ipu_copy: Tensor[float32 (2,)] to IPU -1: a number of at least 0 expected
Case<[](Tensor x) { ops::exp(x).copy_to_ipu(-1); }> copy_to_a_negative_ipu;

// CASE copy_from_an_unknown_ipu
// expect: ipu_copy: Tensor[x float32 (2,)] is on no IPU yet, as no op has used it: ipu_copy(t, destination, source) expected
Case<[](Tensor x) { return x.copy_to_ipu(1); }> copy_from_an_unknown_ipu;

// CASE copy_from_another_ipu
// expect: ipu_copy: Tensor[float32 (2,)] is on IPU 0: source 0, not 2, expected
Case<[](Tensor x) { ops::exp(x).copy_to_ipu(1, 2); }> copy_from_another_ipu;

constexpr void use_after_a_pipeline(Tensor x) {
  Tensor y;
  {
    auto pipeline = tw::pipelined_execution(x.ir(), 4);
    const auto stage = pipeline.stage(0);
    y = ops::exp(x);
  }
  ops::exp(y);
}
// CASE tensor_of_an_ended_pipeline
// expect: Exp: Tensor[float32 (2,)] of a scope that has ended, of only_if or of a pipeline:
// expect: of a pipeline: a tensor that its ops change in place, or a stream, expected
Case<use_after_a_pipeline> tensor_of_an_ended_pipeline;

// CASE proportion_of_an_ipu
// expect: set_available_memory_proportion_by_ipu: -0.5 for IPU 1: a number from 0 to 1 expected
Case<[](Tensor x) { tw::set_available_memory_proportion_by_ipu(x.ir(), {0.5, -0.5}); }> proportion_of_an_ipu;

// CASE too_few_proportions
// expect: set_graph_available_memory_proportion_by_ipu: 1 numbers, and MatMul.
// expect: on IPU 1: one for each IPU expected
Case<[](Tensor x) {
  const auto device = tw::ipu(x.ir(), 1);
  static_cast<void>(x.reshape({1, 2}).matmul(tensor(x, {2, 2})));
  tw::set_graph_available_memory_proportion_by_ipu(x.ir().main_graph(), {0.5});
}>
    too_few_proportions;

namespace collectives = tw::ops::collectives;

// CASE all_reduce_of_a_tensor_on_no_ipu
// expect: all_reduce: Tensor[x float32 (2,)] is on no IPU yet, as no op has used it: the option ipus expected
Case<[](Tensor x) { collectives::all_reduce({x}); }> all_reduce_of_a_tensor_on_no_ipu;

// CASE all_reduce_with_another_ipu
// expect: all_reduce: Tensor[float32 (2,)] is on IPU 0: that IPU, not 1, in the option ipus expected
Case<[](Tensor x) { collectives::all_reduce({ops::exp(x)}, {.ipus = {1}}); }> all_reduce_with_another_ipu;

// CASE all_reduce_with_too_few_ipus
// expect: all_reduce: 1 IPUs for 2 tensors: one for each expected
Case<[](Tensor x) { collectives::all_reduce({ops::exp(x), ops::exp(x)}, {.ipus = {0}}); }> all_reduce_with_too_few_ipus;

// CASE all_reduce_on_one_ipu
// expect: all_reduce: Tensor[float32 (2,)] is on IPU 0, as another one: tensors on different IPUs expected
Case<[](Tensor x) { collectives::all_reduce({ops::exp(x), ops::exp(x)}); }> all_reduce_on_one_ipu;

// CASE all_reduce_of_two_shapes
// expect: all_reduce: Tensor[float32 (2,)] and Tensor[float32 (1,)]: equal shapes and dtypes expected
Case<[](Tensor x) { collectives::all_reduce({ops::exp(x), ops::sum(x, {0}, true).copy_to_ipu(1)}); }> all_reduce_of_two_shapes;

// CASE all_reduce_of_booleans
// expect: all_reduce: Tensor[bool (2,)]: float16, float32, int32 or uint32 expected
Case<[](Tensor x) { collectives::all_reduce({ops::greater(x, x)}); }> all_reduce_of_booleans;

// CASE all_reduce_by_local
// expect: all_reduce: `local` between IPUs: an operator that reduces expected
Case<[](Tensor x) { collectives::all_reduce({ops::exp(x), ops::exp(x).copy_to_ipu(1)}, {.op = tw::CollectiveOperator::local}); }>
    all_reduce_by_local;
