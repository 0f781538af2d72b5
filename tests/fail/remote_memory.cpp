// labels: none
// Remote buffers and code loads that cannot be.
#include "traced.hpp"

using tw::RemoteBuffer;

/// What the programs have in common, and compiles without more.
struct Remote {
  RemoteBuffer buffer;
  Tensor variable;
  tw::Graph graph;
  Tensor x;

  constexpr explicit Remote(Ir& ir)
      : buffer(ir.remote_buffer({2, 3}, tw::float32, 2)),
        variable(ir.remote_variable(tw::ones(), buffer, 0, "w")),
        graph(ir.create_graph([](Tensor t) { return t + t; }, variable)) {
    ops::remote_code_load(graph);
    x = tw::call(graph, ops::remote_load(buffer, 0));
    ops::remote_store(buffer, ir.constant(1, tw::uint32), x);
  }
};
template <auto function>
constexpr void program(Ir& ir) {
  function(ir, Remote(ir));
}
template <auto function>
using Case = Traced<program<function>>;
Case<[](Ir&, const Remote&) {}> compiles;

// CASE no_entries
// expect: remote_buffer: 0 entries of (4,) float32: at least 1 expected
Case<[](Ir& ir, const Remote&) { ir.remote_buffer({4}, tw::float32, 0); }> no_entries;

// CASE no_elements
// expect: remote_buffer: `2` of shape (4, 0): extents above 0 expected
Case<[](Ir& ir, const Remote&) { ir.remote_buffer({4, 0}, tw::float32); }> no_elements;

// CASE fewer_entries
// expect: remote_buffer: 1 entries for remote buffer 1 with 2 rows of (2, 3) float32, of which row 1 is in use:
// expect: at least 2 expected
Case<[](Ir&, const Remote& with) { with.buffer.set_entries(1); }> fewer_entries;

// CASE variable_offset
// expect: remote_variable: offset 2 of remote buffer 1 with 2 rows of (2, 3) float32: an offset from 0 to 1 expected
Case<[](Ir& ir, const Remote& with) { ir.remote_variable(tw::ones(), with.buffer, 2, "v"); }> variable_offset;

// CASE variable_row
// expect: remote_variable: `v` in row 0 of remote buffer 1 with 2 rows of (2, 3) float32, which another variable is in:
// expect: a row of its own expected
Case<[](Ir& ir, const Remote& with) { ir.remote_variable(tw::ones(), with.buffer, 0, "v"); }> variable_row;

// CASE variable_values
// expect: remote_variable: 5 values for `v` of shape (2, 3): 6 expected
Case<[](Ir& ir, const Remote& with) { ir.remote_variable(tw::values({1, 2, 3, 4, 5}), with.buffer, 1, "v"); }> variable_values;

// CASE variable_in_a_graph
// expect: remote_variable: `v` in graph graph_subgraph(1): variables live in the main graph only
Case<[](Ir& ir, const Remote& with) {
  ir.create_graph([&](Tensor t) { return ir.remote_variable(tw::ones(), with.buffer, 1, "v") + t; }, with.x);
}>
    variable_in_a_graph;

// CASE variable_in_an_op
// expect: Add: Tensor[w float32 (2, 3)] lives in streaming memory: what remote_load gives of it expected
Case<[](Ir&, const Remote& with) { with.x + with.variable; }> variable_in_an_op;

// CASE variable_in_a_call
// expect: Call: Tensor[w float32 (2, 3)] lives in streaming memory: what remote_load gives of it expected
Case<[](Ir&, const Remote& with) { tw::call(with.graph, with.variable); }> variable_in_a_call;

// CASE variable_to_the_host
// expect: HostStore: Tensor[w float32 (2, 3)] lives in streaming memory: what remote_load gives of it expected
Case<[](Ir& ir, const Remote& with) { ops::host_store(ir.d2h_stream("w", {2, 3}), with.variable); }> variable_to_the_host;

// CASE load_offset
// expect: remote_load: offset 2 of remote buffer 1 with 2 rows of (2, 3) float32: an offset from 0 to 1 expected
Case<[](Ir&, const Remote& with) { ops::remote_load(with.buffer, 2); }> load_offset;

