#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/rules/ipu/rules_of_ops.hpp"

namespace tilewright {

namespace detail {
/// Fails unless each proportion is a number from 0 to 1; the error names `what`.
constexpr bool check_proportions(Ir& ir, std::string_view what, const List<double>& proportions) {
  for (std::size_t ipu = 0; ipu < proportions.size(); ++ipu)
    if (!(proportions[ipu] >= 0 && proportions[ipu] <= 1))
      ir.fail(text(what, ": ", number_text(proportions[ipu]), " for IPU ", ipu, ": a number from 0 to 1 expected"));
  return !ir.failed();
}
/// Sets the proportions of the ops of a graph. Fails for an op on an IPU without one; the error names `what`.
constexpr void set_proportions(Ir& ir, std::string_view what, GraphRecord& graph, const List<double>& proportions) {
  for (Node& node : graph.nodes) {
    const auto with_proportion = ipu_rules_of(*node.op).with_memory_proportion;
    if (!with_proportion) continue;
    const auto ipu = static_cast<std::size_t>((std::max)(node.placement.ipu, 0));
    if (ipu >= proportions.size()) {
      ir.fail(text(what, ": ", proportions.size(), " numbers, and ", node.op->name, ".", node.id, " on IPU ", ipu,
                   ": one for each IPU expected"));
      return;
    }
    node.attributes = with_proportion(node.attributes, proportions[ipu]);
  }
}
}  // namespace detail

/// Sets the available_memory_proportion of all matrix products, convolutions and transposed convolutions of the program that
/// exist so far, also of those in gradient graphs: `proportions[i]` for ops on IPU i. Ops that are made later keep theirs. On a
/// simulated IPU, the number changes the plan as in MatMulOptions; on the host, and for all results, it has no effect.
///
///     tw::set_available_memory_proportion_by_ipu(ir, {0.3, 0.6});
///
/// Fails for numbers that are not from 0 to 1, and for an op on an IPU without a number.
constexpr void set_available_memory_proportion_by_ipu(Ir& ir, const List<double>& proportions) {
  constexpr std::string_view what = "set_available_memory_proportion_by_ipu";
  if (ir.failed() || !detail::check_proportions(ir, what, proportions)) return;
  for (GraphRecord& graph : ir.tables.graphs)
    if (!ir.failed()) detail::set_proportions(ir, what, graph, proportions);
}
/// Sets the available_memory_proportion of the ops of one graph, without those of the graphs that it calls, as
/// set_available_memory_proportion_by_ipu does for all graphs. Errors are the same.
constexpr void set_graph_available_memory_proportion_by_ipu(Graph graph, const List<double>& proportions) {
  constexpr std::string_view what = "set_graph_available_memory_proportion_by_ipu";
  Ir& ir = graph.ir();
  if (ir.failed() || !detail::check_proportions(ir, what, proportions)) return;
  detail::set_proportions(ir, what, ir.tables.record(graph.id()), proportions);
}

}  // namespace tilewright
