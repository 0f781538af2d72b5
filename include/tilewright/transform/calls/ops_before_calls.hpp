#pragma once
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/rules/host/rules_of_ops.hpp"
#include "tilewright/transform/calls/called_graph.hpp"

namespace tilewright::detail {

/// Moves elementwise ops before every call of a graph into that graph, before its first ops. An op moves if
///  - each call has such an op before it, the ops differ in their operands only, and only the call reads the result;
///  - the first op of the graph that reads the result can share a step with it: it is not a product, view or call;
///  - the op's operands can be passed to the call: nothing changes them between the op and the end of the call;
///  - memory does not grow: at most one operand exists for the op alone, and it is not larger than the op's result.
/// The graph's input becomes one of the operands, constants move too, and other operands become inputs.
class OpsBeforeCalls : CalledGraph {
 public:
  constexpr explicit OpsBeforeCalls(Ir& ir) : CalledGraph(ir), put_first_(ir.tables.graphs.size(), 0) {}

  /// Returns whether the first two calls of a graph follow ops that differ in their operands only, and may move.
  static constexpr bool may_move_into(const Ir& ir, const GraphRecord& graph) {
    if (graph.call_sites.size() < 2) return false;
    const Node *makers[2], *calls[2];
    for (std::size_t s = 0; s < 2; ++s) calls[s] = &ir.tables.record(graph.call_sites[s].first).nodes[graph.call_sites[s].second];
    if (!is_plain_call(*calls[0]) || !is_plain_call(*calls[1])) return false;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      bool may = true;
      for (std::size_t s = 0; may && s < 2; ++s) {
        const GraphRecord& caller = ir.tables.record(graph.call_sites[s].first);
        const NodeId maker = caller.tensors[calls[s]->inputs[i]].producer;
        may = maker != NodeId::none && may_move_before(caller.nodes[maker]);
        if (may) makers[s] = &caller.nodes[maker];
      }
      if (may && are_alike(*makers[0], *makers[1])) return true;
    }
    return false;
  }
  constexpr void run() {
    const RepeatedGraphs repeated(ir_);
    for (const GraphId graph : repeated.in_order()) {
      List<CallSite> sites = repeated.calls(graph);
      if (sites.size() < 2) continue;
      for (CallSite& site : sites) site.node = NodeId(static_cast<int>(site.node) + put_first_[site.graph]);
      choose(graph, sites);
      move_all();
    }
    if (remove_left()) find_call_sites(ir_);
  }

 private:
  static constexpr bool may_move_before(const Node& each) { return may_move(each) && each.op->modifies < 0; }

