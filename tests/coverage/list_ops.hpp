#pragma once
// Lists the ops of a program that is traced at run time: a line for each, with tabs between its facts.
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "tilewright/tilewright.hpp"

namespace coverage {

namespace tw = tilewright;

inline bool is_view(const tw::GraphRecord& graph, const tw::TensorRecord& tensor) {
  return tensor.producer != tw::NodeId::none && graph.nodes[tensor.producer].op->view;
}

inline void add_with_callees(const tw::Ir& ir, tw::GraphId graph, std::set<tw::GraphId>& graphs) {
  if (graph == tw::GraphId::none || !graphs.insert(graph).second) return;
  for (const tw::Node& node : ir.tables.record(graph).nodes)
    for (const tw::GraphId callee : {node.called_graph, node.else_graph}) add_with_callees(ir, callee, graphs);
}
/// Of these graphs, those that second derivatives differentiate twice. run/cases/second.hpp names its cases `second_...`; the
/// graph of a case calls the graph of the op and its gradient graph.
inline std::set<tw::GraphId> twice_differentiated_graphs(const tw::Ir& ir) {
  const tw::GraphRecord& main = ir.tables.record(tw::GraphId::main);
  std::set<tw::GraphId> graphs;
  for (const tw::Node& node : main.nodes) {
    if (node.called_graph == tw::GraphId::none || node.inputs.size() == 0) continue;
    if (!main.tensors[node.inputs[0]].name.view().starts_with("second_")) continue;
    for (const tw::Node& call : ir.tables.record(node.called_graph).nodes)
      if (call.called_graph != tw::GraphId::none &&
          ir.tables.record(call.called_graph).name.view().find("_bwd") == std::string_view::npos)
        graphs.insert(call.called_graph);
  }
  return graphs;
}
/// The graphs of cases that are differentiated in forward mode: the program calls their forward graphs, by whose names they are
/// known.
inline std::set<tw::GraphId> forward_differentiated_graphs(const tw::Ir& ir) {
  std::set<std::string> names;
  for (const tw::Node& node : ir.tables.record(tw::GraphId::main).nodes)
    if (node.called_graph != tw::GraphId::none)
      if (const auto name = ir.tables.record(node.called_graph).name.string(); name.ends_with("_jvp"))
        names.insert(name.substr(0, name.size() - 4));
  std::set<tw::GraphId> graphs;
  for (int id = 0; const tw::GraphRecord& graph : ir.tables.graphs)
    if (const auto number = tw::GraphId(id++); names.contains(graph.name.string())) graphs.insert(number);
  return graphs;
}
/// The graphs whose gradients are results of the program. op_case.hpp calls the graph of a case with variables `case.x0`, ... and
/// stores gradients in streams `case.dx0`, ...
inline std::set<tw::GraphId> differentiated_graphs(const tw::Ir& ir) {
  const auto case_of = [](std::string_view name) { return std::string(name.substr(0, name.rfind('.'))); };
  std::set<std::string> cases;
  for (const tw::StreamRecord& stream : ir.tables.streams)
    if (stream.name.view().find(".dx") != std::string_view::npos) cases.insert(case_of(stream.name.view()));
  const tw::GraphRecord& main = ir.tables.record(tw::GraphId::main);
  std::set<tw::GraphId> graphs;
  for (const tw::Node& node : main.nodes)
    for (const tw::TensorId input : node.inputs)
      if (const std::string_view name = main.tensors[input].name.view();
          name.find(".x") != std::string_view::npos && cases.contains(case_of(name)))
        add_with_callees(ir, node.called_graph, graphs);
  return graphs;
}

/// Prints for each op: target, check, op, `once` or `twice` if its graph is differentiated, and `forward`, dtypes, shapes, and
/// whether an operand is a view. `check` is the function of op_checks.hpp that runs the program.
inline void list_ops(std::string_view target, std::string_view check, void (*build)(tw::Ir&)) {
  tw::Ir ir;
  build(ir);
  std::set<std::string> lines;  // equal ops of a program are one line
  const auto differentiated = differentiated_graphs(ir), twice = twice_differentiated_graphs(ir),
             forward = forward_differentiated_graphs(ir);
  for (int id = 0; const tw::GraphRecord& graph : ir.tables.graphs) {
    const auto number = tw::GraphId(id++);
    const std::string derivatives = std::string(twice.contains(number)            ? "twice"
                                                : differentiated.contains(number) ? "once"
                                                                                  : "") +
                                    (forward.contains(number) ? " forward" : "");
    for (const tw::Node& node : graph.nodes) {
      std::string line = std::string(target) + '\t' + std::string(check) + '\t' + std::string(node.op->name) + '\t' +
                         derivatives + '\t';
      std::set<std::string> dtypes, shapes;
      bool view = false;
      for (const auto* operands : {&node.inputs, &node.outputs})
        for (const tw::TensorId id : *operands) {
          const tw::TensorRecord& tensor = graph.tensors[id];
          dtypes.insert(std::string(to_text(tensor.spec.dtype)));
          shapes.insert(std::string(to_text(tensor.spec.shape).view()));
          view |= operands == &node.inputs && is_view(graph, tensor);
        }
      for (const auto* set : {&dtypes, &shapes}) {
        for (const std::string& each : *set) line += each + ';';
        line += '\t';
      }
      lines.insert(line + (view ? "view" : ""));
    }
  }
  for (const std::string& line : lines) std::cout << line << '\n';
}

}  // namespace coverage
