#pragma once
#include <array>
#include <concepts>
#include <string_view>
#include <utility>

#include "tilewright/derivatives/forward_graph.hpp"
#include "tilewright/derivatives/grad.hpp"
#include "tilewright/derivatives/linearize.hpp"

namespace tilewright {

namespace detail {

/// Returns whether a graph, or one that it calls, changes a tensor in place.
constexpr bool changes_in_place(const Ir& ir, GraphId graph) {
  return any_node(ir, graph, [](const Node& node) { return node.op->modifies >= 0 || !node.modified.empty(); });
}

/// Returns the results of a call, and their tangents.
constexpr std::pair<Results, Results> call_forward(std::string_view what, const AppliedGraph& applied,
                                                   std::span<const Tensor> tangents) {
  Ir& ir = applied.ir();
  std::pair<Results, Results> result{ir, ir};
  check_tangents(applied, what, tangents);
  if (ir.failed()) return result;
  if (changes_in_place(ir, applied.graph.id())) {
    const LinearCall call(call_and_differentiate(applied, all_numbers(tangents.size())));
    return {call.forward().results, call.call(List<Tensor>(tangents.begin(), tangents.end()))};
  }
  const std::size_t inputs = applied.parents.size();
  ForwardOptions options{List<bool>(inputs, false), {}, {0, 0, inputs}, {0, applied.results}};
  List<Tensor> arguments = applied.parents;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!is_floating_point(tangents[i].dtype())) continue;
    options.active[applied.arguments[i]] = true;
    arguments.push_back(tangents[i]);
  }
  for (std::size_t i = 0; i < applied.results; ++i) options.wanted.push_back(true);
  KnownForwardGraphs known;
  const ForwardGraph forward = forward_graph(ir, applied.graph.id(), options, known);
  if (ir.failed()) return result;
  const Outputs outputs = tilewright::call_with_info(ir.graph(forward.graph), arguments).outputs();
  List<Tensor> values, of_results;
  for (std::size_t i = 0; i < applied.results; ++i) {
    values.push_back(outputs[i]);
    of_results.push_back(outputs[applied.results + i]);
  }
  return {Results(ir, std::move(values)), Results(ir, std::move(of_results))};
}

template <class F, std::size_t count>
constexpr std::pair<Results, Results>&& call_function_forward(std::string_view what, F function,
                                                              const std::array<Tensor, count>& arguments,
                                                              std::span<const Tensor> tangents) {
  const AppliedGraph applied = apply_function(what, std::move(function), arguments);
  return keep(applied.ir(), call_forward(what, applied, tangents));
}

}  // namespace detail

/// Calls a function in forward mode: `const auto [y, dy] = tw::jvp(f, {x, w}, {dx, dw})` gives its results, and their tangents at
/// x, w along dx, dw. Each op is followed by its tangents, so nothing is stored for later. A result that depends on no argument
/// gets zeros. The function is as for vjp. A function that changes tensors in place is differentiated by linearize. Errors: a
/// tangent of another shape or dtype than its argument; an op without a derivative.
template <class F, std::size_t count>
  requires(count > 1)
[[nodiscard]] TILEWRIGHT_KEPT constexpr std::pair<Results, Results>&& jvp(F function, const Tensor (&arguments)[count],
                                                                          const Tensor (&tangents)[count]) {
  return detail::call_function_forward("jvp", std::move(function), detail::array_of(arguments), tangents);
}
template <class F>
[[nodiscard]] TILEWRIGHT_KEPT constexpr std::pair<Results, Results>&& jvp(F function, Tensor argument, Tensor tangent) {
  return detail::call_function_forward("jvp", std::move(function), std::array{argument}, {&tangent, 1});
}

/// Returns the product of the Hessian of a function with a vector, forward over reverse: `tw::hvp(f, x, v)` is the tangent along
/// v of grad(f) at x. With several arguments, `tw::hvp(f, {x, w}, {v, u})` is an array, with zeros for integers. Errors: those of
/// grad and jvp.
template <class F, std::size_t count>
  requires(count > 1)
[[nodiscard]] constexpr std::array<Tensor, count> hvp(F function, const Tensor (&arguments)[count],
                                                      const Tensor (&tangents)[count]) {
  const detail::Gradient<F, detail::AllArguments<count>, false> gradient(std::move(function), {});
  return detail::call_function_forward("hvp", gradient, detail::array_of(arguments), tangents).second.template as<count>();
}
template <class F>
[[nodiscard]] constexpr Tensor hvp(F function, Tensor argument, Tensor tangent) {
  return detail::call_function_forward("hvp", grad(std::move(function)), std::array{argument}, {&tangent, 1}).second;
}

}  // namespace tilewright
