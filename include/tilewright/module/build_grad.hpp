#pragma once
#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/module/graph_with_named_args.hpp"
#include "tilewright/module/module.hpp"

namespace tilewright::detail {

/// Scope in which a module and its members belong to the trace of a graph; afterwards they belong to their previous trace.
template <class M>
class Adoption {
 public:
  constexpr Adoption(M& module, ModuleTrace& trace) : module_(module), before_(module.adopted_by()) {
    adopt(module_, &trace, "");
  }
  constexpr ~Adoption() { adopt(module_, before_.first, before_.second); }
  Adoption(const Adoption&) = delete;
  Adoption& operator=(const Adoption&) = delete;

 private:
  M& module_;
  Pair<ModuleTrace*, Text> before_;
};

/// Calls f(tensor) for each tensor of a build function's result: a tensor, or a tuple, pair or range of tensors. Returns false
/// for another type.
template <class T>
constexpr bool for_each_result(const T& result, auto&& f) {
  if constexpr (std::convertible_to<const T&, Tensor>) {
    f(result);
  } else if constexpr (requires { result.begin(); }) {
    for (const Tensor& tensor : result) f(tensor);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return std::apply([&f](const auto&... tensors) { return (for_each_result(tensors, f) && ...); }, result);
  } else {
    return false;
  }
  return true;
}

/// Returns the number of tensors that a module's build_grad takes, or -1 if it does not take a fixed number of tensors.
template <class M>
constexpr int gradients_taken() {
  if constexpr (requires { &M::build_grad; }) {
    using Taken = typename ParametersOf<decltype(&M::build_grad)>::type;
    return []<class... Parameters>(std::type_identity<std::tuple<Parameters...>>) {
      return (std::same_as<Parameters, Tensor> && ...) ? static_cast<int>(sizeof...(Parameters)) : -1;
    }(std::type_identity<Taken>());
  } else {
    return -1;
  }
}

/// Appends a module's build_grad to the current graph, which is the gradient graph of `forward`.
template <class M>
constexpr GradientRule::Gradients run_build_grad(M& module, ModuleTrace& trace, Graph forward, Span<const Tensor> dy) {
  constexpr int taken = gradients_taken<M>();
  const std::string_view name = type_name<M>();
  const PathScope path(trace.ir, name);
  List<Tensor> results;
  if (static_cast<int>(dy.size()) != taken) {
    trace.ir.fail(text("build_grad of ", name, ": ", taken, " parameters for ", dy.size(),
                       " provided gradients of outputs: one for each expected"));
    return {};
  }
  const Adoption<M> adoption(module, trace);
  const auto call = [&]<std::size_t... i>(std::index_sequence<i...>) -> decltype(auto) {
    return (module.*(&M::build_grad))(dy[i]...);  // to compile it into a session, `build_grad` must be constexpr
  };
  constexpr std::make_index_sequence<static_cast<std::size_t>(taken)> indices;
  if constexpr (std::is_void_v<decltype(call(indices))>) {
    call(indices);
  } else if (!for_each_result(call(indices), [&results](Tensor result) { results.push_back(result); })) {
    trace.ir.fail(text("build_grad of ", name, ": void, a Tensor, or a tuple or range of Tensors expected as result"));
  }
  if (trace.ir.failed()) return {};
  return gradients_of_inputs(trace, name, forward, results);
}

/// Lets autodiff use a module's build_grad for the graph that the trace has made of it.
template <class M>
constexpr void add_gradient_rule(const ModuleTrace& trace, const M& module, Graph forward) {
  if constexpr (gradients_taken<M>() < 0) {
    trace.ir.fail(text("build_grad of ", type_name<M>(),
                       ", a template, overloaded, or of other parameters: one constexpr function of Tensors expected"));
  } else {
    M copy = module;
    adopt(copy, nullptr, "");
    auto run = [copy = std::move(copy), args = trace.args, aux = trace.aux, forward](ForwardValues& values,
                                                                                     Span<const Tensor> dy) mutable {
      GradientPhase phase{values};
      ModuleTrace gradient_trace{.ir = forward.ir(), .args = args, .aux = aux, .gradient = &phase};
      return run_build_grad(copy, gradient_trace, forward, dy);
    };
    trace.ir.tables.functions.gradient_rules.push_back({.graph = forward.id(), .build_grad = std::move(run)});
  }
}

/// Returns those of `known`, in their order, that are among `chosen`. Fails for another tensor; `what` names the option.
constexpr List<TensorId> chosen_among(Graph graph, std::string_view what, const List<TensorId>& known,
                                      const List<Tensor>& chosen) {
  List<TensorId> result;
  for (const TensorId number : known)
    if (has_item(chosen, Tensor(graph.ir(), graph.id(), number))) result.push_back(number);
  if (result.size() != chosen.size() && !graph.ir().failed())
    graph.ir().fail(text("call_module of ", graph.name(), ": ", chosen.size(), " tensors in ", what, ", ", result.size(),
                         " of them known to callers: each once expected"));
  return result;
}
/// Records how autodiff of callers makes the gradient graph of a graph.
constexpr void set_gradient_options(const GraphWithNamedArgs& graph, const CallModuleOptions& options) {
  Ir& ir = graph.ir();
  auto& rules = ir.tables.functions.gradient_rules;
  const GraphId id = graph.graph().id();
  if (rules.empty() || rules.back().graph != id) {
    if (options.method == GradientMethod::build_grad)
      ir.fail(text("call_module of ", graph.graph().name(), ": by build_grad: a module with a build_grad expected"));
    if (!options.grads_provided && !options.grads_required) return;
    rules.push_back({.graph = id});
  }
  rules.back().method = options.method;
  const GraphRecord& record = ir.tables.record(id);
  if (options.grads_provided)
    rules.back().provided = chosen_among(graph, "grads_provided", record.outputs, options.grads_provided(graph));
  if (options.grads_required)
    rules.back().required = chosen_among(graph, "grads_required", record.inputs, options.grads_required(graph));
}

}  // namespace tilewright::detail
