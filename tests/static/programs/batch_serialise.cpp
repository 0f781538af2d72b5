// labels: none
// Graphs that batch_serialise, repeat_graph and route_tensor_into_graph make, and what they refuse.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/transform/batch_serialise_gradients.hpp"
#include "tilewright/transform/repeat_graph.hpp"
#include "tilewright/transform/route_tensor.hpp"

namespace {

namespace tw = tilewright;

using support::Facts, support::failure, support::load, support::plan_of, support::store, support::variable;
using tw::Graph, tw::Ir, tw::RemoteBuffer, tw::Tensor;
namespace ops = tw::ops;

/// y = x w, and a loss-like sum.
struct Layer : tw::Module<Layer> {
  constexpr Tensor build(Tensor x) { return x.matmul(add_variable_input("weight", tw::ones(), {x.shape(-1), x.shape(-1)})); }
};

constexpr tw::TensorSpec spec{{2, 3}, tw::float32};

// ---- batch_serialise

/// The ops of a graph, by name, in order.
constexpr tw::Text op_names(const Ir& ir, tw::GraphId graph) {
  tw::Text result;
  for (const tw::Node& node : ir.tables.record(graph).nodes) result += tw::text(result.empty() ? "" : " ", node.op->name);
  return result;
}

constexpr tw::Text serialised(tw::IoMode mode) {
  Ir ir;
  const auto [factories, layer] = tw::create_graph(ir, Layer{}, spec);
  const RemoteBuffer results = ir.remote_buffer({2, 3});
  const auto serial = tw::batch_serialise(layer, 4,
                                          {.load_handles = {{layer.graph().input(0), ir.h2d_stream("x", {2, 3})}},
                                           .store_buffers = {{layer.graph().output(0), {results}}},
                                           .rows = 3,
                                           .io_mode = mode});
  const Graph graph = serial.graph.graph();
  Facts facts;
  facts.check(results.entries() == 12, "rows * steps entries");
  facts.check(graph.inputs().size() == 2 && graph.outputs().empty(), "index and weight in, nothing out");
  facts.check(serial.graph.args().contains("weight") && serial.graph.args()["weight"] == graph.input(1), "names");
  facts.check(serial.remap_tensors(layer.args())["weight"] == graph.input(1), "remap_tensors");
  facts.check(serial.stored_buffers.size() == 1 && serial.stored_buffers[0].first == layer.graph().output(0), "stored_buffers");
  const tw::Text wrong = facts;
  return text(wrong, op_names(ir, graph.id()), "; ", op_names(ir, graph.called_graphs().back().id()));
}
TW_SAME(serialised(tw::IoMode::compute), "Mul Loop; Add HostLoad Call RemoteStore Add");
TW_SAME(serialised(tw::IoMode::io), "Mul Loop; Add IoTileCopy HostLoad IoTileCopy Call IoTileCopy RemoteStore Add");
TW_SAME(serialised(tw::IoMode::io_overlapped),
        "Mul Add IoTileCopy HostLoad Add IoTileCopy Add IoTileCopy HostLoad Add Call IoTileCopy IoTileCopy Loop Sub Add "
        "IoTileCopy Sub Add IoTileCopy RemoteStore Call IoTileCopy RemoteStore; Add IoTileCopy Sub Add IoTileCopy HostLoad "
        "RemoteStore Add Call IoTileCopy IoTileCopy",
        "a step's load and the store of the step before stand in one exchange, in front of the call");

// ---- batch_serialise_fwd_and_grad

constexpr tw::Text activations() {
  Ir ir;
  const auto [factories, layer] = tw::create_graph(ir, Layer{}, spec);
  const tw::GraphWithNamedArgs gradient = tw::autodiff(layer);
  const Tensor x = layer.graph().input(0);
  const int buffers_of_user = 1;
  const RemoteBuffer gradients = ir.remote_buffer({2, 3});
  const auto serial = tw::batch_serialise_fwd_and_grad(
      layer, gradient, layer.args(), 4,
      {.load_handles = {{x, ir.h2d_stream("x", {2, 3})}, {gradient.graph().input(0), gradients}}, .rows = 2});
  Facts facts;
  facts.check(serial.forward.graph.args().contains("weight") && serial.gradient.graph.args().contains("weight"),
              "the weight is an input of both");
  facts.check(serial.gradient.graph.graph().inputs().size() == 2, "all else is loaded");
  facts.check(ir.tables.remote_buffers.size() == buffers_of_user + 1, "x, which a stream gives once, is kept in a buffer");
  facts.check(serial.forward.stored_buffers.size() == 1 && serial.forward.stored_buffers[0].first == x, "it is x");
  facts.check(serial.forward.stored_buffers[0].second.buffer.entries() == 8, "rows * steps entries");
  return facts;
}
TW_SAME(activations(), "");

constexpr tw::Text reloaded() {
  Ir ir;
  const auto [factories, layer] = tw::create_graph(ir, Layer{}, spec);
  const tw::GraphWithNamedArgs gradient = tw::autodiff(layer);
  const auto serial = tw::batch_serialise_fwd_and_grad(layer, gradient, layer.args(), 4,
                                                       {.load_handles = {{layer.graph().input(0), ir.remote_buffer({2, 3})},
                                                                         {gradient.graph().input(0), ir.remote_buffer({2, 3})}}});
  return Facts().check(ir.tables.remote_buffers.size() == 2 && serial.forward.stored_buffers.empty(),
                       "rows are loaded again, and nothing is kept");
}
TW_SAME(reloaded(), "");

// ---- batch_serial_buffer

constexpr tw::Text buffers() {
  Ir ir;
  ir.set_replication_factor(4);
  const Tensor x = variable(ir, "x", {8, 3});
  const RemoteBuffer whole = tw::batch_serial_buffer(x, 5, 3), shards = tw::batch_serial_buffer(x, 5, 1, ir.replica_grouping());
  Facts facts;
  facts.check(whole.entries() == 15 && whole.spec() == x.spec(), "whole tensors");
  facts.check(shards.entries() == 5 && shards.tensor_shape() == tw::Shape{6} && shards.meta_shape() == x.shape(), "shards");
  return facts;
}
TW_SAME(buffers(), "");

constexpr auto sharded_rows = [](Ir& ir) {
  ir.set_replication_factor(4);
  const auto [factories, layer] = tw::create_graph(ir, Layer{}, tw::TensorSpec{{4, 2}, tw::float32});
  const tw::ReplicaGrouping all = ir.replica_grouping();
  const Tensor in = layer.graph().input(0), out = layer.graph().output(0);
  const RemoteBuffer loaded = tw::batch_serial_buffer(in, 3, 1, all), stored = tw::batch_serial_buffer(out, 3, 1, all);
  const auto serial = tw::batch_serialise(
      layer, 3,
      {.load_handles = {{in, {loaded, 0, all}}}, .store_buffers = {{out, {stored, 0, all}}}, .io_mode = tw::IoMode::compute});
  serial.graph.bind(factories.init()).call(ir.constant(0, tw::uint32));
};
TW_SAME(failure(sharded_rows), "");
static_assert(plan_of(sharded_rows).remote.loaded_bytes == 3 * 2 * 4, "a load moves a shard of 2 elements in each step");

// ---- repeat_graph

constexpr auto repeated_program = [](Ir& ir) {
  const auto ordered = tw::in_sequence(ir);
  const Tensor total = variable(ir, "total", {2});
  const Tensor x = load(ir, "x", {2});
  ops::add_(total, x * 2);
  {
    const auto exchange = tw::merge_exchange(ir);
    store("y", total);
    store("z", x);
  }
  tw::repeat_graph(ir.main_graph(), 3);
};
constexpr tw::Text repeats() {
  Ir ir;
  repeated_program(ir);
  const Graph main = ir.main_graph(), body = main.called_graphs()[0];
  Facts facts;
  facts.check(op_names(ir, main.id()) == "Loop", "a loop is all that is left");
  facts.check(op_names(ir, body.id()) == "HostLoad Mul AddInplace HostStore HostStore", "the ops are in the body");
  facts.check(ir.tables.record(body.id()).by_reference.size() == 1, "the variable is passed by reference");
  facts.check(support::sequence_of(ir, body.id()).size() == 4, "the order is kept");
  facts.check(ir.tables.merged_exchanges.size() == 1 && ir.tables.merged_exchanges[0].graph == body.id(), "so is the exchange");
  facts.check(tw::repeat_graph(body, 1) == body, "one time is no change");
  return facts;
}
TW_SAME(repeats(), "");
static_assert(plan_of(repeated_program).streams[0].transfers == 3);

constexpr tw::Text repeated_call() {
  Ir ir;
  const Graph graph = ir.create_graph([](Tensor x, Tensor y) { return x + y; }, spec, spec);
  const Tensor y = tw::call(graph, {load(ir, "x", {2, 3}), load(ir, "y", {2, 3})});
  tw::repeat_graph(graph, 5);
  const tw::Node& loop = ir.tables.record(graph.id()).nodes[tw::NodeId(0)];
  const auto attributes = tw::unpack<tw::LoopAttributes>(loop.attributes);
  return Facts().check(attributes.count == 5 && attributes.carried == 1 && y.valid() && graph.output(0).valid(),
                       "the output replaces the first input");
}
TW_SAME(repeated_call(), "");

// ---- routes

constexpr tw::Text routes() {
  Ir ir;
  const Tensor x = load(ir, "x", {2}), other = load(ir, "other", {2}), condition = load(ir, "condition", {}, tw::boolean);
  const Graph inner = ir.create_graph([](Tensor t) { return t + 1; }, x);
  const Graph outer = ir.create_graph([&](Tensor t) { return tw::repeat(inner, 2, t)[0]; }, x);
  const Graph unused = ir.create_graph([](Tensor t) { return t; }, x);
  tw::conditional(condition, {outer, {x}}, {inner, {other}});
  tw::conditional(condition, {inner, {x}}, {inner, {other}});
  tw::call(outer, x);
  const Tensor total = variable(ir, "total", {2});
  Facts facts;
  facts.check(tw::is_subgraph(ir.main_graph(), inner) && tw::is_subgraph(outer, inner), "subgraphs");
  facts.check(!tw::is_subgraph(inner, outer) && !tw::is_subgraph(inner, inner) && !tw::is_subgraph(ir.main_graph(), unused),
              "no subgraphs");
  facts.check(tw::route_tensor_into_graph(x, ir.main_graph()) == x, "a tensor is where it is");
  const Tensor inside = tw::route_tensor_into_graph(total, inner, true);
  facts.check(inside == inner.input(1) && outer.inputs().size() == 2, "an input on each path");
  facts.check(tw::route_tensor_into_graph(total, inner) == inside, "one input for one tensor");
  facts.check(tw::route_tensor_into_graph(other, inner) == inner.input(2), "another one for another");
  facts.check(tw::route_tensor_into_graph(x, outer) == outer.input(0), "an input that all calls fill with it");
  {
    const tw::GraphScope scope(inner);
    ops::add_(inside, inner.input(0) * 2);
  }
  for (const tw::Node& node : ir.tables.record(tw::GraphId::main).nodes)
    if (tw::detail::is_plain_call(node)) facts.check(node.modified.size() == 1 && node.modified[0] == 1, "the call");
    else if (node.else_graph != tw::GraphId::none)
      facts.check(node.inputs.size() == 7 && tw::unpack<tw::ConditionalAttributes>(node.attributes).then_inputs == 3 &&
                      node.modified.size() == 2,
                  "the conditionals");
  facts.check(ir.tables.record(outer.id()).nodes[tw::NodeId(0)].modified.size() == 1, "the loop");
  return facts;
}
TW_SAME(routes(), "");

}  // namespace
