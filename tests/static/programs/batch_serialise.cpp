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

}  // namespace
