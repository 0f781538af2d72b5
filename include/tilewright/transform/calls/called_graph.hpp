#pragma once
#include <optional>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/transform/repeated_graphs.hpp"
#include "tilewright/transform/tensor_uses.hpp"

namespace tilewright::detail {

/// A graph into which ops move, and all its calls: the base of passes that move ops from before or after calls.
class CalledGraph {
 protected:
  constexpr explicit CalledGraph(Ir& ir) : ir_(ir) { uses_.resize(ir.tables.graphs.size()); }

  constexpr GraphRecord& record(GraphId graph) { return ir_.tables.record(graph); }
  constexpr const Node& node(const CallSite& site) { return record(site.graph).nodes[site.node]; }
  constexpr const Node& node(std::size_t site, NodeId number) { return record((*sites_)[site].graph).nodes[number]; }
  constexpr TensorUses& uses(std::size_t site) {
    auto& result = uses_[(*sites_)[site].graph];
    if (!result) result.emplace(record((*sites_)[site].graph));
    return *result;
  }
  /// Selects another graph.
  constexpr void choose(GraphId callee, const List<CallSite>& sites) {
    callee_ = callee;
    sites_ = &sites;
    find_changed_inputs();
  }
  /// Finds the inputs that the graph changes, and those in its results.
  constexpr void find_changed_inputs() {
    const GraphRecord& called = record(callee_);
    changed_.assign(called.tensors.size(), false);
    returned_.assign(called.tensors.size(), false);
    for (const Node& each : called.nodes) {
      if (each.op->modifies >= 0) changed_[viewed_tensor(called, each.inputs[each.op->modifies])] = true;
      for (int input : each.modified) changed_[viewed_tensor(called, each.inputs[input])] = true;
    }
    for (const TensorId output : called.outputs) returned_[viewed_tensor(called, output)] = true;
  }
  constexpr const TensorSpec& spec_at(std::size_t site, TensorId tensor) {
    return record((*sites_)[site].graph).tensors[tensor].spec;
  }
  /// Returns whether ops of this kind may move into a graph.
  static constexpr bool may_move(const Node& each) {
    const OpInfo& op = *each.op;
    return op.elementwise && !op.has_side_effect && !op.view && !op.is_alias && !op.is_copy && !op.gives_memory && !op.expand &&
           !op.transfer && !op.collective_items && !op.result_placement && !op.fault && each.outputs.size() == 1;
  }
  /// Returns whether two ops are equal in everything except their operands.
  static constexpr bool are_alike(const Node& a, const Node& b) {
    return a.op == b.op && a.called_graph == b.called_graph && a.else_graph == b.else_graph &&
           a.inputs.size() == b.inputs.size() && a.outputs.size() == b.outputs.size() && a.modified == b.modified &&
           a.attributes == b.attributes;
  }
  /// Returns whether a tensor of each site is a constant, with equal values at all sites.
  constexpr bool is_same_constant(const List<TensorId>& tensors) {
    const int payload = record((*sites_)[0].graph).tensors[tensors[0]].payload;
    const ConstantRecord& values = ir_.tables.constants[static_cast<std::size_t>(payload)];
    for (std::size_t s = 1; s < sites_->size(); ++s) {
      const TensorRecord& other = record((*sites_)[s].graph).tensors[tensors[s]];
      if (other.kind != TensorKind::constant) return false;
      if (other.payload == payload) continue;
      const ConstantRecord& others = ir_.tables.constants[static_cast<std::size_t>(other.payload)];
      if (values.generator.write || others.generator.write || values.values.size() != 1 || others.values.size() != 1 ||
          values.values[0] != others.values[0])
        return false;
    }
    return true;
  }
  /// Copies a constant of the first site into the called graph.
  constexpr TensorId add_constant(TensorId constant) {
    const TensorRecord known = record((*sites_)[0].graph).tensors[constant];
    return add_tensor({.spec = known.spec, .kind = TensorKind::constant, .payload = known.payload});
  }
  /// Adds an input to the called graph, for a tensor of each site.
  constexpr TensorId add_input(const List<TensorId>& tensors, bool is_changed) {
    const auto input = static_cast<int>(record(callee_).inputs.size());
    record(callee_).inputs.push_back(add_tensor({.spec = spec_at(0, tensors[0]), .kind = TensorKind::input}));
    for (std::size_t s = 0; s < sites_->size(); ++s) {
      const CallSite& site = (*sites_)[s];
      record(site.graph).nodes[site.node].inputs.push_back(tensors[s]);
      uses(s).add(site.node, input, is_changed);
    }
    return record(callee_).inputs[input];
  }
  /// Removes the nodes that have left their graphs. Returns whether there were any.
  constexpr bool remove_left() {
    bool any_left = false;
    for (std::size_t g = 0; g < uses_.size(); ++g) {
      if (!uses_[GraphId(g)] || !uses_[GraphId(g)]->any_left()) continue;
      remove_left_nodes(record(GraphId(g)), *uses_[GraphId(g)]);
      any_left = true;
    }
    return any_left;
  }
  constexpr TensorId add_tensor(TensorRecord tensor) {
    changed_.push_back(false);
    returned_.push_back(false);
    return ir_.tables.add_tensor(std::move(tensor));
  }

  Ir& ir_;
  List<std::optional<TensorUses>, GraphId> uses_{};  // of graphs with calls; made when they are first needed
  GraphId callee_{};
  const List<CallSite>* sites_ = nullptr;  // of callee_
  List<bool, TensorId> changed_{};  // by tensor of callee_: ops change it, or a view of it
  List<bool, TensorId> returned_{};  // by tensor of callee_: it, or a view of it, is a result
};

}  // namespace tilewright::detail
