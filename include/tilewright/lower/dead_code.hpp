#pragma once
#include <algorithm>
#include <vector>

#include "tilewright/ops/remote_code_load.hpp"

namespace tilewright {

/// What of a program can change its results: everything else is dropped before it is planned.
struct LiveCode {
  std::vector<int> order{};                  ///< graphs that are called, each before the graphs that it calls
  std::vector<std::vector<char>> nodes{};    ///< by graph and node
  std::vector<std::vector<char>> outputs{};  ///< by graph and output: whether some call uses it
  std::vector<int> calls{};                  ///< by graph: live calls of it
  std::vector<char> is_loaded{};             ///< by graph: whether remote_code_load brings its code

  /// Graphs that are called only once become part of their caller, unless their code comes and goes.
  constexpr bool is_inlined(int graph) const {
    return calls[static_cast<std::size_t>(graph)] == 1 && is_loaded[static_cast<std::size_t>(graph)] == 0;
  }
};

namespace detail {
class DeadCode {
 public:
  constexpr explicit DeadCode(const Ir& ir) : ir_(ir), visited_(ir.graphs.size(), 0), effects_(ir.graphs.size(), 0) {
    live_.calls.assign(ir.graphs.size(), 0);
    live_.is_loaded.assign(ir.graphs.size(), 0);
    for (const auto& graph : ir.graphs) {
      live_.nodes.push_back(std::vector<char>(graph.nodes.size(), 0));
      live_.outputs.push_back(std::vector<char>(graph.outputs.size(), 0));
    }
  }
  constexpr LiveCode run() {
    visit(0);
    std::ranges::reverse(live_.order);
    for (std::size_t i = 0; i < live_.order.size(); ++i) mark(live_.order[i]);
    std::erase_if(live_.order, [this](int graph) { return graph != 0 && live_.calls[at(graph)] == 0; });
    return std::move(live_);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// Depth first: callees come before their callers in `order`, and tell whether they have side effects.
  constexpr void visit(int graph) {
    if (visited_[at(graph)] != 0) return;
    visited_[at(graph)] = 1;
    for (const Node& node : ir_.record(graph).nodes) {
      if (node.op->has_side_effect) effects_[at(graph)] = 1;
      if (node.called_graph < 0) continue;
      visit(node.called_graph);
      if (effects_[at(node.called_graph)] != 0) effects_[at(graph)] = 1;
    }
    live_.order.push_back(graph);
  }
  constexpr void mark(int graph) {
    if (graph != 0 && live_.calls[at(graph)] == 0) return;
    const GraphRecord& record = ir_.record(graph);
    std::vector<char> needed(record.tensors.size(), 0);
    for (std::size_t i = 0; i < record.outputs.size(); ++i)
      if (live_.outputs[at(graph)][i] != 0) needed[at(record.outputs[i])] = 1;
    for (std::size_t n = record.nodes.size(); n-- > 0;) {
      const Node& node = record.nodes[n];
      bool lives = node.op->has_side_effect || node.op->modifies >= 0 ||
                   (node.called_graph >= 0 && effects_[at(node.called_graph)] != 0);
      for (int output : node.outputs) lives = lives || needed[at(output)] != 0;
      if (!lives) continue;
      live_.nodes[at(graph)][n] = 1;
      for (int input : node.inputs) needed[at(input)] = 1;
      if (node.op == &op_info<RemoteCodeLoad>)
        live_.is_loaded[static_cast<std::size_t>(unpack<CodeLoadAttributes>(node.attributes).graph)] = 1;
      if (node.called_graph < 0) continue;
      ++live_.calls[at(node.called_graph)];
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (needed[at(node.outputs[i])] != 0) live_.outputs[at(node.called_graph)][i] = 1;
    }
  }

  const Ir& ir_;
  LiveCode live_{};
  std::vector<char> visited_;
  std::vector<char> effects_;
};
}  // namespace detail

/// Finds the ops that side effects and used results depend on, through calls. An output of a called graph is live if any
/// call uses it. Linear in ops and tensors.
constexpr LiveCode find_live_code(const Ir& ir) { return detail::DeadCode(ir).run(); }

}  // namespace tilewright
