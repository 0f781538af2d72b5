// labels: clang quick
// Constants, streams and tensors of other graphs that ops do not take, in a module inside a module.
#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{8, 5}, function>;

// CASE endless_loop
// expect-in-source: over 32768 ops while compiling: a loop that ends, tw::repeat, or tw::trace at run time expected
Case<[](Tensor x) {
  x.ir().tables.next_op_id = 32768;  // the limit, as if the program had that many ops
  for (;;) x = ops::exp(x);
  return x;
}>
    endless_loop;

// CASE many_numbers
// expect-in-source: over 1048576 numbers while compiling: a variable of given(), a stream or computed_by expected
inline constexpr double zeros[1048577]{};
Case<[](Tensor x) { return x.ir().constant(std::vector<double>(zeros, std::end(zeros)), {1048577}); }> many_numbers;

// CASE many_values
// expect-in-source: over 1048576 numbers while compiling: a variable of given(), a stream or computed_by expected
inline constexpr int integers[1048577]{};
Case<[](Tensor x) { return x.ir().variable(tw::values(std::span(integers)), {1048577}, tw::int32, "many"); }> many_values;

// CASE tensor_of_an_outer_graph
// expect: Exp: input 0, Tensor[float32 (8, 5)], of graph `Net_subgraph(0)`: a tensor of graph `graph_subgraph(1)`, which is being
// expect: built, expected, in Net/layer/graph
// expect: ops::exp(
Case<[](Tensor x) { return x.ir().create_graph([&](Tensor y) { return ops::exp(x) + y; }, x).output(0); }>
    tensor_of_an_outer_graph;

// CASE tensor_of_an_inner_graph
// expect: Add: input 1, Tensor[float32 (8, 5)], of graph `graph_subgraph(1)`: a tensor of graph `Net_subgraph(0)`, which is being
// expect: built, expected, in Net/layer
Case<[](Tensor x) { return x + x.ir().create_graph([](Tensor y) { return y; }, x).output(0); }> tensor_of_an_inner_graph;

// CASE tensor_of_another_ir
// expect: Max: input 1, Tensor[float32 (8, 5)], of another Ir: a tensor of graph `Net_subgraph(0)`, which is being built,
// expect: expected, in Net/layer
Case<[](Tensor x) {
  Ir other;
  return ops::maximum(x, ops::init(other, {8, 5}));
}>
    tensor_of_another_ir;

// CASE tensor_of_no_graph
// expect-in-source: a Tensor() of no graph: a tensor that an op, a stream or an input gave expected
Case<[](Tensor) { return Tensor() + Tensor(); }> tensor_of_no_graph;

// CASE second_operand_of_no_graph
// expect: Add: input 1 is a Tensor() of no graph: a tensor expected, in Net/layer
Case<[](Tensor x) { return x + Tensor(); }> second_operand_of_no_graph;

// CASE graph_of_no_program
// expect-in-source: Graph: a Graph() of no program: a graph that create_graph or autodiff gave expected
Case<[](Tensor x) { return tw::call(tw::Graph(), {x})[0]; }> graph_of_no_program;

// CASE store
// expect: HostStore: (8, 5) float32 for stream `loss`: () float32 expected, in Net/layer
Case<[](Tensor x) { ops::host_store(x.ir().d2h_stream("loss", {}, tw::float32), x); }> store;

// CASE store_dtype
// expect: HostStore: (8, 5) int32 for stream `y`: (8, 5) float32 expected, in Net/layer
Case<[](Tensor x) { ops::host_store(x.ir().d2h_stream("y", x.spec()), x.cast(tw::int32)); }> store_dtype;

// CASE stream_name
// expect: stream: `x` exists already: stream names are unique, in Net/layer
Case<[](Tensor x) { return ops::host_load(x.ir().h2d_stream("x", x.spec())); }> stream_name;

// CASE stream_shape
// expect: stream: `none` of shape (0, 5): extents above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::host_load(x.ir().h2d_stream("none", {0, 5})); }> stream_shape;

// CASE count_of_values
// expect: constant: 3 values for shape (2, 2): 4 expected, in Net/layer
Case<[](Tensor x) { return x.ir().constant({1, 2, 3}, {2, 2}); }> count_of_values;

// CASE shape_of_a_constant
// expect: constant: shape (-3, 4): extents above 0 expected, in Net/layer
Case<[](Tensor x) { return x.ir().constant({1.0}, {-3, 4}); }> shape_of_a_constant;

// CASE value_of_a_constant
// expect: constant: 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in Net/layer
Case<[](Tensor x) { return x.ir().constant({0.5}, {1}, tw::int32); }> value_of_a_constant;

// CASE new_tensor
// expect: InitZero: shape (2, 0): extents above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::init(x.ir(), {2, 0}); }> new_tensor;

// CASE large_tensor
// expect: Expand: (4398046511104, 8, 5) float32: a tensor of at most 2^47 bytes expected, in Net/layer
Case<[](Tensor x) { return x.expand({std::int64_t{1} << 42, 8, 5}); }> large_tensor;
