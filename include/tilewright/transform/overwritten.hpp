#pragma once
#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/program/call.hpp"

namespace tilewright::detail {

/// Values of a graph's tensors that in-place ops overwrite, for its gradient graph.
struct Overwritten {
  List<NodeId, TensorId> by{};  ///< by tensor: the node that overwrites its value; none: the value remains
};

/// Follows the in-place ops of a graph. Fails if a tensor is read, or is a result, after an in-place op has changed it through
/// another handle, because its gradient would bypass that op.
constexpr Overwritten find_overwritten(Ir& ir, GraphId graph) {
  const GraphRecord& record = ir.tables.record(graph);
  const std::size_t count = record.tensors.size();
  List<TensorId, TensorId> whole;  // by tensor: the tensor that it is an alias of
  List<NodeId, TensorId> writer, last;  // by tensor: the op in place that made its value; and by whole tensor: the last of them
  whole.resize(count);
  writer.assign(count, NodeId::none);
  last.assign(count, NodeId::none);
  for (std::size_t t = 0; t < count; ++t) whole[TensorId(t)] = TensorId(t);
  const auto is_current = [&](TensorId t) { return writer[t] == last[whole[t]]; };
  const auto described = [&](TensorId t) { return to_text(Tensor(ir, graph, t)); };
  const auto name_of = [&](NodeId n) { return text(record.nodes[n].op->name, ".", record.nodes[n].id); };
  const auto fail = [&](const auto& reader, TensorId t) {
    ir.fail(text("autodiff of ", record.name, ": ", reader, " ", described(t), " after ", name_of(last[whole[t]]),
                 " has changed it: the tensor that this op gave expected"));
  };
  for (std::size_t i = 0; i < record.nodes.size(); ++i) {
    const Node& node = record.nodes[NodeId(i)];
    for (const TensorId input : node.inputs)
      if (!is_current(input)) return fail(text(name_of(NodeId(i)), " reads"), input), Overwritten{};
    for (const TensorId output : node.outputs) {
      const TensorId input = aliased_input(node, output);
      if (input == TensorId::none) continue;
      whole[output] = whole[input];
      writer[output] = writer[input];
      if (node.op->modifies >= 0) writer[output] = last[whole[input]] = NodeId(i);
    }
  }
  Overwritten result;
  result.by.assign(count, NodeId::none);
  for (std::size_t t = 0; t < count; ++t)
    if (!is_current(TensorId(t))) result.by[TensorId(t)] = last[whole[TensorId(t)]];
  for (const TensorId output : record.outputs)
    if (!is_current(output)) return fail("a result is", output), Overwritten{};
  // an input by value is a copy, and the caller keeps the value
  for (std::size_t i = 0; i < record.inputs.size(); ++i)
    if (!has_item(record.by_reference, static_cast<int>(i))) result.by[record.inputs[i]] = NodeId::none;
  return result;
}

}  // namespace tilewright::detail
