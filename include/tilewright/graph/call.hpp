#pragma once
#include <span>
#include <vector>

#include "tilewright/graph/call_site.hpp"
#include "tilewright/graph/emit.hpp"

namespace tilewright {

namespace detail {
inline constexpr OpTag call_tag{};
inline constexpr OpInfo call_info{.tag = &call_tag,
                                  .name = "Call",
                                  .infer = nullptr,
                                  .differentiation = Differentiation::rule,
                                  .gradient = nullptr,
                                  .modifies = -1,
                                  .has_side_effect = false,
                                  .any_layout = false,
                                  .elementwise = false,
                                  .has_formula = false,
                                  .has_epilogue = false,
                                  .view = nullptr,
                                  .work = nullptr};

/// Whether the graph is `caller`, or calls it directly or through others.
constexpr bool leads_to(const Ir& ir, int graph, int caller) {
  if (graph == caller) return true;
  for (const auto& [above, node] : ir.record(caller).call_sites)
    if (leads_to(ir, graph, above)) return true;
  return false;
}

/// The parent tensor for every input of the graph, in order; fails for missing, extra, doubled or unfit ones.
constexpr std::vector<Tensor> bind_inputs(Ir& ir, Graph graph, std::span<const Tensor> positional, const TensorMap& args) {
  const auto inputs = graph.inputs();
  std::vector<int> position(ir.record(graph.id()).tensors.size(), -1);
  for (std::size_t i = 0; i < inputs.size(); ++i) position[static_cast<std::size_t>(inputs[i].id())] = static_cast<int>(i);
  std::vector<Tensor> parents(inputs.size());
  std::size_t next = 0;
  for (const Tensor& tensor : positional) {
    if (!tensor.valid()) return {};
    if (next == inputs.size()) {
      ir.fail(
          text("call of ", graph.name(), ": ", positional.size(), " positional inputs: at most ", inputs.size(), " expected"));
      return {};
    }
    parents[next++] = tensor;
  }
  for (const auto& [input, tensor] : args) {
    if (!input.valid() || !tensor.valid()) return {};
    const int found = graph.contains(input) ? position[static_cast<std::size_t>(input.id())] : -1;
    const auto at = static_cast<std::size_t>(found);
    if (found < 0) {
      ir.fail(text("call of ", graph.name(), ": ", to_text(input), " is not one of its inputs"));
      return {};
    }
    if (parents[at].valid()) {
      ir.fail(text("call of ", graph.name(), ": input ", to_text(input), " is given twice"));
      return {};
    }
    parents[at] = tensor;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!parents[i].valid()) {
      ir.fail(text("call of ", graph.name(), ": input ", i, ", ", to_text(inputs[i]), ", is missing: all ", inputs.size(),
                   " inputs must be given or bound"));
      return {};
    }
    if (parents[i].spec() != inputs[i].spec()) {
      ir.fail(text("call of ", graph.name(), ": ", to_text(parents[i].spec()), " for input ", i, ", ", to_text(inputs[i]), ": ",
                   to_text(inputs[i].spec()), " expected"));
      return {};
    }
  }
  return parents;
}
}  // namespace detail

/// Calls a graph from the current graph. Inputs are positional, or found by the graph's input tensors in `args`; every
/// input must be given once, with its shape and dtype, and a graph may not call itself, nor a graph that leads back to it.
/// What the called graph changes in its inputs stays inside.
constexpr CallSiteInfo call_with_info(Graph graph, std::span<const Tensor> inputs, const TensorMap& args = {}) {
  Ir& ir = graph.ir();
  if (ir.failed()) return {ir};
  if (detail::leads_to(ir, graph.id(), ir.current_graph)) {
    ir.fail(text("call of ", graph.name(), ": from ", ir.current().name, ", which ",
                 graph.id() == ir.current_graph ? "is itself" : "it leads to", ": a caller that it does not depend on expected"));
    return {ir};
  }
  const auto parents = detail::bind_inputs(ir, graph, inputs, args);
  if (ir.failed() || !detail::check_inputs(ir, detail::call_info, parents)) return {ir};
  std::vector<TensorSpec> outputs;
  outputs.reserve(ir.record(graph.id()).outputs.size());
  for (const Tensor& output : graph.outputs()) outputs.push_back(output.spec());
  const int node = append_node(ir, detail::call_info, parents, outputs, {}, graph.id());
  ir.record(graph.id()).call_sites.push_back({ir.current_graph, node});
  return {ir, ir.current_graph, node};
}
constexpr CallSiteInfo call_with_info(Graph graph, std::initializer_list<Tensor> inputs, const TensorMap& args = {}) {
  return call_with_info(graph, std::span<const Tensor>(inputs.begin(), inputs.size()), args);
}
constexpr CallSiteInfo call_with_info(Graph graph, Tensor input, const TensorMap& args = {}) {
  return call_with_info(graph, {input}, args);
}

/// As call_with_info, but returns the outputs.
constexpr Outputs call(Graph graph, std::initializer_list<Tensor> inputs, const TensorMap& args = {}) {
  return call_with_info(graph, inputs, args).outputs();
}
constexpr Outputs call(Graph graph, Tensor input, const TensorMap& args = {}) {
  return call_with_info(graph, {input}, args).outputs();
}

}  // namespace tilewright
