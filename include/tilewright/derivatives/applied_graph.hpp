#pragma once
#include <array>
#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/derivatives/results.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/transform/gradient_rules.hpp"

namespace tilewright::detail {

/// A graph, with the tensors that the current graph passes for its inputs.
struct AppliedGraph {
  Graph graph;
  List<Tensor> parents{};  ///< by input
  List<int> arguments{};  ///< by argument of the user: the number of its input; other inputs are bound
  std::size_t results = 0;  ///< number of outputs that are no activations

  constexpr Ir& ir() const { return graph.ir(); }
  constexpr TensorSpec argument_spec(std::size_t i) const { return parents[arguments[i]].spec(); }
  constexpr Tensor result(std::size_t i) const { return graph.output(static_cast<int>(i)); }
};

/// Returns whether a build_grad makes the gradient graphs of a graph for callers.
constexpr bool is_by_hand(Ir& ir, GraphId graph) { return has_build_grad(ir, graph, options_of(ir, graph).method); }
/// Returns a graph that calls the graph. A build_grad makes one gradient graph, so differentiated is the caller.
constexpr Graph graph_of_call(Graph graph) {
  Ir& ir = graph.ir();
  const Graph caller(ir, ir.tables.add_derived_graph(graph.id(), "_call"));
  const GraphScope scope(caller);
  List<Tensor> inputs;
  for (const Tensor& input : graph.inputs()) inputs.push_back(add_graph_input(ir, input.spec(), input.name()));
  const std::size_t results = graph.outputs().size() - static_cast<std::size_t>(ir.tables.record(graph.id()).activations);
  const auto outputs = call_with_info(graph, inputs).outputs();
  for (std::size_t i = 0; i < results; ++i) graph_output(outputs[i]);
  return caller;
}

/// Connects a graph with arguments: `bound` has tensors for other inputs.
constexpr AppliedGraph apply_graph(std::string_view what, Graph graph, std::span<const Tensor> arguments,
                                   const TensorMap& bound = {}) {
  Ir& ir = graph.ir();
  AppliedGraph applied{graph};
  for (const Tensor& input : graph.inputs()) {
    const Tensor* const parent = bound.find(input);
    if (!parent) applied.arguments.push_back(static_cast<int>(applied.parents.size()));
    const std::size_t number = applied.arguments.size();
    if (parent) applied.parents.push_back(*parent);
    else applied.parents.push_back(number <= arguments.size() ? arguments[number - 1] : Tensor::invalid(ir));
  }
  if (applied.arguments.size() != arguments.size() && !ir.failed())
    ir.fail(text(what, " of ", graph.name(), ": ", arguments.size(), " arguments for ", applied.arguments.size(),
                 " inputs: one for each expected"));
  if (ir.failed()) return applied;
  if (is_by_hand(ir, graph.id())) applied.graph = graph_of_call(graph);
  const GraphRecord& record = ir.tables.record(applied.graph.id());
  applied.results = record.outputs.size() - static_cast<std::size_t>(record.activations);
  return applied;
}

/// A derivative of a function, which may be that of a bound graph.
template <class F>
concept DerivativeOfFunction = requires(const F& derivative) { derivative.original(); };

/// Returns the tensors that are bound to the graph of which a function is a derivative of any order.
template <class F>
constexpr List<Tensor> bound_tensors(const F& function) {
  List<Tensor> result;
  if constexpr (std::same_as<F, BoundGraph>)
    for (const auto& [input, parent] : function.args()) result.push_back(parent);
  if constexpr (DerivativeOfFunction<F>) return bound_tensors(function.original());
  else return result;
}
/// Returns the function with other tensors bound, in the order of bound_tensors.
template <class F>
constexpr F with_bound_tensors(const F& function, const List<Tensor>& tensors) {
  if constexpr (std::same_as<F, BoundGraph>) {
    TensorMap args;
    std::size_t next = 0;
    for (const auto& [input, parent] : function.args()) args.insert(input, tensors[next++]);
    return {function.graph(), std::move(args)};
  } else if constexpr (DerivativeOfFunction<F>) {
    return function.of(with_bound_tensors(function.original(), tensors));
  } else {
    return function;
  }
}

/// Traces a derivative of a bound graph into a graph that has inputs for the bound tensors, too.
template <class F, std::size_t count>
constexpr AppliedGraph apply_derivative(std::string_view what, const F& function, const std::array<Tensor, count>& arguments) {
  Ir& ir = arguments[0].ir();
  const List<Tensor> bound = bound_tensors(function);
  const auto build = [&](const std::array<Tensor, count>& inputs, const List<Tensor>& bound_inputs) {
    const F inner = with_bound_tensors(function, bound_inputs);
    return std::apply([&inner](const auto&... input) { return inner(input...); }, inputs);
  };
  const Graph graph = ir.create_graph(build, arguments, bound);
  TensorMap map;
  for (std::size_t i = 0; i < bound.size(); ++i) map.insert(graph.input(static_cast<int>(count + i)), bound[i]);
  return apply_graph(what, graph, arguments, map);
}

/// Returns the graph of a function, module, graph or bound graph. `what` names the caller in errors.
template <class F, std::size_t count>
constexpr AppliedGraph apply_function(std::string_view what, F function, const std::array<Tensor, count>& arguments) {
  if constexpr (std::same_as<F, Graph>) {
    return apply_graph(what, function, arguments);
  } else if constexpr (std::same_as<F, GraphWithNamedArgs>) {
    return apply_graph(what, function.graph(), arguments);
  } else if constexpr (std::same_as<F, BoundGraph>) {
    return apply_graph(what, function.graph(), arguments, function.args());
  } else {
    static_assert(count > 0, "a derivative of a function without tensors: at least one argument expected");
    Ir& ir = arguments[0].ir();
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      if constexpr (ModuleReference<F>) {
        const auto [factories, graph] = tilewright::create_graph(ir, std::move(function), arguments[i]...);
        if (factories.size() > 0 && !ir.failed())
          ir.fail(text(what, " of ", graph.graph().name(), ", which has variables: ", what,
                       " of its graph, with bind(variables), expected"));
        return apply_graph(what, graph.graph(), arguments);
      } else if constexpr (DerivativeOfFunction<F>) {
        return apply_derivative(what, function, arguments);
      } else {
        return apply_graph(what, ir.create_graph(function, arguments[i]...), arguments);
      }
    }(std::make_index_sequence<count>());
  }
}

/// Returns the tensors as an array.
template <std::convertible_to<Tensor>... Tensors>
constexpr std::array<Tensor, sizeof...(Tensors)> array_of(const Tensors&... tensors) {
  return {Tensor(tensors)...};
}
template <std::size_t count>
constexpr std::array<Tensor, count> array_of(const Tensor (&tensors)[count]) {
  std::array<Tensor, count> result;
  for (std::size_t i = 0; i < count; ++i) result[i] = tensors[i];
  return result;
}

}  // namespace tilewright::detail
