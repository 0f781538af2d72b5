#pragma once
// takes: a graph, LiveCode, the bodies of called graphs, the body of each graph (-1: dead or inlined), partitions of products
// gives: a draft: storages, and operations in a valid order of execution; no groups
// keeps: the graph; the plan, except the use of its streams
#include <span>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/op_order.hpp"
#include "tilewright/lower/memory/planned_program.hpp"
#include "tilewright/lower/products/convolution_blocks.hpp"
#include "tilewright/lower/steps/calls.hpp"
#include "tilewright/lower/steps/roots.hpp"
#include "tilewright/lower/steps/transfers.hpp"

namespace tilewright::internal {

namespace detail {

/// Walks through the live ops of a graph, and of graphs that are inlined in it, in the order of execution.
class Flattener {
 public:
  constexpr Flattener(const Ir& ir, const LiveCode& live, const List<BodyId, GraphId>& body_of, Plan& plan, GraphId graph,
                      ExecutionContext context, const Target& target, ProductPartitions* partitions)
      : ir_(ir),
        live_(live),
        plan_(plan),
        graph_(graph),
        context_(context),
        target_(target),
        partitions_(partitions),
        copier_(ir, live, plan, draft_, graph),
        transfers_(copier_, body_of, plan, draft_, graph == GraphId::main, target.io_tiles > 0),
        calls_(ir, live, body_of, plan, copier_, draft_) {}

  constexpr BodyDraft run() {
    GraphValues graph(ir_, graph_);
    const auto& inputs = graph.record.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      graph.value_of(inputs[i]) = draft_.placed(draft_.add_value(graph.spec(inputs[i]), {Base::argument, static_cast<int>(i)}),
                                                graph.placement(inputs[i]));
    flatten_nodes(graph);
    const auto& outputs = graph.record.outputs;
    for (std::size_t o = 0; graph_ != GraphId::main && o < outputs.size(); ++o)
      if (live_.outputs[graph_][o])
        copier_.give(copier_.value(graph, outputs[o]), {Base::argument, static_cast<int>(inputs.size() + o)});
    if (graph_ == GraphId::main)
      for (const KeptTensor& each : plan_.kept)
        if (each.made_in == context_) copier_.give(copier_.value(graph, each.tensor), {Base::variable, 0, each.offset});
    return std::move(draft_);
  }

