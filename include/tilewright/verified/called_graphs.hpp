#pragma once
#include <cstddef>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/lower/program/dead_code.hpp"
#include "tilewright/verified/values.hpp"

namespace tilewright::internal::proof::detail {

/// Result of a graph, or of its body, for inputs of which only the types are known.
struct CallResult {
  bool is_known = false;
  List<ValueId> inputs{};  ///< by input: what it is afterwards
  List<ValueId> outputs{};
};

/// Graphs that a proof runs once, on inputs of which only the types are known. A call then gives a value that has the names of
/// this result and of the call's inputs. Such a graph has a body, and changes only what the caller gives. Which graphs
/// have bodies is a guess, after the planner: if it is wrong, names differ, and the proof refuses the plan.
class CalledGraphs {
 public:
  constexpr explicit CalledGraphs(const Ir& ir)
      : ir_(ir), live_(find_live_code(ir)), is_seen_(ir.tables.graphs.size(), false), runs_once_(is_seen_) {
    for (const GraphId graph : live_.order)
      steps_ += live_.runs[graph] * static_cast<double>(ir.tables.record(graph).nodes.size());
  }
  /// Returns at least the number of ops of a run.
  constexpr double steps() const { return steps_; }
  constexpr void find() {
    for (std::size_t graph = 1; graph < is_seen_.size(); ++graph) visit(GraphId(graph));
  }
  constexpr bool runs_once(GraphId graph) const { return runs_once_[graph] && !live_.is_inlined(graph); }
  constexpr void run_each_call(GraphId graph) { runs_once_[graph] = false; }
  /// Returns the graph of each body that runs once; main: of other bodies.
  constexpr List<GraphId> graphs_of_bodies(const auto& plan) const {
    List<GraphId> result(plan.bodies.size(), GraphId::main);
    std::size_t body = 0;
    for (const GraphId graph : live_.order) {
      if (live_.is_inlined(graph)) continue;
      while (body < result.size() && graph != GraphId::main && plan.is_root(BodyId(body))) ++body;
      if (body == result.size()) break;
      if (graph != GraphId::main && runs_once(graph)) result[body] = graph;
      ++body;
    }
    return result;
  }
  /// Returns the types of a body's arguments. An output that no call uses has no elements.
  constexpr List<TensorSpec> arguments(GraphId graph) const {
    const GraphRecord& record = ir_.tables.record(graph);
    List<TensorSpec> result;
    for (const TensorId input : record.inputs) result.push_back(record.tensors[input].spec);
    for (std::size_t o = 0; o < record.outputs.size(); ++o)
      result.push_back(live_.outputs[graph][o] ? record.tensors[record.outputs[o]].spec : TensorSpec{{0}, uint8});
    return result;
  }
  constexpr std::size_t inputs(GraphId graph) const { return ir_.tables.record(graph).inputs.size(); }

 private:
  constexpr bool visit(GraphId graph) {
    if (std::exchange(is_seen_[graph], true)) return runs_once_[graph];
    bool runs_once = true;
    for (const TensorRecord& tensor : ir_.tables.record(graph).tensors)
      runs_once = runs_once && tensor.kind != TensorKind::variable;
    for (const Node& node : ir_.tables.record(graph).nodes) {
      const bool moves = node.op->transfer && node.op->transfer(node.attributes).kind != TransferKind::code;
      runs_once = runs_once && !moves && (!node.op->has_side_effect || node.op->modifies >= 0 || node.op->transfer);
      tilewright::detail::for_each_callee(node, [&](GraphId called, int) { runs_once = visit(called) && runs_once; });
    }
    return runs_once_[graph] = runs_once;
  }

  const Ir& ir_;
  LiveCode live_;
  List<bool, GraphId> is_seen_, runs_once_;  // runs_once_: also of graphs that are inlined
  double steps_ = 0;
};

}  // namespace tilewright::internal::proof::detail
