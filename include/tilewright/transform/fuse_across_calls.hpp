#pragma once
#include <optional>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/elementwise_graph.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/transform/repeated_graphs.hpp"
#include "tilewright/transform/tensor_uses.hpp"

namespace tilewright {

namespace detail {

/// Moves elementwise ops that follow every call of a graph into that graph.
class CallFusion {
 public:
  constexpr CallFusion(Ir& ir, std::int64_t least_update) : ir_(ir), least_update_(least_update) {}

  constexpr void run() {
    const RepeatedGraphs repeated(ir_);
    uses_.resize(ir_.graphs.size());
    for (const GraphId graph : repeated.in_order()) move_into(graph, repeated.calls(graph));
    bool any_left = false;
    for (std::size_t g = 0; g < uses_.size(); ++g) {
      if (!uses_[GraphId(g)] || !uses_[GraphId(g)]->any_left()) continue;
      remove_left_nodes(record(GraphId(g)), *uses_[GraphId(g)]);
      any_left = true;
    }
    if (any_left) find_call_sites(ir_);
  }

 private:
  enum class Source : std::uint8_t {
    result,    // the call's result `index`
    input,     // the call's input `index`
    added,     // a new input of the call
    constant,  // a constant
    moved      // the result of planned op `index`
  };
  struct PlannedOperand {
    Source source{};
    int index = -1;
    bool is_changed = false;     // by the op
    List<TensorId> tensors{};    // by site
  };
  /// An op that moves: its node at each site.
  struct PlannedOp {
    List<NodeId> nodes{};
    List<PlannedOperand> operands{};
  };
  /// The most ops that move together: the last one, and those that only make its operands.
  static constexpr std::size_t max_planned = 8;

  constexpr GraphRecord& record(GraphId graph) { return ir_.record(graph); }
  constexpr const Node& node(const CallSite& site) { return record(site.graph).nodes[site.node]; }
  constexpr const Node& node(std::size_t site, NodeId number) { return record((*sites_)[site].graph).nodes[number]; }
  constexpr TensorUses& uses(std::size_t site) {
    auto& result = uses_[(*sites_)[site].graph];
    if (!result) result.emplace(record((*sites_)[site].graph));
    return *result;
  }

  constexpr void move_into(GraphId callee, const List<CallSite>& sites) {
    callee_ = callee;
    sites_ = &sites;
    find_changed_inputs();
    for (bool moves = true; moves;) {
      moves = false;
      for (int o = 0; o < static_cast<int>(record(callee_).outputs.size());) {
        if (plan_reader_of(o)) moves = true, move_planned(o);
        else ++o;
      }
    }
  }
  /// Which inputs the graph changes, and which are in its results.
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

  // ---- what moves ----

  static constexpr bool may_move(const Node& each) {
    const OpInfo& op = *each.op;
    return op.elementwise && !op.has_side_effect && !op.view && !op.is_alias && !op.is_copy && !op.gives_memory && !op.expand &&
           !op.transfer && !op.collective_items && !op.result_placement && !op.fault && each.outputs.size() == 1;
  }
  /// Whether a node calls a graph that updates a variable by a gradient that is large enough.
  constexpr bool is_update_by(const Node& each, const TensorSpec& gradient) {
    return is_plain_call(each) && gradient.bytes() >= least_update_ && each.outputs.empty() && !each.modified.empty() &&
           is_elementwise(record(each.called_graph));
  }
  static constexpr bool are_alike(const Node& a, const Node& b) {
    return a.op == b.op && a.called_graph == b.called_graph && a.else_graph == b.else_graph &&
           a.inputs.size() == b.inputs.size() && a.outputs.size() == b.outputs.size() && a.modified == b.modified &&
           a.attributes == b.attributes;
  }

