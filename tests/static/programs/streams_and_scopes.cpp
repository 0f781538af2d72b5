// labels: none
// Streams, name scopes, in_sequence, variables and constants.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "models.hpp"
#include "tilewright/program/scopes.hpp"

using tw::Graph, tw::Ir, tw::OnError, tw::Tensor, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;

using support::Edges, support::failure, support::sequence_of;

// ---- streams
constexpr bool streams_have_names_and_specs() {
  Ir ir;
  const auto images = ir.h2d_stream("image", {8, 28, 28});
  const auto labels = ir.h2d_stream("label", {8}, tw::int32);
  const auto losses = ir.d2h_stream("loss", TensorSpec{{}, tw::float32});
  const Tensor x = ops::host_load(images), y = ops::host_load(labels, "labels");
  ops::host_store(losses, ops::mean(x));
  return ir.tables.streams.size() == 3 && images.spec.shape == tw::Shape{8, 28, 28} && x.spec() == images.spec &&
         y.dtype() == tw::int32 && y.name() == "labels_hostload" && x.name().empty() &&
         ir.tables.streams[2].direction == tw::StreamDirection::device_to_host;
}
static_assert(streams_have_names_and_specs());

constexpr bool braces_are_shapes_or_specs() {
  Ir ir;
  const TensorSpec scalar{{}, tw::float32}, half_pair{{2}, tw::float16};
  const tw::Shape shape{2};
  const std::int32_t extent = 2;
  return ir.d2h_stream("a", {}).spec == scalar && ir.h2d_stream("b", {}).spec == scalar &&
         ir.d2h_stream("c", {}, tw::int32).spec == TensorSpec{{}, tw::int32} &&
         ir.h2d_stream("d", {{2}, tw::float16}).spec == half_pair && ir.d2h_stream("e", {shape, tw::float16}).spec == half_pair &&
         ir.d2h_stream("f", {extent}, tw::float16).spec == half_pair &&
         ir.h2d_stream("g", {shape}, tw::float16).spec == half_pair;
}
static_assert(braces_are_shapes_or_specs());

constexpr bool streams_serve_every_graph() {
  Ir ir;
  const auto images = ir.h2d_stream("image", {2});
  const Graph graph = ir.create_graph([&](Tensor x) { return x + ops::host_load(images) + ops::host_load(images); }, images.spec);
  return graph.op_count() == 4;
}
static_assert(streams_serve_every_graph());

constexpr bool host_transfers_are_counted_unless_set() {
  Ir ir;
  const int before = ir.num_host_transfers();
  ir.set_num_host_transfers(8);
  return before == 0 && ir.num_host_transfers() == 8;
}
static_assert(host_transfers_are_counted_unless_set());

TW_SAME(failure([](Ir& ir) { ir.h2d_stream("x", {2}), ir.d2h_stream("x", {2}); }),
        "stream: 'x' exists already: stream names are unique");
TW_SAME(failure([](Ir& ir) { ops::host_store(ir.d2h_stream("y", {2}), ops::host_load(ir.h2d_stream("x", {3}))); }),
        "HostStore: (3,) float32 for stream 'y': (2,) float32 expected");
TW_SAME(failure([](Ir& ir) { ops::host_store(ir.d2h_stream("y", {2}, tw::float16), ops::host_load(ir.h2d_stream("x", {2}))); }),
        "HostStore: (2,) float32 for stream 'y': (2,) float16 expected");

// ---- names
constexpr bool names_are_wishes() {
  Ir ir;
  const auto make = [&](std::string_view name) { return ir.variable(tw::zeros(), {}, tw::float32, name); };
  return make("t").name() == "t" && make("t").name() == "t__t0" && make("u__t1").name() == "u__t1" && make("u").name() == "u" &&
         make("u").name() == "u__t2" && make("t").name() == "t__t3";
}
static_assert(names_are_wishes());

constexpr bool names_belong_to_their_graph() {
  Ir ir;
  const Graph first = ir.create_graph([](Tensor x) { return tw::graph_input(x.ir(), {}, tw::float32, "w"); }, TensorSpec{});
  const Graph second = ir.create_graph([](Tensor x) { return tw::graph_input(x.ir(), {}, tw::float32, "w"); }, TensorSpec{});
  return first.input(1).name() == "w" && second.input(1).name() == "w";
}
static_assert(names_belong_to_their_graph());

constexpr bool many_names_stay_unique() {
  Ir ir;
  std::vector<Text> names;
  for (int i = 0; i < 40; ++i) names.push_back(ir.variable(tw::zeros(), {}, tw::float32, tw::text("v", i % 20).view()).name());
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) == names.end();
}
static_assert(many_names_stay_unique());

constexpr bool name_scopes_are_prefixes_that_end_with_their_block() {
  Ir ir;
  const auto make = [&](std::string_view name) { return ir.variable(tw::zeros(), {}, tw::float32, name); };
  Tensor inner, middle;
  {
    const auto foo = tw::name_scope(ir, "foo");
    {
      const auto bar = tw::name_scope(ir, "bar");
      inner = make("t");
    }
    middle = make("t");
  }
  return inner.name() == "foo/bar/t" && middle.name() == "foo/t" && make("t").name() == "t";
}
static_assert(name_scopes_are_prefixes_that_end_with_their_block());