// CASE load_in_place_offset
// expect: remote_load_: offset 7 of remote buffer 1 with 2 rows of (2, 3) float32: an offset from 0 to 1 expected
Case<[](Ir& ir, const Remote& with) { ops::remote_load_(with.buffer, ir.constant(7, tw::int32), with.x); }> load_in_place_offset;

// CASE store_offset
// expect: remote_store: offset -1 of remote buffer 1 with 2 rows of (2, 3) float32: an offset from 0 to 1 expected
Case<[](Ir&, const Remote& with) { ops::remote_store(with.buffer, -1, with.x); }> store_offset;

// CASE offset_dtype
// expect: RemoteLoad: offset () float32: one int32 or uint32 element expected
Case<[](Ir& ir, const Remote& with) { ops::remote_load(with.buffer, ir.constant(1)); }> offset_dtype;

// CASE offset_shape
// expect: RemoteStore: offset (2,) int32: one int32 or uint32 element expected
Case<[](Ir& ir, const Remote& with) {
  ops::remote_store(with.buffer, ops::host_load(ir.h2d_stream("rows", {2}, tw::int32)), with.x);
}>
    offset_shape;

// CASE store_shape
// expect: RemoteStore: (3, 2) float32 for remote buffer 1 with 2 rows of (2, 3) float32: (2, 3) float32 expected
Case<[](Ir&, const Remote& with) { ops::remote_store(with.buffer, 0, with.x.T()); }> store_shape;

// CASE store_dtype
// expect: RemoteStore: (2, 3) float16 for remote buffer 1 with 2 rows of (2, 3) float32: (2, 3) float32 expected
Case<[](Ir&, const Remote& with) { ops::remote_store(with.buffer, 0, with.x.cast(tw::float16)); }> store_dtype;

// CASE load_in_place_shape
// expect: RemoteLoadInplace: (3, 2) float32 for remote buffer 1 with 2 rows of (2, 3) float32: (2, 3) float32 expected
Case<[](Ir&, const Remote& with) { ops::remote_load_(with.buffer, 0, with.x.T()); }> load_in_place_shape;

// CASE load_to_a_constant
// expect: RemoteLoadInplace: Tensor[float32 (2, 3)] is a constant: a tensor that may change in place expected
Case<[](Ir& ir, const Remote& with) { ops::remote_load_(with.buffer, 0, ir.constant({0}, {2, 3})); }> load_to_a_constant;

// CASE factory
// expect: remote_variable: `v` (3,) float32 in remote buffer 1 with 2 rows of (2, 3) float32: (2, 3) float32 expected
Case<[](Ir& ir, const Remote& with) { tw::VariableFactory(ir, tw::ones(), {{3}}).create_remote_tensor(with.buffer, 1, "v"); }>
    factory;

// CASE no_buffer_of_that_name
// expect: DotTree: no leaf `weight`: one of bias expected
Case<[](Ir& ir, const Remote& with) {
  tw::NamedVariableFactories factories;
  factories.insert("weight", tw::VariableFactory(ir, tw::ones(), {{2, 3}}));
  factories.init_remote(tw::NamedRemoteBuffers::from_dict({{"bias", with.buffer}}));
}>
    no_buffer_of_that_name;

// CASE code_destination
// expect: remote_code_load: `io_buffer` as destination of graph_subgraph(0): `executable` expected
Case<[](Ir&, const Remote& with) { ops::remote_code_load(with.graph, "io_buffer"); }> code_destination;

// CASE code_of_the_main_graph
// expect: remote_code_load: the main graph in the main graph: a graph that does not run yet expected
Case<[](Ir& ir, const Remote&) { ops::remote_code_load(ir.main_graph()); }> code_of_the_main_graph;

// CASE code_of_itself
// expect: remote_code_load: inner_subgraph(1) in inner_subgraph(1): a graph that does not run yet expected
Case<[](Ir& ir, const Remote&) {
  const tw::Graph inner = ir.create_empty_graph("inner");
  const tw::GraphScope scope(inner);
  ops::remote_code_load(inner);
}>
    code_of_itself;

// CASE code_that_is_not_called
// expect: remote_code_load: graph_subgraph(0), which is not called afterwards: a later call expected
Case<[](Ir&, const Remote& with) { ops::remote_code_load(with.graph); }> code_that_is_not_called;
