#pragma once
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/transform/calls/called_graph.hpp"
#include "tilewright/transform/elementwise_graph.hpp"

namespace tilewright::detail {

/// Finds the ops after every call of a graph that may move into it.
class OpsBehindCalls : protected CalledGraph {
 protected:
  constexpr OpsBehindCalls(Ir& ir, std::int64_t least_update) : CalledGraph(ir), least_update_(least_update) {}

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
  /// An op that moves, with its node at each site.
  struct PlannedOp {
    List<NodeId> nodes{};
    List<PlannedOperand> operands{};
  };
  /// Largest number of ops that move together: the last one, and those that only produce its operands.
  static constexpr std::size_t max_planned = 8;

  /// Returns whether a node calls a graph that updates a variable by a sufficiently large gradient.
  constexpr bool is_update_by(const Node& each, const TensorSpec& gradient) {
    return is_plain_call(each) && gradient.bytes() >= least_update_ && each.outputs.empty() && !each.modified.empty() &&
           is_elementwise(record(each.called_graph));
  }

  /// Plans to move the op that reads a result of the graph at each site, if nothing else reads it.
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
  /// Plans to move one op of each site, and the ops after the calls that only it needs. Returns the number of the planned op, or
  /// -1 if the ops differ, or if their operands cannot be passed to the graph.
  constexpr int plan(List<NodeId> nodes) {
    const Node& first = node(0, nodes[0]);
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
    if (known.kind == TensorKind::constant) {
      operand.source = Source::constant;
      return !operand.is_changed && is_same_constant(operand.tensors);
    }
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
  /// Plans an operand that an op produces after the call: the op moves too, if nothing else needs it.
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
  /// Plans an operand that the call can take, or already takes.
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

  std::int64_t least_update_;  // bytes of a gradient whose update moves, if that is a graph
  List<PlannedOp> planned_{};
  List<NodeId> ends_{};  // by site: the last of the nodes that move
};

}  // namespace tilewright::detail
