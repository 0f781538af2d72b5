// Remote buffers and code loads that cannot be.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Ir, tw::RemoteBuffer, tw::Tensor;

constexpr Tensor twice(Tensor x) { return x + x; }

constexpr void program(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({2, 3}, tw::float32, 2);
  const Tensor variable = ir.remote_variable(tw::ones(), buffer, 0, "w");
  const tw::Graph graph = ir.create_graph(twice, variable);
  ops::remote_code_load(graph);
  Tensor x = tw::call(graph, ops::remote_load(buffer, 0));
  ops::remote_store(buffer, ir.constant(1, tw::uint32), x);
  // CASE no_entries
  // expect: remote_buffer: 0 entries of (4,) float32: at least 1 expected
#ifdef CASE_no_entries
  ir.remote_buffer({4}, tw::float32, 0);
#endif
  // CASE no_elements
  // expect: remote_buffer: `2` of shape (4, 0): extents above 0 expected
#ifdef CASE_no_elements
  ir.remote_buffer({4, 0}, tw::float32);
#endif
  // CASE fewer_entries
  // expect: remote_buffer: 1 entries for remote buffer 1 of 2 x (2, 3) float32, of which row 1 is in use:
  // expect: at least 2 expected
#ifdef CASE_fewer_entries
  buffer.set_entries(1);
#endif
  // CASE variable_offset
  // expect: remote_variable: offset 2 of remote buffer 1 of 2 x (2, 3) float32: an offset from 0 to 1 expected
#ifdef CASE_variable_offset
  ir.remote_variable(tw::ones(), buffer, 2, "v");
#endif
  // CASE variable_row
  // expect: remote_variable: `v` in row 0 of remote buffer 1 of 2 x (2, 3) float32, which another variable is in:
  // expect: a row of its own expected
#ifdef CASE_variable_row
  ir.remote_variable(tw::ones(), buffer, 0, "v");
#endif
  // CASE variable_values
  // expect: remote_variable: 5 values for `v` of shape (2, 3): 6 expected
#ifdef CASE_variable_values
  ir.remote_variable(tw::values({1, 2, 3, 4, 5}), buffer, 1, "v");
#endif
  // CASE variable_in_a_graph
  // expect: remote_variable: `v` in graph graph_subgraph(1): variables live in the main graph only
#ifdef CASE_variable_in_a_graph
  ir.create_graph([&](Tensor t) { return ir.remote_variable(tw::ones(), buffer, 1, "v") + t; }, x);
#endif
  // CASE variable_in_an_op
  // expect: Add: Tensor[w float32 (2, 3)] lives in streaming memory: what remote_load gives of it expected
#ifdef CASE_variable_in_an_op
  x = x + variable;
#endif
  // CASE variable_in_a_call
  // expect: Call: Tensor[w float32 (2, 3)] lives in streaming memory: what remote_load gives of it expected
#ifdef CASE_variable_in_a_call
  x = tw::call(graph, variable);
#endif
  // CASE variable_to_the_host
  // expect: HostStore: Tensor[w float32 (2, 3)] lives in streaming memory: what remote_load gives of it expected
#ifdef CASE_variable_to_the_host
  ops::host_store(ir.d2h_stream("w", {2, 3}), variable);
#endif
  // CASE load_offset
  // expect: remote_load: offset 2 of remote buffer 1 of 2 x (2, 3) float32: an offset from 0 to 1 expected
#ifdef CASE_load_offset
  ops::remote_load(buffer, 2);
#endif
  // CASE load_in_place_offset
  // expect: remote_load_: offset 7 of remote buffer 1 of 2 x (2, 3) float32: an offset from 0 to 1 expected
#ifdef CASE_load_in_place_offset
  ops::remote_load_(buffer, ir.constant(7, tw::int32), x);
#endif
  // CASE store_offset
  // expect: remote_store: offset -1 of remote buffer 1 of 2 x (2, 3) float32: an offset from 0 to 1 expected
#ifdef CASE_store_offset
  ops::remote_store(buffer, -1, x);
#endif
  // CASE offset_dtype
  // expect: RemoteLoad: offset () float32: one int32 or uint32 element expected
#ifdef CASE_offset_dtype
  ops::remote_load(buffer, ir.constant(1));
#endif
  // CASE offset_shape
  // expect: RemoteStore: offset (2,) int32: one int32 or uint32 element expected
#ifdef CASE_offset_shape
  ops::remote_store(buffer, ops::host_load(ir.h2d_stream("rows", {2}, tw::int32)), x);
#endif
  // CASE store_shape
  // expect: RemoteStore: (3, 2) float32 for remote buffer 1 of 2 x (2, 3) float32: (2, 3) float32 expected
#ifdef CASE_store_shape
  ops::remote_store(buffer, 0, x.T());
#endif
  // CASE store_dtype
  // expect: RemoteStore: (2, 3) float16 for remote buffer 1 of 2 x (2, 3) float32: (2, 3) float32 expected
#ifdef CASE_store_dtype
  ops::remote_store(buffer, 0, x.cast(tw::float16));
#endif
  // CASE load_in_place_shape
  // expect: RemoteLoadInplace: (3, 2) float32 for remote buffer 1 of 2 x (2, 3) float32: (2, 3) float32 expected
#ifdef CASE_load_in_place_shape
  ops::remote_load_(buffer, 0, x.T());
#endif
  // CASE load_to_a_constant
  // expect: RemoteLoadInplace: Tensor[float32 (2, 3)] is a constant: a tensor that may change in place expected
#ifdef CASE_load_to_a_constant
  ops::remote_load_(buffer, 0, ir.constant({0}, {2, 3}));
#endif
  // CASE factory
  // expect: remote_variable: `v` (3,) float32 in remote buffer 1 of 2 x (2, 3) float32: (2, 3) float32 expected
#ifdef CASE_factory
  tw::VariableFactory(ir, tw::ones(), {{3}}).create_remote_tensor(buffer, 1, "v");
#endif
  // CASE no_buffer_of_that_name
  // expect: DotTree: no leaf `weight`: one of bias expected
#ifdef CASE_no_buffer_of_that_name
  tw::NamedVariableFactories factories;
  factories.insert("weight", tw::VariableFactory(ir, tw::ones(), {{2, 3}}));
  factories.init_remote(tw::NamedRemoteBuffers::from_dict({{"bias", buffer}}));
#endif
  // CASE code_destination
  // expect: remote_code_load: `io_buffer` as destination of graph_subgraph(0): `executable` expected
#ifdef CASE_code_destination
  ops::remote_code_load(graph, "io_buffer");
#endif
  // CASE code_of_the_main_graph
  // expect: remote_code_load: the main graph in the main graph: a graph that does not run yet expected
#ifdef CASE_code_of_the_main_graph
  ops::remote_code_load(ir.main_graph());
#endif
  // CASE code_of_itself
  // expect: remote_code_load: inner_subgraph(1) in inner_subgraph(1): a graph that does not run yet expected
#ifdef CASE_code_of_itself
  const tw::Graph inner = ir.create_empty_graph("inner");
  const tw::GraphScope scope(inner);
  ops::remote_code_load(inner);
#endif
  // CASE code_that_is_not_called
  // expect: remote_code_load: graph_subgraph(0), which is not called afterwards: a later call expected
#ifdef CASE_code_that_is_not_called
  ops::remote_code_load(graph);
#endif
}
tw::Session<program> session;
