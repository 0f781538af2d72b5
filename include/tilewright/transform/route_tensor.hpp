#pragma once
#include <optional>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/program/call.hpp"
#include "tilewright/program/conditional.hpp"

namespace tilewright {

/// Returns whether `parent` calls `subgraph`, directly or through other graphs. No graph is a subgraph of itself.
[[nodiscard]] constexpr bool is_subgraph(Graph parent, Graph subgraph) {
  return &parent.ir() == &subgraph.ir() && parent != subgraph && detail::leads_to(parent.ir(), parent.id(), subgraph.id());
}

namespace detail {
/// Passes a tensor of a graph to the graphs that it calls: each gets an input, and each call the tensor for it.
class TensorRoute {
 public:
  constexpr TensorRoute(Tensor t, Graph destination, bool is_modified)
      : ir_(t.ir()), tensor_(t), destination_(destination), is_modified_(is_modified), routed_(ir_.tables.graphs.size()) {
    routed_[t.graph_id()] = t;
  }
  constexpr Tensor route() { return into(destination_.id()); }

 private:
  /// An argument of a call: the tensor, and the position of the called graph's first input among the inputs of the call.
  struct Site {
    GraphId caller{};
    NodeId node{};
    int first_input = 0;
    TensorId argument{};
  };

  constexpr Tensor fail(const auto&... problem) {
    if (ir_.failed()) return Tensor::invalid(ir_);
    return ir_.fail(text("route_tensor_into_graph: ", to_text(tensor_), " into ", destination_.name(), problem..., " expected"));
  }
  constexpr Tensor into(GraphId graph) {
    if (routed_[graph].valid()) return routed_[graph];
    if (ir_.tables.record(graph).call_sites.empty()) return fail_without_path(graph);
    const auto calls = ir_.tables.record(graph).call_sites;
    for (const auto& [caller, node] : calls) {
      into(caller);
      if (ir_.failed() || !check_order(caller, node, graph)) return Tensor::invalid(ir_);
    }
    List<Site> sites = sites_of(graph);  // now: routes to callers move inputs of conditionals
    int input = find_input(graph, sites);
    if (input < 0) input = add_input(graph, sites);
    if (is_modified_) set_modified(graph, sites, input);
    return routed_[graph] = ir_.graph(graph).input(input);
  }
  constexpr Node& node_of(const Site& site) { return ir_.tables.record(site.caller).nodes[site.node]; }
  /// Returns the calls of a graph; a conditional that calls it for true and for false is two.
  constexpr List<Site> sites_of(GraphId graph) {
    List<Site> sites;
    List<Pair<GraphId, NodeId>> seen;
    for (const auto& site : ir_.tables.record(graph).call_sites) {
      if (has_item(seen, site)) continue;
      seen.push_back(site);
      for_each_callee(ir_.tables.record(site.first).nodes[site.second], [&](GraphId callee, int first_input) {
        if (callee == graph) sites.push_back({site.first, site.second, first_input, routed_[site.first].number()});
      });
    }
    return sites;
  }
  /// Returns the input for which all calls pass their routed tensor, or -1.
  constexpr int find_input(GraphId graph, const List<Site>& sites) {
    const auto count = static_cast<int>(ir_.tables.record(graph).inputs.size());
    for (int input = 0; input < count; ++input) {
      bool is_passed = true;
      for (const Site& site : sites) is_passed = is_passed && passes(node_of(site), site, input);
      if (is_passed) return input;
    }
    return -1;
  }
  static constexpr bool passes(const Node& node, const Site& site, int input) {
    if (is_loop(node))
      if (const auto loop = unpack<LoopAttributes>(node.attributes); input < loop.carried + loop.sliced) return false;
    return node.inputs[site.first_input + input] == site.argument;
  }
  constexpr int add_input(GraphId graph, List<Site>& sites) {
    const TensorRecord known = ir_.tables.record(sites[0].caller).tensors[sites[0].argument];
    const auto input = static_cast<int>(ir_.tables.record(graph).inputs.size());
    {
      const GraphScope scope(ir_.graph(graph));
      const Tensor added = add_graph_input(ir_, known.spec, tensor_.name(), false, known.meta_shape);
      ir_.tables.record(added).placement = known.placement;
    }
    for (Site& site : sites) add_argument(sites, site, input);
    return input;
  }
  constexpr void add_argument(List<Site>& sites, const Site& to, int input) {
    Node& node = node_of(to);
    const int position = to.first_input + input;
    node.inputs.insert(node.inputs.begin() + position, to.argument);
    for (int& modified : node.modified) modified += modified >= position;
    if (node.else_graph == GraphId::none || to.first_input != 1) return;
    auto attributes = unpack<ConditionalAttributes>(node.attributes);
    ++attributes.then_inputs;
    node.attributes = pack(attributes);
    for (Site& other : sites)  // the inputs of the graph for false stand behind those of the graph for true
      if (other.caller == to.caller && other.node == to.node && other.first_input > 1) ++other.first_input;
  }
  constexpr void set_modified(GraphId graph, const List<Site>& sites, int input) {
    auto& by_reference = ir_.tables.record(graph).by_reference;
    if (has_item(by_reference, input)) return;
    by_reference.push_back(input);
    const auto count = static_cast<int>(ir_.tables.record(graph).inputs.size());
    for (const Site& site : sites)
      modify_input(ir_, site.caller, node_of(site), site.first_input + input, site.first_input, count);
  }
  constexpr bool check_order(GraphId caller, NodeId call, GraphId called) {
    const NodeId producer = ir_.tables.record(tensor_).producer;
    if (caller != tensor_.graph_id() || producer == NodeId::none || producer < call) return true;
    fail(" is made after the call of ", ir_.tables.record(called).name, ": a tensor made before it");
    return false;
  }
  constexpr Tensor fail_without_path(GraphId graph) {
    const Text from = place_of(tensor_, ir_);
    if (graph == destination_.id()) return fail(": ", from, " does not call it: a graph that it calls, directly or not,");
    return fail(", which is called from ", place_of({ir_, graph, TensorId{}}, ir_), ", too: calls from ", from, " alone");
  }

