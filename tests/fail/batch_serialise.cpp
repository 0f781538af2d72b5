// labels: none
// Serialised and repeated graphs and routes of tensors that cannot be.
#include <tilewright/transform/batch_serialise_gradients.hpp>
#include <tilewright/transform/repeat_graph.hpp>
#include <tilewright/transform/route_tensor.hpp>

#include "traced.hpp"

using tw::Graph;

/// A graph of three inputs, of which a step loads the first; and its gradient graph.
struct Scene {
  Ir& ir;
  Graph graph;
  Tensor x, weight, seed, y;
  tw::HostToDeviceStream stream;

  constexpr explicit Scene(Ir& program)
      : ir(program),
        graph(ir.create_graph([](Tensor in, Tensor w, Tensor s) { return ops::dropout(in * w, s, 0.5); }, spec, spec,
                              tw::TensorSpec{{2}, tw::uint32})),
        x(graph.input(0)),
        weight(graph.input(1)),
        seed(graph.input(2)),
        y(graph.output(0)),
        stream(ir.h2d_stream("x", {2, 3})) {}

  static constexpr tw::TensorSpec spec{{2, 3}, tw::float32};
  constexpr auto serialise(const tw::BatchSerialOptions& options, std::int64_t steps = 4) const {
    return tw::batch_serialise(graph, steps, options);
  }
  constexpr Tensor row() const { return ir.constant(0, tw::uint32); }
  constexpr Tensor other() const { return ir.constant(tw::zeros(), {2, 3}, tw::float32, "other"); }
};
template <auto function>
constexpr void program(Ir& ir) {
  function(Scene(ir));
}
template <auto function>
using Case = Traced<program<function>>;
Case<[](const Scene& s) {
  s.serialise({.load_handles = {{s.x, s.stream}}, .store_streams = {{s.y, s.ir.d2h_stream("y", {2, 3})}}, .seed_input = s.seed});
}>
    compiles;

// CASE no_steps
// expect: batch_serialise of graph_subgraph(0): 0 steps: from 1 to 2147483647 expected
Case<[](const Scene& s) { s.serialise({.load_handles = {{s.x, s.stream}}}, 0); }> no_steps;

// CASE no_rows
// expect: batch_serialise of graph_subgraph(0): 0 rows: at least 1 expected
Case<[](const Scene& s) { s.serialise({.load_handles = {{s.x, s.stream}}, .rows = 0}); }> no_rows;

// CASE unknown_mode
// expect: batch_serialise of graph_subgraph(0): io_mode 7: IoMode::compute, io or io_overlapped expected
Case<[](const Scene& s) { s.serialise({.io_mode = static_cast<tw::IoMode>(7)}); }> unknown_mode;

// CASE load_of_another_tensor
// expect: batch_serialise of graph_subgraph(0): a load handle for Tensor[other float32 (2, 3)]: an input of the graph expected
Case<[](const Scene& s) { s.serialise({.load_handles = {{s.other(), s.stream}}}); }> load_of_another_tensor;

// CASE two_loads
// expect: batch_serialise of graph_subgraph(0): a load handle for Tensor[float32 (2, 3)], which has another
// expect: origin: one expected
Case<[](const Scene& s) { s.serialise({.load_handles = {{s.x, s.stream}, {s.x, s.stream}}}); }> two_loads;

// CASE load_of_another_shape
// expect: call of graph_subgraph(0): (3,) float32 for input 0
// expect: (2, 3) float32 expected
Case<[](const Scene& s) { s.serialise({.load_handles = {{s.x, s.ir.h2d_stream("other", {3})}}}); }> load_of_another_shape;

// CASE store_of_another_tensor
// expect: batch_serialise of graph_subgraph(0): a store of Tensor[other float32 (2, 3)]: an output or input of the graph expected
Case<[](const Scene& s) { s.serialise({.store_buffers = {{s.other(), {s.ir.remote_buffer({2, 3})}}}}); }> store_of_another_tensor;

// CASE seed_of_another_graph
// expect: batch_serialise of graph_subgraph(0): seed_input Tensor[other float32 (2, 3)]: an input of the graph expected
Case<[](const Scene& s) { s.serialise({.seed_input = s.other()}); }> seed_of_another_graph;

// CASE seed_of_floats
// expect: batch_serialise of graph_subgraph(0): seed_input Tensor[float32 (2, 3)]: (2,) uint32 expected
Case<[](const Scene& s) { s.serialise({.seed_input = s.weight}); }> seed_of_floats;

// CASE row_offset_of_floats
// expect: batch_serialise of graph_subgraph(0): row_offset gives
// expect: float32 ()]: () uint32 expected
Case<[](const Scene& s) {
  s.serialise({.load_handles = {{s.x, {s.ir.remote_buffer({2, 3}), [](Tensor row) { return row.cast(tw::float32); }}}}});
}>
    row_offset_of_floats;

// CASE row_offset_below_0
// expect: batch_serialise of graph_subgraph(0): row_offset -3 for 3 rows: at least -2 expected
Case<[](const Scene& s) { s.serialise({.store_buffers = {{s.y, {s.ir.remote_buffer({2, 3}), -3}}}, .rows = 3}); }>
    row_offset_below_0;

