#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tilewright/core/figures/module_figures.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/lower/memory/fault_sites.hpp"
#include "tilewright/lower/products/product_blocks.hpp"
#include "tilewright/lower/program/dead_code.hpp"
#include "tilewright/ops/nn/attention.hpp"
#include "tilewright/transform/prepare.hpp"

namespace tilewright {

/// Floating-point operations (FLOPs) of one op: a multiplication and an addition count as two.
struct OpFlops {
  std::string_view op{};   ///< type of the op, as print_schedule shows it
  int id = 0;              ///< number of the op, as print_schedule shows it
  Text module{};           ///< graph and name scopes where the op was traced: `Net_subgraph(0)/fc1`
  std::int64_t times = 0;  ///< executions while the graph runs once
  std::int64_t flops = 0;  ///< of one execution
  /// FLOPs of one execution that compute a forward result again, in addition: the scores in the gradient of attention
  std::int64_t recomputed = 0;
};

/// FLOPs of a graph, by op and by module. Sums beyond 64 bits stay at the largest number.
class GraphFlops {
 public:
  constexpr explicit GraphFlops(List<OpFlops> ops) : ops_(std::move(ops)) {}

  /// Returns the ops that have FLOPs, callers before callees.
  constexpr const List<OpFlops>& ops() const { return ops_; }
  /// Returns the FLOPs by module, for all executions.
  constexpr ModuleFigures modules() const {
    ModuleFigures result;
    for (const OpFlops& op : ops_) result.add(op.module.view(), detail::bounded_product(op.times, op.flops));
    return result;
  }
  /// Returns the FLOPs of all ops, for all executions.
  constexpr std::int64_t total() const { return sum_of(&OpFlops::flops); }
  /// Returns the FLOPs of all executions that compute forward results again. They are not part of total(), but of
  /// CycleUse::flops.
  constexpr std::int64_t recomputed() const { return sum_of(&OpFlops::recomputed); }

 private:
  constexpr std::int64_t sum_of(std::int64_t OpFlops::* figure) const {
    std::int64_t sum = 0;
    for (const OpFlops& op : ops_) sum = detail::bounded_sum(sum, detail::bounded_product(op.times, op.*figure));
    return sum;
  }

  List<OpFlops> ops_;
};

namespace detail {

/// Returns the FLOPs of one of attention's products: of queries, keys and width.
constexpr std::int64_t attention_product(const TensorSpec& queries, const TensorSpec& keys) {
  return 2 * queries.shape.nelms() * keys.shape[-2];
}
constexpr bool computes_scores_again(const OpInfo& op) { return op.tag == &op_tag<ScaledDotProductAttentionGrad>; }
/// Returns the FLOPs of one execution of an op on these inputs and outputs.
constexpr std::int64_t flops_of(const OpInfo& op, std::span<const TensorSpec> operands, std::size_t inputs,
                                const PackedAttributes& attributes) {
  if (op.expand) {
    std::int64_t sum = 0;
    List<TensorSpec> known;
    for (const TensorSpec& input : operands.first(inputs)) known.push_back(input);
    const List<OpPart> parts = op.expand(operands, static_cast<int>(inputs), attributes);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      List<TensorSpec> of_part;
      for (const int input : parts[p].inputs) of_part.push_back(known[static_cast<std::size_t>(input)]);
      const auto outputs = p + 1 == parts.size() ? operands.subspan(inputs)
                                                 : std::span<const TensorSpec>(parts[p].outputs.data(), parts[p].outputs.size());
      for (const TensorSpec& output : outputs) of_part.push_back(output), known.push_back(output);
      sum += flops_of(*parts[p].op, {of_part.data(), of_part.size()}, parts[p].inputs.size(), parts[p].attributes);
    }
    if (!parts.empty()) return sum;
  }
  if (op.vertex_cost.formula == CostFormula::pairs)
    return (op.vertex_cost.passes - computes_scores_again(op)) * attention_product(operands[0], operands[1]);
  if ((op.work_kind != WorkKind::product && op.work_kind != WorkKind::convolution) || inputs != 2 || operands.size() != 3)
    return 0;
  const Work work = work_of(op, operands, static_cast<int>(inputs), attributes);
  return 2 * internal::detail::problem_of(op, operands, work, float32, cpu).macs();
}

/// Counts the FLOPs of a graph and of the graphs that it calls. Linear in their ops.
class FlopCounter {
 public:
  constexpr FlopCounter(const Ir& ir, GraphId root)
      : ir_(ir), live_(internal::find_live_code(ir, root)), totals_(ir.tables.graphs.size(), 0), times_(totals_.size(), 0) {
    times_[root] = 1;
  }
  constexpr GraphFlops run() {
    for (std::size_t i = live_.order.size(); i-- > 0;) add_total(live_.order[i]);
    for (const GraphId graph : live_.order)
      if (times_[graph] > 0) add_ops(graph);
    return GraphFlops(std::move(ops_));
  }