  /// Plans to move the op that reads a result of the graph at each site, where nothing else does.
  constexpr bool plan_reader_of(int output) {
    const TensorId made = record(callee_).outputs[output];
    if (record(callee_).tensors[made].producer == NodeId::none) return false;
    List<NodeId> readers;
    for (std::size_t s = 0; s < sites_->size(); ++s) {
      const NodeId reader = uses(s).only_reader(node((*sites_)[s]).outputs[output]);
      if (reader == NodeId::none) return false;
      if (s == 0 && !may_move(node(s, reader)) && !is_update_by(node(s, reader), record(callee_).tensors[made].spec))
        return false;
      readers.push_back(reader);
    }
    planned_.clear();
    ends_ = readers;
    if (plan(std::move(readers)) < 0) return false;
    const PlannedOp& last = planned_.back();
    for (std::size_t s = 0; s < sites_->size(); ++s) {
      const Node& reader = node(s, last.nodes[s]);
      if (reader.outputs.empty()) continue;
      if (reader.op->modifies >= 0 && uses(s).count(reader.outputs[0]) > 0) return false;
      if (spec_at(s, reader.outputs[0]).bytes() > spec_at(s, node((*sites_)[s]).outputs[output]).bytes()) return false;
    }
    return true;
  }
  constexpr const TensorSpec& spec_at(std::size_t site, TensorId tensor) {
    return record((*sites_)[site].graph).tensors[tensor].spec;
  }
  /// Plans to move one op of each site, and what it alone needs of ops after the calls. The number of the planned op, or -1: the
  /// ops are not alike, or have operands that the graph cannot be given.
  constexpr int plan(List<NodeId> nodes) {
    const Node first = node(0, nodes[0]);
    for (std::size_t s = 1; s < nodes.size(); ++s) {
      const Node& other = node(s, nodes[s]);
      if (!are_alike(first, other)) return -1;
      for (std::size_t o = 0; o < first.outputs.size(); ++o)
        if (spec_at(0, first.outputs[o]) != spec_at(s, other.outputs[o])) return -1;
    }
    PlannedOp op;
    for (std::size_t i = 0; i < first.inputs.size(); ++i) {
      const auto input = static_cast<int>(i);
      PlannedOperand operand{.is_changed = first.op->modifies == input || has_item(first.modified, input)};
      for (std::size_t s = 0; s < nodes.size(); ++s) {
        operand.tensors.push_back(node(s, nodes[s]).inputs[i]);
        if (spec_at(0, operand.tensors[0]) != spec_at(s, operand.tensors[s])) return -1;
      }
      if (!plan_operand(operand)) return -1;
      op.operands.push_back(std::move(operand));
    }
    op.nodes = std::move(nodes);
    if (planned_.size() == max_planned) return -1;
    planned_.push_back(std::move(op));
    return static_cast<int>(planned_.size()) - 1;
  }
  constexpr bool plan_operand(PlannedOperand& operand) {
    const TensorId first = operand.tensors[0];
    const TensorRecord& known = record((*sites_)[0].graph).tensors[first];
    if (known.kind == TensorKind::constant) return !operand.is_changed && plan_constant(operand);
    const Node& call = node((*sites_)[0]);
    if (known.producer == (*sites_)[0].node) {
      for (std::size_t o = 0; o < call.outputs.size(); ++o)
        if (call.outputs[o] == first) operand.index = static_cast<int>(o);
      operand.source = Source::result;
      return !operand.is_changed && is_result_everywhere(operand);
    }
    if (known.producer > (*sites_)[0].node) return !operand.is_changed && plan_maker(operand);
    return plan_given(operand, call);
  }
  constexpr bool is_result_everywhere(const PlannedOperand& operand) {
    if (record(callee_).tensors[record(callee_).outputs[operand.index]].producer == NodeId::none) return false;
    for (std::size_t s = 0; s < sites_->size(); ++s)
      if (node((*sites_)[s]).outputs[operand.index] != operand.tensors[s]) return false;
    return true;
  }
  /// A constant that is the same at all sites.
  constexpr bool plan_constant(PlannedOperand& operand) {
    operand.source = Source::constant;
    const int payload = record((*sites_)[0].graph).tensors[operand.tensors[0]].payload;
    const ConstantRecord& values = ir_.constants[static_cast<std::size_t>(payload)];
    for (std::size_t s = 1; s < sites_->size(); ++s) {
      const TensorRecord& other = record((*sites_)[s].graph).tensors[operand.tensors[s]];
      if (other.kind != TensorKind::constant) return false;
      if (other.payload == payload) continue;
      const ConstantRecord& others = ir_.constants[static_cast<std::size_t>(other.payload)];
      if (values.generator.write || others.generator.write || values.values.size() != 1 || others.values.size() != 1 ||
          values.values[0] != others.values[0])
        return false;
    }
    return true;
  }
  /// An operand that an op makes after the call: the op moves too, if nothing else needs it.
  constexpr bool plan_maker(PlannedOperand& operand) {
    List<NodeId> makers;
    for (std::size_t s = 0; s < sites_->size(); ++s) {
      const NodeId maker = record((*sites_)[s].graph).tensors[operand.tensors[s]].producer;
      if (maker == NodeId::none || maker < (*sites_)[s].node || uses(s).only_reader(operand.tensors[s]) == NodeId::none)
        return false;
      if (s == 0 && (!may_move(node(s, maker)) || node(s, maker).op->modifies >= 0)) return false;
      makers.push_back(maker);
    }
    operand.source = Source::moved;
    for (std::size_t p = 0; p < planned_.size(); ++p)
      if (planned_[p].nodes == makers) operand.index = static_cast<int>(p);
    if (operand.index < 0) operand.index = plan(std::move(makers));
    return operand.index >= 0;
  }
  /// An operand that the call can be given, or is given.
  constexpr bool plan_given(PlannedOperand& operand, const Node& call) {
    bool may = true;
    int given = -1;
    for (std::size_t s = 0; may && s < sites_->size(); ++s) {
      const NodeId site = (*sites_)[s].node;
      const TensorId tensor = operand.tensors[s];
      const TensorRecord& known = record((*sites_)[s].graph).tensors[tensor];
      const bool is_made = known.producer != NodeId::none;
      TensorUses& used = uses(s);
      may = known.kind != TensorKind::constant && known.producer < site && used.whole(tensor) == tensor &&
            !(operand.is_changed && is_made) && !used.is_used_between(site, ends_[s], tensor, operand.is_changed);
      int accesses = 0;
      used.for_each_access(site, tensor, [&](const TensorAccess& access) {
        may = may && !access.writes;
        ++accesses;
        if (s == 0 && call.inputs[access.input] == tensor) given = access.input;
      });
      if (operand.is_changed) may = may && accesses == (given >= 0 ? 1 : 0);
      if (given >= 0) may = may && node((*sites_)[s]).inputs[given] == tensor;
    }
    if (!may) return false;
    operand.source = given >= 0 ? Source::input : Source::added;
    operand.index = given;
    if (given < 0) return true;
    const TensorId input = record(callee_).inputs[given];
    return !changed_[input] && !(operand.is_changed && returned_[input]);
  }