// CASE no_io_tiles
// expect: HostLoad
// expect: on IO tiles of IPU 0: the target has no IO tiles: Target::with_io_tiles expected
constexpr void on_io_tiles(Ir& ir) {
  const Scene s(ir);
  const auto serial = s.serialise({.load_handles = {{s.x, s.stream}}, .seed_input = s.seed});
  serial.graph.call(s.row(), ir.variable(tw::zeros(), {2}, tw::uint32, "seed"), s.other());
}
tw::Session<on_io_tiles, tw::ipu_model> no_io_tiles;

// CASE buffer_without_rows
// expect: batch_serial_buffer of Tensor[float32 (2, 3)]: 4 steps, 0 rows: at least 1 of each,
// expect: and at most 2^47 bytes together, expected
Case<[](const Scene& s) { tw::batch_serial_buffer(s.x, 4, 0); }> buffer_without_rows;

// CASE no_handle_for_the_gradient
// expect: batch_serialise_fwd_and_grad: input 0 of graph_subgraph(0)_bwd, the gradient of Tensor[float32 (2, 3)],
// expect: has no load handle: one expected
Case<[](const Scene& s) {
  const auto info = tw::autodiff(s.graph);
  tw::batch_serialise_fwd_and_grad(s.graph, {info.graph(), {}, info}, {}, 4, {.load_handles = {{s.x, s.stream}}});
}>
    no_handle_for_the_gradient;

// CASE gradient_of_another_graph
// expect: batch_serialise_fwd_and_grad: graph_subgraph(1) and graph_subgraph(0)_bwd: graph_subgraph(0) and its gradient graph
Case<[](const Scene& s) {
  const auto info = tw::autodiff(s.graph);
  const Graph other = s.ir.create_graph([](Tensor t) { return t; }, s.x);
  tw::batch_serialise_fwd_and_grad(other, {info.graph(), {}, info}, {}, 4);
}>
    gradient_of_another_graph;

// CASE gradient_without_forward
// expect: grad_graph_info of graph_subgraph(0): a graph made by autodiff expected
Case<[](const Scene& s) { tw::batch_serialise_fwd_and_grad(s.graph, s.graph, {}, 4); }> gradient_without_forward;

// CASE repeated_no_times
// expect: repeat_graph of graph_subgraph(0): 0 times: at least 1 expected
Case<[](const Scene& s) { tw::repeat_graph(s.graph, 0); }> repeated_no_times;

// CASE repeated_with_gradient
// expect: repeat_graph of graph_subgraph(0), which has a gradient graph: repeat_graph before autodiff expected
Case<[](const Scene& s) {
  tw::autodiff(s.graph);
  tw::repeat_graph(s.graph, 2);
}>
    repeated_with_gradient;

// CASE repeated_upload
// expect: repeat_graph of the main graph: Gelu.
// expect: of WeightsFromHostFragment: ops of Normal alone expected
Case<[](const Scene& s) {
  const auto context = tw::execution_context(s.ir, tw::ExecutionContext::WeightsFromHostFragment);
  ops::gelu(s.other());
  tw::repeat_graph(s.ir.main_graph(), 2);
}>
    repeated_upload;

// CASE no_path
// expect: route_tensor_into_graph: Tensor[other float32 (2, 3)] into graph_subgraph(0): the main graph does not call it: a graph
// expect: that it calls, directly or not, expected
Case<[](const Scene& s) { tw::route_tensor_into_graph(s.other(), s.graph); }> no_path;

// CASE called_from_elsewhere
// expect: into graph_subgraph(0), which is called from the main graph, too: calls from graph `graph_subgraph(1)` alone expected
Case<[](const Scene& s) {
  const Tensor w = s.other(), seed = s.ir.constant({1, 2}, {2}, tw::uint32);
  const Graph outer = s.ir.create_graph([&](Tensor t, Tensor u) { return tw::call(s.graph, {t, t, u})[0]; }, w, seed);
  tw::call(outer, {w, seed});
  tw::call(s.graph, {w, w, seed});
  tw::route_tensor_into_graph(outer.input(0), s.graph);
}>
    called_from_elsewhere;

// CASE made_too_late
// expect: into graph_subgraph(0) is made after the call of graph_subgraph(0): a tensor made before it expected
Case<[](const Scene& s) {
  const Tensor w = s.other();
  tw::call(s.graph, {w, w, s.ir.constant({1, 2}, {2}, tw::uint32)});
  tw::route_tensor_into_graph(ops::gelu(w), s.graph);
}>
    made_too_late;

// CASE modified_constant
// expect: call of graph_subgraph(0): Tensor[
// expect: is a constant: a tensor that the call may change expected
Case<[](const Scene& s) {
  const Tensor w = s.ir.variable(tw::zeros(), {2, 3}, tw::float32, "w");
  tw::call(s.graph, {w, w, s.ir.constant({1, 2}, {2}, tw::uint32)});
  tw::route_tensor_into_graph(s.other(), s.graph, true);
}>
    modified_constant;

// CASE route_of_a_row
// expect: route_tensor_into_graph: Tensor[w float32 (2, 3)] lives in streaming memory: what remote_load gives of it expected
Case<[](const Scene& s) {
  tw::route_tensor_into_graph(s.ir.remote_variable(tw::ones(), s.ir.remote_buffer({2, 3}), 0, "w"), s.graph);
}>
    route_of_a_row;