 private:
  /// Computes the FLOPs of one execution of a graph, whose callees are known.
  constexpr void add_total(GraphId graph) {
    const GraphRecord& record = ir_.tables.record(graph);
    for (std::size_t n = 0; n < record.nodes.size(); ++n) {
      const Node& node = record.nodes[NodeId(n)];
      if (!live_.nodes[graph][NodeId(n)]) continue;
      const GraphId called = called_by(node);
      const std::int64_t flops = called == GraphId::none ? flops_of_node(record, node)
                                                         : bounded_product(calls_of(node), totals_[called]);
      totals_[graph] = bounded_sum(totals_[graph], flops);
    }
  }
  /// Adds a graph's ops, and its executions to those of its callees. All executions of the graph are known.
  constexpr void add_ops(GraphId graph) {
    const GraphRecord& record = ir_.tables.record(graph);
    for (std::size_t n = 0; n < record.nodes.size(); ++n) {
      const Node& node = record.nodes[NodeId(n)];
      if (!live_.nodes[graph][NodeId(n)]) continue;
      if (const GraphId called = called_by(node); called != GraphId::none)
        times_[called] = bounded_sum(times_[called], bounded_product(calls_of(node), times_[graph]));
      else if (const std::int64_t flops = flops_of_node(record, node); flops > 0)
        ops_.push_back({node.op->name, node.id, internal::detail::place_in_model(ir_, graph, node.scope), times_[graph], flops,
                        recomputed(graph, node)});
    }
  }
  /// Returns the graph that a node calls: of a conditional's graphs, the one with more FLOPs, as in CycleUse::flops.
  constexpr GraphId called_by(const Node& node) const {
    const bool takes_else = node.else_graph != GraphId::none && totals_[node.else_graph] > totals_[node.called_graph];
    return takes_else ? node.else_graph : node.called_graph;
  }
  static constexpr std::int64_t calls_of(const Node& node) {
    return is_loop(node) ? unpack<LoopAttributes>(node.attributes).count : 1;
  }
  static constexpr std::int64_t flops_of_node(const GraphRecord& record, const Node& node) {
    List<TensorSpec> operands;
    for (const auto* tensors : {&node.inputs, &node.outputs})
      for (const TensorId tensor : *tensors) operands.push_back(record.tensors[tensor].spec);
    return flops_of(*node.op, {operands.data(), operands.size()}, node.inputs.size(), node.attributes);
  }
  constexpr std::int64_t recomputed(GraphId graph, const Node& node) const {
    if (!computes_scores_again(*node.op)) return 0;
    const auto& tensors = ir_.tables.record(graph).tensors;
    return attention_product(tensors[node.inputs[0]].spec, tensors[node.inputs[1]].spec);
  }

  const Ir& ir_;
  internal::LiveCode live_;
  List<std::int64_t, GraphId> totals_;  // FLOPs of one execution
  List<std::int64_t, GraphId> times_;  // executions
  List<OpFlops> ops_;
};

}  // namespace detail

/// Counts the floating-point operations of one execution of a graph, through calls and loops. Matrix products, convolutions and
/// attention count: two operations for each multiplication with its addition. All other ops count as 0, as in CycleUse::flops and
/// in popxl.addons. Attention counts all scores, also those that a causal mask hides; its gradient has 4 products, and a fifth
/// one that counts as recomputed. Of a conditional, the branch with more counts. Ops whose results nothing uses do not count,
/// since a plan drops them. In the main graph, stores to the host and updates of variables use results; in other graphs, outputs
/// do as well.
///
///     const auto flops = tw::evaluate_flops(graph);
///     std::cout << tw::print_figures(flops.modules(), "FLOPs");
constexpr GraphFlops evaluate_flops(Graph graph) {
  if (graph.ir().failed() || graph.id() == GraphId::none) return GraphFlops({});
  return detail::FlopCounter(graph.ir(), graph.id()).run();
}
/// Returns the FLOPs of one run of a program on all replicas.
constexpr std::int64_t total_flops(Ir& ir) {
  return detail::bounded_product(ir.replication_factor(), evaluate_flops(ir.main_graph()).total());
}

namespace detail {
/// Traces and prepares a program, as a session does, and counts the FLOPs of its main graph.
template <class Build>
constexpr GraphFlops flops_of_program(const Build& build, const Target& target) {
  Ir ir;
  trace_for(target, build, ir);
  const Prepared prepared = prepare(std::move(ir), target);
  return FlopCounter(prepared.ir(), GraphId::main).run();
}
}  // namespace detail

/// FLOPs of one run of a program on one replica, as a constant. An error of the program is a compile error.
///
///     static_assert(tw::flops<train_step> < 1'000'000'000);
template <auto build, Target target = cpu>
inline constexpr std::int64_t flops = detail::flops_of_program(build, target).total();
/// FLOPs of one run of a program's module and of all modules inside it, on one replica. The path is that of the table.
///
///     static_assert(tw::module_flops<train_step, "Net_subgraph(0)/fc1"> == 2 * 8 * 784 * 512);
template <auto build, NameText module, Target target = cpu>
inline constexpr std::int64_t module_flops = detail::flops_of_program(build, target).modules().of(module.view());

}  // namespace tilewright