 private:
  constexpr void flatten_nodes(GraphValues& graph) {
    const List<bool, NodeId>& lives = live_.nodes[graph.graph];
    for_each_op(ir_, graph.graph, [&](Span<const NodeId> nodes) {
      if (nodes.size() > 1) flatten_exchange(graph, nodes, lives);
      else if (lives[nodes[0]] && is_in_body(graph, nodes[0])) flatten_node(graph, nodes[0]);
    });
  }
  /// Returns whether a node is part of the body. A body of the main graph has the nodes of one execution context.
  constexpr bool is_in_body(const GraphValues& graph, NodeId n) const {
    return !ir_.tables.has_contexts || graph.graph != GraphId::main || graph.record.nodes[n].context == context_;
  }
  constexpr void flatten_exchange(GraphValues& graph, Span<const NodeId> nodes, const List<bool, NodeId>& lives) {
    List<NodeId> live_nodes;
    for (const NodeId n : nodes)
      if (lives[n] && is_in_body(graph, n)) live_nodes.push_back(n);
    if (!live_nodes.empty()) set_placement(graph.record.nodes[live_nodes[0]]);
    transfers_.add_exchange(graph, live_nodes);
  }
  constexpr void flatten_node(GraphValues& graph, NodeId n) {
    flatten(graph, graph.record.nodes[n]);
    if (graph.copied_views.empty() || !graph.copied_views[n]) return;
    Value& view = graph.value_of(graph.record.nodes[n].outputs[0]);
    view = copier_.copied(view);
  }
  constexpr void set_placement(const Node& node) {
    if (node.placement.is_known()) draft_.placement = node.placement;
  }
  constexpr void flatten(GraphValues& graph, const Node& node) {
    set_placement(node);
    if (node.op->transfer) return transfers_.add(graph, node);
    if (node.called_graph != GraphId::none) return flatten_call(graph, node);
    const bool may_expand = partitions_ != nullptr &&
                            (node.op->work_kind == WorkKind::convolution || may_expand_on_tiles(*node.op));
    if ((node.op->expand || may_expand) && flatten_parts(graph, node)) return;
    if (node.op->modifies >= 0) copier_.make_writable(graph, node.inputs[node.op->modifies]);
    if (node.op->is_copy) return flatten_copy(graph, node);
    if (node.op->gives_memory) return give_memory(graph, node);
    if (node.op->is_alias && !node.op->any_layout) copier_.make_dense(graph, node.inputs[0]);
    if (node.op->view) return flatten_view(graph, node);
    flatten_op(graph, node);
  }
  constexpr void flatten_call(GraphValues& graph, const Node& node) {
    if (!live_.is_inlined(node.called_graph)) return calls_.add(graph, node);
    calls_.inline_graph(graph, node, [this](GraphValues& inlined) { flatten_nodes(inlined); });
  }
  constexpr Value operand(GraphValues& graph, const Node& node, std::size_t input) {
    const Value& value = copier_.value(graph, node.inputs[input]);
    return node.op->any_layout ? value : copier_.dense(value);
  }
  constexpr void flatten_view(GraphValues& graph, const Node& node) {
    const auto [storage, layout, from] = operand(graph, node, 0);
    const TensorSpec& to = graph.spec(node.outputs[0]);
    graph.value_of(node.outputs[0]) = {storage, node.op->view(from.shape, layout, to.shape, node.attributes), to};
  }
  constexpr void flatten_copy(GraphValues& graph, const Node& node) {
    const Value target = copier_.value(graph, node.inputs[0]);
    Value source = copier_.value(graph, node.inputs[1]);
    if (source.storage == target.storage && source.layout != target.layout) source = copier_.copied(source);
    copier_.copy(source, target);
    graph.value_of(node.outputs[0]) = target;
  }
  constexpr void give_memory(GraphValues& graph, const Node& node) {
    const Value given = graph.value_of(node.outputs[0]) = draft_.add_value(graph.spec(node.outputs[0]));
    draft_.storage(given.storage).begins_undefined = true;
  }
  constexpr void flatten_op(GraphValues& graph, const Node& node) {
    const OpInfo& op = *node.op;
    Operation operation{&op, node.attributes, static_cast<int>(node.inputs.size())};
    operation.graph = graph.graph;
    operation.scope = node.scope;
    operation.alone = op.has_side_effect || op.collective_items || op.result_placement;
    operation.operands.reserve(node.inputs.size() + node.outputs.size());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) operation.operands.push_back(operand(graph, node, i));
    if (op.takes_positions) {
      const int input = ipu_rules_of(op).positions_of;
      const TensorId of = input < 0 ? node.outputs[0] : node.inputs[input];
      operation.operands.push_back(draft_.add_value({graph.spec(of).shape, uint8}, {Base::position}));
      ++operation.input_count;
    }
    if (op.modifies >= 0) copier_.read_before_write(operation);
    for (const TensorId output : node.outputs) {
      Value& result = graph.value_of(output);
      if (op.modifies >= 0 && output == node.outputs[0]) result = operation.operands[op.modifies];
      else result = draft_.add_value(graph.spec(output));
      operation.operands.push_back(result);
    }
    draft_.add(std::move(operation));
    if (op.modifies >= 0) copier_.write_back(graph, node);
  }
  /// Adds the parts of an op that expands. Returns whether it does.
  constexpr bool flatten_parts(GraphValues& graph, const Node& node) {
    List<TensorSpec> operands;
    for (const auto* tensors : {&node.inputs, &node.outputs})
      for (const TensorId tensor : *tensors) operands.push_back(graph.spec(tensor));
    const auto parts = parts_of(node, operands);
    List<TensorId> tensors = node.inputs;
    const bool was_in_blocks = is_in_blocks_;
    if (!node.op->expand) is_in_blocks_ = true;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Node part{.op = parts[p].op, .attributes = parts[p].attributes, .scope = node.scope};
      for (int input : parts[p].inputs) part.inputs.push_back(tensors[input]);
      if (p + 1 == parts.size()) part.outputs = node.outputs;
      else
        for (const TensorSpec& spec : parts[p].outputs) part.outputs.push_back(graph.add(spec));
      for (const TensorId output : part.outputs) tensors.push_back(output);
      flatten(graph, part);
    }
    is_in_blocks_ = was_in_blocks;
    return !parts.empty();
  }
  constexpr List<OpPart> parts_of(const Node& node, const List<TensorSpec>& specs) {
    const std::span<const TensorSpec> operands(specs.data(), specs.size());
    if (node.op->expand) return node.op->expand(operands, static_cast<int>(node.inputs.size()), node.attributes);
    if (is_in_blocks_) return {};
    if (const TileRule expand = ipu_rules_of(*node.op).expand)
      return expand(operands, static_cast<int>(node.inputs.size()), node.attributes, target_);
    if (node.op->work_kind != WorkKind::convolution) return {};
    return ConvolutionBlocks(target_, *partitions_).find(*node.op, operands, node.attributes);
  }

  const Ir& ir_;
  const LiveCode& live_;
  const Plan& plan_;
  GraphId graph_;
  ExecutionContext context_;  // of the main graph's nodes that are the body; not read for other graphs
  const Target& target_;
  ProductPartitions* partitions_;  // null: convolutions and gathers stay as they are
  bool is_in_blocks_ = false;  // what is flattened is part of an op over blocks
  BodyDraft draft_{};
  Copier copier_;
  TransferLowerer transfers_;
  CallLowerer calls_;
};

}  // namespace detail

/// Returns the operations of a graph's body. Views become layouts. Ops that expand are replaced by their parts, on a simulated
/// IPU also gathers, and convolutions and poolings of blocks. Graphs that are called only once are inlined; other calls go to
/// planned bodies. A body of the main graph has the ops of one execution context. `partitions`: of a simulated IPU, otherwise
/// null.
constexpr BodyDraft flatten(Planning& planning, BodyId body, ProductPartitions* partitions) {
  return detail::Flattener(planning.ir, planning.live, planning.body_of, planning.plan, planning.bodies[body],
                           context_of(planning.plan, body), planning.target, partitions)
      .run();
}

}  // namespace tilewright::internal
