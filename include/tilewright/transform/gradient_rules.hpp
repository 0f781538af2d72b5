#pragma once
#include "tilewright/transform/autodiff_options.hpp"

namespace tilewright::detail {

/// Returns the rule for the gradient of a graph, or null.
constexpr const GradientRule* find_gradient_rule(const Ir& ir, GraphId graph) {
  for (const GradientRule& rule : ir.tables.functions.gradient_rules)
    if (rule.graph == graph) return &rule;
  return nullptr;
}
/// Returns whether a build_grad makes the gradient graph of a graph.
constexpr bool has_build_grad(const Ir& ir, GraphId graph, GradientMethod method) {
  if (method == GradientMethod::autodiff) return false;
  const GradientRule* rule = find_gradient_rule(ir, graph);
  return rule && rule->build_grad;
}
/// Returns whether a build_grad makes the gradient graph of a graph that a user differentiates. Fails if the options ask for one
/// that is not there, or that has been at work.
constexpr bool check_method(Ir& ir, GraphId graph, const AutodiffOptions& options) {
  const GraphRecord& record = ir.tables.record(graph);
  const bool is_by_hand = has_build_grad(ir, graph, options.method);
  if (options.method == GradientMethod::build_grad && !is_by_hand)
    ir.fail(text("autodiff of ", record.name, ": by build_grad: a graph of a module with a build_grad expected"));
  if (is_by_hand && record.gradient.graph != GraphId::none && !options.force)
    ir.fail(text("autodiff of ", record.name, ": build_grad has made ", ir.tables.record(record.gradient.graph).name,
                 ": that graph, or force, expected"));
  return is_by_hand;
}
/// Returns the options for a graph whose caller is differentiated.
constexpr AutodiffOptions options_of(Ir& ir, GraphId graph) {
  AutodiffOptions options;
  const GradientRule* rule = find_gradient_rule(ir, graph);
  if (!rule) return options;
  options.method = rule->method;
  const auto tensors = [&](const std::optional<List<TensorId>>& numbers) {
    std::optional<List<Tensor>> result;
    if (!numbers) return result;
    result.emplace();
    for (const TensorId number : *numbers) result->push_back({ir, graph, number});
    return result;
  };
  options.grads_provided = tensors(rule->provided);
  options.grads_required = tensors(rule->required);
  return options;
}

}  // namespace tilewright::detail
