#pragma once
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/transform/calls/ops_before_calls.hpp"
#include "tilewright/transform/calls/ops_behind_calls.hpp"

namespace tilewright {

namespace detail {

/// Moves elementwise ops that follow every call of a graph into that graph.
class CallFusion : OpsBehindCalls {
 public:
  constexpr CallFusion(Ir& ir, std::int64_t least_update) : OpsBehindCalls(ir, least_update) {}

  constexpr void run() {
    const RepeatedGraphs repeated(ir_);
    for (const GraphId graph : repeated.in_order()) move_into(graph, repeated.calls(graph));
    if (remove_left()) find_call_sites(ir_);
  }

 private:
  constexpr void move_into(GraphId callee, const List<CallSite>& sites) {
    choose(callee, sites);
    for (bool moves = true; moves;) {
      moves = false;
      for (int o = 0; o < static_cast<int>(record(callee_).outputs.size());) {
        if (plan_reader_of(o)) moves = true, move_planned(o);
        else ++o;
      }
    }
  }
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
  /// Appends an op to the graph, and passes its other operands to the calls. Returns the op's result, or none.
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
        copy.inputs[i] = add_constant(operand.tensors[0]);
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
  /// Returns the graph's input for an operand that calls pass.
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
      add_input(operand.tensors, operand.is_changed);
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
  /// Makes the last op's result, if there is one, a result of the graph, and drops results that only moved ops read.
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

  int added_inputs_ = 0;  // the last inputs of callee_, which the ops that move now have added
};

}  // namespace detail

/// Moves ops after or before calls into the called graphs, where they can join the graphs' last or first steps. First,
/// elementwise ops and optimisers' updates of variables move from after the calls of a graph into it. Every call must be followed
/// by such an op. The ops may differ in their operands only, and nothing else may read the result of the graph that they read.
/// The graph gets the op's other operands as inputs, by reference if the op changes them. Then an elementwise op before every
/// call moves if only the call reads its result, see OpsBeforeCalls. Some graphs do not change: those that loops and conditionals
/// call, ops in in_sequence and merge_exchange scopes, and programs with several IPUs, execution contexts or sharded tensors.
/// Results do not change, except that the compiler may turn a product and a sum in one step into one multiply-add, which rounds
/// once.
///
/// The planner for the host calls the function, unless fuses_across_calls(ir, false) was called. If an update is a graph of
/// several ops, as Adam's is, it moves if its gradient has at least `least_update` bytes. Smaller gradients stay in a cache,
/// where a separate pass over them is as fast as an epilogue that also reads the moments. For example, a step of nanoGPT, whose
/// gradients have up to 256 KB, is 1 % slower if their updates move.
constexpr void move_ops_into_callees(Ir& ir, std::int64_t least_update = 1 << 20) {
  if (!ir.tables.rewrites.fuses_across_calls || !detail::may_have_repeated_graphs(ir)) return;
  detail::CallFusion(ir, least_update).run();
  if (detail::may_have_ops_before_calls(ir)) detail::OpsBeforeCalls(ir).run();
}
/// Sets whether ops after and before calls move into the called graphs when the program is planned for the host. The default is
/// true. They never move for a simulated IPU, where the arguments of a graph lie on the tiles on which its gradient graph needs
/// them.
constexpr void fuses_across_calls(Ir& ir, bool fuses) { ir.tables.rewrites.fuses_across_calls = fuses; }

}  // namespace tilewright