  // ---- moving ----

  constexpr void move_planned(int output) {
    const GraphScope scope(ir_.graph(callee_));
    added_inputs_ = 0;
    List<int> results{output};  // that the moved ops read
    List<TensorId> made;  // by planned op: its result in the graph
    for (PlannedOp& op : planned_) made.push_back(append(op, made, results));
    for (const PlannedOp& op : planned_)
      for (std::size_t s = 0; s < op.nodes.size(); ++s) uses(s).leave(op.nodes[s]);
    replace_results(output, made.back(), results);
  }
  /// Appends an op to the graph, and gives the calls what it needs. The op's result, or none.
  constexpr TensorId append(PlannedOp& op, const List<TensorId>& made, List<int>& results) {
    Node copy = node(0, op.nodes[0]);
    copy.context = ExecutionContext::Subgraph;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      PlannedOperand& operand = op.operands[i];
      if (operand.source == Source::moved) {
        copy.inputs[i] = made[operand.index];
      } else if (operand.source == Source::result) {
        copy.inputs[i] = record(callee_).outputs[operand.index];
        if (!has_item(results, operand.index)) results.push_back(operand.index);
      } else if (operand.source == Source::constant) {
        const TensorRecord constant = record((*sites_)[0].graph).tensors[operand.tensors[0]];
        copy.inputs[i] = add_tensor({.spec = constant.spec, .kind = TensorKind::constant, .payload = constant.payload});
      } else {
        copy.inputs[i] = give(operand);
      }
    }
    const auto index = NodeId(record(callee_).nodes.size());
    for (TensorId& result : copy.outputs) {
      const TensorSpec spec = spec_at(0, result);
      result = add_tensor({.spec = spec, .producer = index});
    }
    const TensorId result = copy.outputs.empty() || copy.op->modifies >= 0 ? TensorId::none : copy.outputs[0];
    record(callee_).nodes.push_back(std::move(copy));
    return result;
  }
  constexpr TensorId add_tensor(TensorRecord tensor) {
    changed_.push_back(false);
    returned_.push_back(false);
    return ir_.add_tensor(std::move(tensor));
  }
  /// The graph's input for an operand that calls are given.
  constexpr TensorId give(const PlannedOperand& operand) {
    int input = operand.index;
    if (operand.source == Source::added) {  // two operands may be the same tensor
      for (int i = first_added_input(); input < 0 && i < static_cast<int>(record(callee_).inputs.size()); ++i) {
        bool is_same = !changed_[record(callee_).inputs[i]] && !operand.is_changed;
        for (std::size_t s = 0; is_same && s < sites_->size(); ++s) is_same = node((*sites_)[s]).inputs[i] == operand.tensors[s];
        if (is_same) input = i;
      }
    }
    if (input < 0) {
      input = static_cast<int>(record(callee_).inputs.size());
      record(callee_).inputs.push_back(add_tensor({.spec = spec_at(0, operand.tensors[0]), .kind = TensorKind::input}));
      for (std::size_t s = 0; s < sites_->size(); ++s) {
        const CallSite& site = (*sites_)[s];
        record(site.graph).nodes[site.node].inputs.push_back(operand.tensors[s]);
        uses(s).add(site.node, input, operand.is_changed);
      }
      ++added_inputs_;
    }
    if (operand.is_changed) pass_by_reference(input, operand);
    return record(callee_).inputs[input];
  }
  constexpr int first_added_input() { return static_cast<int>(record(callee_).inputs.size()) - added_inputs_; }
  constexpr void pass_by_reference(int input, const PlannedOperand& operand) {
    changed_[record(callee_).inputs[input]] = true;
    record(callee_).by_reference.push_back(input);
    for (std::size_t s = 0; s < sites_->size(); ++s) {
      const CallSite& site = (*sites_)[s];
      record(site.graph).nodes[site.node].modified.push_back(input);
      uses(s).for_each_access(site.node, operand.tensors[s], [](TensorAccess& access) { access.writes = true; });
    }
  }
  /// Makes the last op's result a result of the graph, if there is one, and drops results that only moved ops read.
  constexpr void replace_results(int output, TensorId made, List<int>& results) {
    if (made != TensorId::none) {
      erase_if(results, [&](int result) { return result == output; });
      record(callee_).outputs[output] = made;
      returned_[made] = true;
      for (std::size_t s = 0; s < sites_->size(); ++s) {
        const CallSite& site = (*sites_)[s];
        GraphRecord& caller = record(site.graph);
        const TensorId result = caller.nodes[planned_.back().nodes[s]].outputs[0];
        caller.tensors[caller.nodes[site.node].outputs[output]].producer = NodeId::none;
        caller.nodes[site.node].outputs[output] = result;
        caller.tensors[result].producer = site.node;
      }
    }
    sort_items(results, [](int a, int b) { return a > b; });
    for (int result : results) {
      bool is_used = false;
      for (std::size_t s = 0; s < sites_->size(); ++s) is_used = is_used || uses(s).count(node((*sites_)[s]).outputs[result]) > 0;
      if (!is_used) drop_result(result);
    }
  }
  constexpr void drop_result(int result) {
    GraphRecord& called = record(callee_);
    const auto own = static_cast<int>(called.outputs.size()) - called.activations;
    if (result >= own) --called.activations;
    called.outputs.erase(called.outputs.begin() + result);
    for (const CallSite& site : *sites_) {
      GraphRecord& caller = record(site.graph);
      List<TensorId>& outputs = caller.nodes[site.node].outputs;
      caller.tensors[outputs[static_cast<std::size_t>(result)]].producer = NodeId::none;
      outputs.erase(outputs.begin() + result);
    }
  }

