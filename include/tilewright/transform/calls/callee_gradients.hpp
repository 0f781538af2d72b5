#pragma once
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/transform/calls/called_gradients.hpp"
#include "tilewright/transform/gradient_rules.hpp"
#include "tilewright/transform/recompute_graph.hpp"

namespace tilewright::detail {

constexpr GradientRecord differentiate(Ir& ir, GraphId forward, const AutodiffOptions& options);

/// Returns whether a graph has far more activations than it and the graphs below have ops, because calls nest: each call of a
/// graph adds the activations of the calls in it. In a tower of graphs that call the one below twice, each floor doubles them.
constexpr bool has_nested_activations(const Ir& ir, GraphId graph) {
  const int activations = ir.tables.record(graph).activations;
  int ops = 0;
  return activations > 1024 && !any_node(ir, graph, [&](const Node&) { return 32 * ++ops > activations; });
}

/// Returns a gradient graph for callers, which computes the graph again if it has nested activations.
constexpr GradientRecord gradient_for_callers(Ir& ir, GraphId graph, const AutodiffOptions& options) {
  GradientRecord gradient = differentiate(ir, graph, options);
  gradient.is_default = !has_build_grad(ir, graph, options.method);
  if (ir.failed() || !has_nested_activations(ir, graph) || has_side_effects(ir, graph)) return gradient;
  const GradGraphInfo info(ir, graph, std::move(gradient));
  gradient = recompute_graph({info.graph(), {}, info}).grad_graph_info().record();
  gradient.is_default = info.record().is_default;
  return gradient;
}

/// Sets the gradient graph of a graph for callers.
constexpr void set_gradient(Ir& ir, GraphId graph, const GradientRecord& gradient) {
  ir.tables.record(graph).gradient = gradient;
  ir.tables.record(graph).further_gradients = {};  // they take the place of another one
}

/// Builds one gradient graph for every called graph. Runs first, because it adds outputs to the calls.
constexpr void differentiate_callees(Ir& ir, GraphId forward) {
  const auto nodes = [&]() -> const List<Node, NodeId>& { return ir.tables.record(forward).nodes; };
  for (std::size_t i = 0; i < nodes().size(); ++i) {
    const Node& node = nodes()[NodeId(i)];
    const bool refuses = node.op->modifies >= 0 && node.op->differentiation == Differentiation::refuses;
    if (!node.modified.empty() || refuses) {
      ir.fail(text("autodiff of ", ir.tables.record(forward).name, ": ", node.op->name, ".", node.id,
                   " changes its input in place: ops that do not expected"));
      return;
    }
    if (node.called_graph == GraphId::none) continue;
    for_each_callee(node, [&](GraphId callee, int) {
      if (ir.failed() || ir.tables.record(callee).gradient.graph != GraphId::none) return;
      auto gradient = gradient_for_callers(ir, callee, options_of(ir, callee));
      if (!ir.failed()) ir.tables.record(callee).gradient = std::move(gradient);
    });
    if (ir.failed()) return;
    if (const Node loop = nodes()[NodeId(i)]; is_loop(loop))
      keep_iterations(ir, loop, ir.tables.record(loop.called_graph).gradient);
  }
}

/// Builds further gradient graphs for calls whose activations gradients reach, because ops of the forward graph read them, such
/// as a call of the called graph's gradient graph.
class FurtherGradients {
 public:
  constexpr FurtherGradients(Ir& ir, GraphId forward) : ir_(ir), forward_(forward) {}

  /// `needed`: tensors that depend on a required one. Returns whether it built a graph; then calls may have more outputs.
  constexpr bool run(const List<TensorId>& provided, const List<bool, TensorId>& needed, const List<int, TensorId>& uses) {
    bool reads_activations = false;
    for (const Node& node : record().nodes) {
      if (node.called_graph == GraphId::none || node.else_graph != GraphId::none) continue;
      const auto activations = static_cast<std::size_t>(ir_.tables.record(node.called_graph).activations);
      for (std::size_t o = node.outputs.size() - activations; o < node.outputs.size() && !reads_activations; ++o)
        reads_activations = uses[node.outputs[o]] > 0 || has_item(provided, node.outputs[o]);
    }
    if (!reads_activations) return false;
    reached_.assign(needed.size(), false);
    for (const TensorId tensor : provided) reached_[tensor] = true;
    for (auto n = record().nodes.size(); n-- > 0 && !ir_.failed();) visit(NodeId(n), needed);
    return true;
  }

 private:
  constexpr const GraphRecord& record() const { return ir_.tables.record(forward_); }

  constexpr void visit(NodeId number, const List<bool, TensorId>& needed) {
    const Node node = record().nodes[number];
    if (node.op->differentiation == Differentiation::stops) return;
    bool is_reached = false, is_needed = false;
    for (const TensorId output : node.outputs) is_reached = is_reached || has_reached(output);
    for (const TensorId input : node.inputs) is_needed = is_needed || needed[input];
    if (!is_reached || !is_needed) return;
    for (const TensorId input : node.inputs) reached_[input] = reached_[input] || needed[input];
    if (node.called_graph != GraphId::none && node.else_graph == GraphId::none) add_gradient(node);
  }
  /// Outputs that calls got meanwhile are not reached.
  constexpr bool has_reached(TensorId tensor) const {
    return static_cast<std::size_t>(tensor) < reached_.size() && reached_[tensor];
  }

  constexpr void add_gradient(const Node& call) {
    const GraphId graph = call.called_graph;
    const auto called = [&]() -> GraphRecord& { return ir_.tables.record(graph); };
    const int carried = is_loop(call) ? static_cast<int>(unpack<LoopAttributes>(call.attributes).carried) : 0;
    const auto outputs = further_outputs(
        called(), [&](int o) { return o < carried || has_reached(call.outputs[static_cast<std::size_t>(o)]); });
    if (outputs.empty()) return;
    if (is_loop(call) && !called().gradient.is_default) {
      ir_.fail(text("autodiff of ", record().name, ": ", call.op->name, ".", call.id, " needs the gradient of a gradient of ",
                    called().name,
                    " that is not made from its ops: GradientMethod::autodiff, or calls in place of the loop, expected"));
      return;
    }
    if (!find_further_gradient(called(), outputs)) {
      AutodiffOptions options = options_of(ir_, graph);
      options.method = GradientMethod::autodiff;
      options.skips_unreached = true;
      options.grads_provided.emplace();
      for (int output : outputs)
        options.grads_provided->push_back({ir_, graph, called().outputs[static_cast<std::size_t>(output)]});
      if (!called().gradient.is_default) {
        options.grads_required.emplace();
        for (const TensorId tensor : called().gradient.outputs) options.grads_required->push_back({ir_, graph, tensor});
      }
      GradientRecord gradient = gradient_for_callers(ir_, graph, options);
      if (ir_.failed()) return;
      called().further_gradients.push_back({outputs, std::move(gradient)});
    }
    if (is_loop(call)) keep_iterations(ir_, call, find_further_gradient(called(), outputs)->record);
  }

  Ir& ir_;
  GraphId forward_;
  List<bool, TensorId> reached_{};  // by tensor of the forward graph: a gradient reaches it
};

}  // namespace tilewright::detail