  Ir& ir_;
  Tensor tensor_;
  Graph destination_;
  bool is_modified_;
  List<Tensor, GraphId> routed_;  // by graph: the tensor there, once it is known
};
}  // namespace detail

/// Makes a tensor usable in a graph that its own graph calls, directly or through others, by calls, loops or conditionals. Every
/// graph on every path gets an input, and every call on the path passes it. Returns the tensor of `graph` that stands for t: t
/// itself in its own graph, and the input of an earlier call of this function if there was one. Without a graph, it is the
/// current one. If `modified` is true, the inputs are by reference: in-place changes reach t. Calls that are added later must
/// pass the new input.
///
/// t: any shape and dtype. Errors: a graph that t's graph does not call; one that is also called from where no path leads back to
/// t's graph; a tensor that is made after the call; with `modified`, a constant.
[[nodiscard]] constexpr Tensor route_tensor_into_graph(Tensor t, const std::optional<Graph>& graph = {}, bool modified = false) {
  if (!t.is_usable() || t.ir().failed()) return t;
  Ir& ir = t.ir();
  const Graph destination = graph ? *graph : ir.graph(ir.tables.current_graph);
  const auto fail = [&](const auto&... problem) {
    return ir.fail(text("route_tensor_into_graph: ", to_text(t), problem..., " expected"));
  };
  if (&destination.ir() != &ir) return fail(" into ", destination.name(), " of another Ir: a graph of its Ir");
  if (t.kind() == TensorKind::remote) return fail(" lives in streaming memory: what remote_load gives of it");
  return detail::TensorRoute(t, destination, modified).route();
}

}  // namespace tilewright