  Ir& ir_;
  std::int64_t least_update_;  // bytes of a gradient whose update moves, if that is a graph
  List<std::optional<TensorUses>, GraphId> uses_{};  // of graphs with calls; made when they are first needed
  GraphId callee_{};
  const List<CallSite>* sites_ = nullptr;  // of callee_
  int added_inputs_ = 0;  // the last inputs of callee_, which the ops that move now have added
  List<bool, TensorId> changed_{};  // by tensor of callee_: ops change it, or a view of it
  List<bool, TensorId> returned_{};  // by tensor of callee_: it, or a view of it, is a result
  List<PlannedOp> planned_{};
  List<NodeId> ends_{};  // by site: the last of the nodes that move
};

}  // namespace detail

/// Moves work that stands behind calls into the graphs that are called, where it can join their last steps. An elementwise op, or
/// the update of a variable by an optimiser, moves if each call of a graph is followed by such an op, alike in all but its
/// operands, and nothing else reads the result of the graph that it reads. The graph gets the op's other operands as inputs, by
/// reference if the op changes them. Graphs that loops and conditionals call, ops in in_sequence and merge_exchange scopes, and
/// programs with several IPUs, execution contexts or sharded tensors stay as they are. Results stay the same, bit for bit.
///
/// The planner for the host calls it, unless fuses_across_calls(ir, false) was called. `least_update`: bytes of a gradient from
/// which on its update moves if that is a graph of several ops, as Adam's is. Smaller gradients stay in a cache, and a pass over
/// them is as fast as an epilogue with so many operands: W7 of the benchmarks, whose gradients have up to 256 KB, is 1 % slower
/// if their updates move.
constexpr void move_ops_into_callees(Ir& ir, std::int64_t least_update = 1 << 20) {
  if (ir.fuses_across_calls && detail::may_have_repeated_graphs(ir)) detail::CallFusion(ir, least_update).run();
}
/// Whether ops behind calls move into the graphs that are called, when the program is planned for the host. They do, if this
/// function is not called. For a simulated IPU they never do: there, what a graph is given lies where its gradient graph wants
/// it.
constexpr void fuses_across_calls(Ir& ir, bool fuses) { ir.fuses_across_calls = fuses; }

}  // namespace tilewright
