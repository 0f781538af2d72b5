#pragma once
// What handles say of ops, views, maps and streams, which graph/tensor.hpp, graph/ir.hpp and graph/op_created_hook.hpp declare.
#include "tilewright/core/list.hpp"
#include "tilewright/graph/ir.hpp"

namespace tilewright {

namespace detail {
/// Returns the layout of a tensor in the memory at the end of its chain of views. If a view in the chain needs a dense input, its
/// input is dense.
constexpr Layout layout_of(const GraphRecord& record, TensorId tensor) {
  const TensorRecord& known = record.tensors[tensor];
  if (known.producer == NodeId::none) return dense_layout(known.spec.shape);
  const Node& node = record.nodes[known.producer];
  if (node.op->view && node.outputs[0] == tensor) {
    const Shape& input = record.tensors[node.inputs[0]].spec.shape;
    const Layout layout = node.op->any_layout ? layout_of(record, node.inputs[0]) : dense_layout(input);
    return node.op->view(input, layout, known.spec.shape, node.attributes);
  }
  if (const TensorId input = aliased_input(node, tensor); input != TensorId::none) return layout_of(record, input);
  return dense_layout(known.spec.shape);
}
/// Returns the record of a constant, or null for another tensor.
constexpr const ConstantRecord* find_constant(const Tensor& t) {
  const IrTables& tables = t.ir().tables;
  const TensorRecord& record = tables.record(t.graph_id()).tensors[t.number()];
  return record.kind == TensorKind::constant ? &tables.constants[record.payload] : nullptr;
}
/// Returns the node that produces a tensor, or null if none does.
constexpr const Node* find_producer(const Tensor& t) {
  const GraphRecord& graph = t.ir().tables.record(t.graph_id());
  const NodeId producer = graph.tensors[t.number()].producer;
  return producer == NodeId::none ? nullptr : &graph.nodes[producer];
}
/// Names a result `<name><suffix>` if a name is given.
constexpr void name_result(const Tensor& result, std::string_view name, std::string_view suffix = "") {
  if (result.valid() && !name.empty()) result.ir().tables.rename(result, text(name, suffix).view());
}
template <class StreamOf>
constexpr List<StreamOf> used_streams(Ir& ir, StreamDirection direction) {
  List<bool> used(ir.tables.streams.size(), false);
  for (const GraphRecord& graph : ir.tables.graphs)
    for (const Node& node : graph.nodes)
      if (node.op->transfer)
        if (const Transfer transfer = node.op->transfer(node.attributes); transfer.kind == TransferKind::stream)
          used[static_cast<std::size_t>(transfer.number)] = true;
  List<StreamOf> result;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i] && ir.tables.streams[i].direction == direction)
      result.push_back({{&ir, static_cast<int>(i), ir.tables.streams[i].spec}});
  return result;
}
}  // namespace detail

constexpr Text Tensor::id() const {
  if (!valid()) return {};
  const TensorRecord& record = ir_->tables.record(*this);
  Text own = record.name;  // no conditional operators: GCC 12 destroys their temporaries twice in constant expressions
  if (own.empty()) own = text("#", static_cast<int>(id_));
  if (graph_ == GraphId::main) return own;
  return text(scope(), "/", own);
}
constexpr std::string_view Tensor::scope() const { return valid() ? ir_->tables.record(graph_).name.view() : ""; }
constexpr TensorKind Tensor::kind() const { return valid() ? ir_->tables.record(*this).kind : TensorKind::intermediate; }
constexpr List<std::int64_t> Tensor::strides() const {
  List<std::int64_t> result;
  if (!valid()) return result;
  const Layout layout = detail::layout_of(ir_->tables.record(graph_), id_);
  for (int axis = 0; axis < rank(); ++axis) result.push_back(layout.strides[static_cast<std::size_t>(axis)] * size_of(dtype()));
  return result;
}

constexpr TensorMap::TensorMap(std::initializer_list<MapEntry> entries) {
  for (const auto& [key, value, number, is_number] : entries)
    insert(key, is_number
                    ? key.ir().number(text("call of ", key.ir().tables.record(key.graph_id()).name).view(), number, key.dtype())
                    : value);
}
constexpr Tensor TensorMap::operator[](Tensor key) const {
  if (const Tensor* found = find(key)) return *found;
  if (key.ir().failed()) return Tensor::invalid(key.ir());
  if (holds_gradients_)
    return key.ir().fail(text("gradients: none of ", to_text(key),
                              ": a tensor that the forward call reads, and that a gradient reaches, expected"));
  return key.ir().fail(text("TensorMap: ", to_text(key), ": a tensor with an entry in the map expected"));
}

constexpr std::string_view CreatedOp::name() const { return ir_->tables.record(graph_).nodes[node_].op->name; }
constexpr int CreatedOp::id() const { return ir_->tables.record(graph_).nodes[node_].id; }
constexpr ExecutionContext CreatedOp::execution_context() const { return ir_->tables.record(graph_).nodes[node_].context; }
constexpr List<Tensor> CreatedOp::inputs() const {
  List<Tensor> result;
  for (const TensorId tensor : ir_->tables.record(graph_).nodes[node_].inputs) result.push_back({*ir_, graph_, tensor});
  return result;
}
constexpr List<Tensor> CreatedOp::outputs() const {
  List<Tensor> result;
  for (const TensorId tensor : ir_->tables.record(graph_).nodes[node_].outputs) result.push_back({*ir_, graph_, tensor});
  return result;
}

constexpr List<HostToDeviceStream> Ir::get_all_h2d_streams() {
  return detail::used_streams<HostToDeviceStream>(*this, StreamDirection::host_to_device);
}
constexpr List<DeviceToHostStream> Ir::get_all_d2h_streams() {
  return detail::used_streams<DeviceToHostStream>(*this, StreamDirection::device_to_host);
}

}  // namespace tilewright