constexpr bool graphs_begin_without_a_name_scope() {
  Ir ir;
  const auto foo = tw::name_scope(ir, "foo");
  const Graph graph = ir.create_graph([](Tensor x) { return tw::graph_input(x.ir(), {}, tw::float32, "w"); }, TensorSpec{});
  return graph.input(1).name() == "w" && ir.variable(tw::zeros(), {}, tw::float32, "t").name() == "foo/t";
}
static_assert(graphs_begin_without_a_name_scope());

// ---- in_sequence: edges between neighbours, in one graph, for the block

constexpr bool ops_are_ordered_in_a_sequence_and_free_outside() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {2}, tw::float32, "x");
  x + x;
  {
    const auto sequence = tw::in_sequence(ir);
    x + x;
    x* x;
    -x;
  }
  x / x;
  return sequence_of(ir) == Edges{{1, 2}, {2, 3}};
}
static_assert(ops_are_ordered_in_a_sequence_and_free_outside());

constexpr bool a_sequence_inside_another_goes_on() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {2}, tw::float32, "x");
  const auto sequence = tw::in_sequence(ir);
  x + x;
  {
    const auto inner = tw::in_sequence(ir);
    x* x;
  }
  -x;
  return sequence_of(ir) == Edges{{0, 1}, {1, 2}};
}
static_assert(a_sequence_inside_another_goes_on());

constexpr bool sequences_stay_in_their_graph() {
  Ir ir;
  const Tensor x = ir.variable(tw::ones(), {2}, tw::float32, "x");
  const auto sequence = tw::in_sequence(ir);
  x + x;
  const Graph graph = ir.create_graph(
      [](Tensor y) {
        const Tensor sum = y + y;
        const auto inner = tw::in_sequence(y.ir());
        return sum * -y;
      },
      x);
  tw::call(graph, x);
  return sequence_of(ir) == Edges{{0, 1}} && sequence_of(ir, graph.id()) == Edges{{1, 2}};
}
static_assert(sequences_stay_in_their_graph());

// ---- variables and constants
constexpr bool variables_live_in_the_main_graph_and_constants_anywhere() {
  Ir ir;
  const Graph graph = ir.create_graph([](Tensor x) { return x + x.ir().constant({1, 2, 3}, {3}); }, TensorSpec{{3}, tw::float32});
  const Tensor v = ir.variable(tw::values({1, 2}), {2}, tw::float32, "v");
  return graph.constants().size() == 1 && std::ranges::equal(ir.tables.constants[0].values.values(), std::array{1.0, 2.0, 3.0}) &&
         v == ir.main_graph().variables()[0];
}
static_assert(variables_live_in_the_main_graph_and_constants_anywhere());

TW_SAME(failure([](Ir& ir) {
          ir.create_graph([](Tensor x) { return x.ir().variable(tw::zeros(), {}, tw::float32, "v"); }, TensorSpec{});
        }),
        "variable: 'v' in graph graph_subgraph(0): variables live in the main graph only, in graph");
TW_SAME(failure([](Ir& ir) { ir.variable(tw::values({1, 2}), {3}, tw::float32, "v"); }),
        "variable: 2 values for 'v' of shape (3,): 3 expected");
TW_SAME(failure([](Ir& ir) { ir.constant({1, 2}, {3}); }), "constant: 2 values for shape (3,): 3 expected");

// ---- outputs and axes
constexpr bool graph_output_marks_outputs_in_order() {
  Ir ir;
  const Graph graph = ir.create_empty_graph("mine");
  const tw::GraphScope scope(graph);
  const Tensor x = tw::graph_input(ir, {2}), y = tw::graph_input(ir, {3}, tw::int32, "y");
  tw::graph_output(y);
  tw::graph_output(x);
  return graph.outputs() == std::vector{y, x} && graph.inputs() == std::vector{x, y} && y.name() == "y";
}
static_assert(graph_output_marks_outputs_in_order());

constexpr bool tensors_know_their_shape() {
  Ir ir;
  const Tensor x = ir.variable(tw::zeros(), {2, 3, 5}, tw::float16, "x");
  return x.shape(0) == 2 && x.shape(-1) == 5 && x.rank() == 3 && x.nelms() == 30 && x.dtype() == tw::float16 &&
         to_text(x) == "Tensor[x float16 (2, 3, 5)]";
}
static_assert(tensors_know_their_shape());
TW_SAME(failure([](Ir& ir) { ir.constant(1.0).shape(0); }), "shape: axis 0 of (): an axis from 0 to -1 expected");
TW_SAME(failure([](Ir& ir) {
          const Tensor x = ir.variable(tw::zeros(), {2}, tw::float32, "x");
          ir.create_graph([&](Tensor y) { return x + y; }, x);
        }),
        "Add: input 0, Tensor[x float32 (2,)], of the main graph: a tensor of graph 'graph_subgraph(0)', which is being built, "
        "expected, in graph");