  constexpr void move_all() {
    for (int i = 0; i < static_cast<int>(record(callee_).inputs.size()); ++i) {
      const TensorId own = record(callee_).inputs[i];
      if (changed_[own] || returned_[own] || has_item(record(callee_).by_reference, i) || !joins_first_reader(own)) continue;
      while (plan(i)) move(i);
    }
    put_moved_first();
  }
  /// Returns whether an op before the first reader of a tensor can share a step with that reader.
  constexpr bool joins_first_reader(TensorId tensor) {
    for (const Node& each : record(callee_).nodes)
      if (has_item(each.inputs, tensor))
        return each.called_graph == GraphId::none && (!each.op->has_epilogue || host_rules_of(*each.op).epilogue_of_planes) &&
               !each.op->view && !each.op->is_alias && !each.op->transfer && !each.op->collective_items &&
               !each.op->has_side_effect;
    return false;
  }
  /// Plans to move the op that produces an input of each call.
  constexpr bool plan(int input) {
    makers_.clear();
    for (std::size_t s = 0; s < sites_->size(); ++s) {
      const CallSite& site = (*sites_)[s];
      const NodeId maker = record(site.graph).tensors[node(site).inputs[input]].producer;
      if (maker == NodeId::none || !may_move_before(node(s, maker))) return false;
      if (s > 0 && !are_alike(node(0, makers_[0]), node(s, maker))) return false;
      makers_.push_back(maker);
    }
    for (std::size_t s = 0; s < sites_->size(); ++s) {
      const TensorId made = node((*sites_)[s]).inputs[input];
      if (uses(s).count(made) != 1 || uses(s).only_reader(made) != (*sites_)[s].node) return false;
    }
    in_place_ = -1;
    bool any_made = false;
    const auto count = static_cast<int>(node(0, makers_[0]).inputs.size());
    for (int o = 0; o < count; ++o) {
      const List<TensorId> tensors = operands(o);
      const TensorRecord& first = record((*sites_)[0].graph).tensors[tensors[0]];
      if (first.kind == TensorKind::constant) {
        if (!is_same_constant(tensors)) return false;
        continue;
      }
      if (!may_be_given(tensors)) return false;
      if (position_of(tensors) >= 0) continue;
      const bool is_made = first.producer != NodeId::none;
      if (in_place_ < 0 || is_made) {
        if (any_made && tensors != operands(in_place_)) return false;
        in_place_ = o;
      }
      any_made = any_made || is_made;
      if (is_made && first.spec.bytes() > spec_at(0, node((*sites_)[0]).inputs[input]).bytes()) return false;
    }
    if (in_place_ >= 0) return true;
    for (int o = 0; in_place_ < 0 && o < count; ++o)  // all are given already: the input becomes one of them
      if (record((*sites_)[0].graph).tensors[operands(o)[0]].kind != TensorKind::constant) in_place_ = o;
    return in_place_ >= 0;
  }
  /// Returns an operand of the op, by site.
  constexpr List<TensorId> operands(int number) {
    List<TensorId> tensors;
    for (std::size_t s = 0; s < makers_.size(); ++s) tensors.push_back(node(s, makers_[s]).inputs[number]);
    return tensors;
  }
  /// Returns whether a tensor of each site can be passed to the call: its value does not change from the op's read to the end of
  /// the call.
  constexpr bool may_be_given(const List<TensorId>& tensors) {
    for (std::size_t s = 0; s < tensors.size(); ++s) {
      const TensorRecord& known = record((*sites_)[s].graph).tensors[tensors[s]];
      const NodeId call = (*sites_)[s].node;
      TensorUses& used = uses(s);
      bool may = known.kind != TensorKind::constant && used.whole(tensors[s]) == tensors[s] &&
                 spec_at(0, tensors[0]) == spec_at(s, tensors[s]) &&
                 (known.producer == NodeId::none) == (record((*sites_)[0].graph).tensors[tensors[0]].producer == NodeId::none) &&
                 !used.is_used_between(makers_[s], call, tensors[s], false);
      used.for_each_access(call, tensors[s], [&](const TensorAccess& access) { may = may && !access.writes; });
      if (!may) return false;
    }
    return true;
  }
  /// Returns i if each call s passes tensors[s] as its input i, otherwise -1.
  constexpr int position_of(const List<TensorId>& tensors) {
    const List<TensorId>& inputs = node((*sites_)[0]).inputs;
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
      bool is_it = true;
      for (std::size_t s = 0; is_it && s < tensors.size(); ++s) is_it = node((*sites_)[s]).inputs[i] == tensors[s];
      if (is_it) return i;
    }
    return -1;
  }
  constexpr void move(int input) {
    const GraphScope scope(ir_.graph(callee_));
    Node copy = node(0, makers_[0]);
    copy.context = ExecutionContext::Subgraph;
    const TensorId own = record(callee_).inputs[input], made = add_tensor({.spec = record(callee_).tensors[own].spec});
    read_instead(own, made);
    const List<TensorId> given = operands(in_place_);
    record(callee_).tensors[own].spec = spec_at(0, given[0]);
    for (std::size_t s = 0; s < makers_.size(); ++s) {
      const CallSite& site = (*sites_)[s];
      uses(s).leave(makers_[s]);
      record(site.graph).nodes[site.node].inputs[input] = given[s];
      uses(s).add(site.node, input, false);
    }
    for (std::size_t o = 0; o < copy.inputs.size(); ++o) {
      const List<TensorId> tensors = operands(static_cast<int>(o));
      if (record((*sites_)[0].graph).tensors[tensors[0]].kind == TensorKind::constant) copy.inputs[o] = add_constant(tensors[0]);
      else if (const int position = position_of(tensors); position >= 0) copy.inputs[o] = record(callee_).inputs[position];
      else copy.inputs[o] = add_input(tensors, false);
    }
    copy.outputs[0] = made;
    moved_.push_back(std::move(copy));
  }
  constexpr void read_instead(TensorId tensor, TensorId other) {
    const auto replace = [&](Node& each) {
      for (TensorId& input : each.inputs)
        if (input == tensor) input = other;
    };
    for (Node& each : record(callee_).nodes) replace(each);
    for (Node& each : moved_) replace(each);
  }
  /// Puts the moved ops before the other ops of the graph, the last one first.
  constexpr void put_moved_first() {
    if (moved_.empty()) return;
    GraphRecord& called = record(callee_);
    const auto count = static_cast<int>(moved_.size());
    put_first_[callee_] = count;
    for (std::size_t t = 0; t < called.tensors.size(); ++t)
      if (NodeId& producer = called.tensors[TensorId(t)].producer; producer != NodeId::none)
        producer = NodeId(static_cast<int>(producer) + count);
    reverse_items(moved_);
    for (int n = 0; n < count; ++n) called.tensors[moved_[n].outputs[0]].producer = NodeId(n);
    List<Node, NodeId> nodes;
    nodes.reserve(moved_.size() + called.nodes.size());
    for (Node& each : moved_) nodes.push_back(std::move(each));
    for (Node& each : called.nodes) nodes.push_back(std::move(each));
    called.nodes = std::move(nodes);
    moved_.clear();
  }

  List<int, GraphId> put_first_;  // nodes that were put before the others of a graph
  List<NodeId> makers_{};  // by site: the op that is planned
  int in_place_ = -1;  // its operand that the graph's input becomes
  List<Node> moved_{};  // into callee_: each before those that moved earlier
};

/// Returns whether OpsBeforeCalls may move an op. Programs without such ops ask, too, so it examines few calls.
constexpr bool may_have_ops_before_calls(const Ir& ir) {
  for (const GraphRecord& graph : ir.tables.graphs)
    if (OpsBeforeCalls::may_move_into(ir, graph)) return true;
  return false;
}

}  // namespace tilewright::detail
