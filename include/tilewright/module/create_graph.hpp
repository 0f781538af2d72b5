#pragma once
#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/module/build_grad.hpp"
#include "tilewright/module/graph_with_named_args.hpp"

namespace tilewright {

namespace detail {

/// Marks the results of a build function as outputs: a tensor, or a tuple, pair or range of tensors. Fails for another type.
template <class T>
constexpr void graph_outputs(Ir& ir, const T& result) {
  if (!for_each_result(result, [](Tensor tensor) { graph_output(tensor); }))
    ir.fail("build: void, a Tensor, or a tuple or range of Tensors expected as result");
}

/// Returns the class's name, or the one that the class states; "" for functions and lambdas.
template <class Build>
constexpr std::string_view build_name() {
  if constexpr (requires { Build::traced_name; }) return Build::traced_name;
  else if constexpr (!std::is_class_v<Build>) return "graph";
  else return type_name<Build>().empty() ? "graph" : type_name<Build>();
}

/// Returns whether a function, neither a template nor overloaded, has `count` parameters.
template <class Build, std::size_t count>
constexpr bool takes() {
  using Parameters = typename decltype(parameters_of<Build>())::type;
  if constexpr (std::is_void_v<Parameters>) return false;
  else return std::tuple_size_v<Parameters> == count;
}

/// Traces a module or a function into a new graph. A module is traced in place, so values that its build stores in members
/// remain.
template <class Build, class... Arguments>
constexpr Graph trace_graph(Ir& ir, Build& build, const Arguments&... arguments) {
  using Type = std::remove_cvref_t<Build>;
  const Graph graph(ir, ir.tables.add_graph(build_name<Type>()));
  const GraphScope scope(graph);
  const PathScope path(ir, build_name<Type>());
  const int scope_outside = std::exchange(ir.tables.current_scope, -1);
  std::optional<InSequence> ordered;
  if constexpr (runs_in_sequence<Type>()) ordered.emplace(ir);
  // Each call here stands in each error of a build, so there are few; of a lambda without a name Clang shows all lines.
  const auto trace_build = [&]<std::size_t... i>(std::index_sequence<i...>) {
    using Inputs = std::tuple<decltype(graph_argument<typename Parameter<Type, i>::type>(ir, arguments))...>;
    const Inputs inputs{graph_argument<typename Parameter<Type, i>::type>(ir, arguments)...};  // in braces: from left to right
    const auto built = [&]() -> decltype(auto) {
      if constexpr (std::derived_from<Type, ModuleBase>) return call_build(build, std::get<i>(inputs)...);
      else if constexpr (requires { build.build(std::get<i>(inputs)...); }) return build.build(std::get<i>(inputs)...);
      else if constexpr (takes<Type, sizeof...(i)>() || std::invocable<Build&, const std::tuple_element_t<i, Inputs>&...>)
        return build(std::get<i>(inputs)...);
      else
        return ir.fail(text("create_graph: a function that does not take ", sizeof...(i),
                            " arguments of these types: one with a parameter for each, whose body compiles, expected"));
    };
    if constexpr (std::is_void_v<decltype(built())>) built();
    else graph_outputs(ir, built());
  };
  trace_build(std::index_sequence_for<Arguments...>());
  ir.tables.current_scope = scope_outside;
  return graph;
}

}  // namespace detail

/// Result of create_graph: factories for the variables, and the graph with its named inputs for them.
struct CreatedGraph {
  NamedVariableFactories factories;
  GraphWithNamedArgs graph;
};

namespace detail {
/// Traces a module that belongs to the trace.
template <class M, class... Arguments>
constexpr CreatedGraph trace_adopted(ModuleTrace& trace, M& module, const Arguments&... arguments) {
  const Graph graph = trace_graph(trace.ir, module, arguments...);
  if constexpr (HasBuildGrad<M>) add_gradient_rule(trace, module, graph);
  return {std::move(trace.factories), {graph, std::move(trace.args)}};
}
template <class M>
concept ModuleReference = std::derived_from<std::remove_cvref_t<M>, ModuleBase>;
}  // namespace detail

/// Traces a module into a new graph. Every Tensor or TensorSpec argument becomes an input of the graph (tensors serve as
/// descriptions only); other arguments are passed to `build`. The results become the graph's outputs. Values that `build` stores
/// in members remain in the module. If the module is temporary or const, a copy is traced instead.
template <detail::ModuleReference M, class... Arguments>
TILEWRIGHT_KEPT constexpr CreatedGraph&& create_graph(Ir& ir, M&& module, const Arguments&... arguments) {
  detail::ModuleTrace trace{ir};
  if constexpr (std::is_const_v<std::remove_reference_t<M>>) {
    auto copy = module;
    detail::adopt(copy, &trace, "");
    return detail::keep(ir, detail::trace_adopted(trace, copy, arguments...));
  } else if constexpr (std::is_lvalue_reference_v<M>) {
    const detail::Adoption adoption(module, trace);
    return detail::keep(ir, detail::trace_adopted(trace, module, arguments...));
  } else {  // nobody can use a temporary afterwards
    detail::adopt(module, &trace, "");
    return detail::keep(ir, detail::trace_adopted(trace, module, arguments...));
  }
}
template <detail::ModuleReference M, class... Arguments>
TILEWRIGHT_KEPT constexpr CreatedGraph&& create_graph(M&& module, const Arguments&... arguments) {
  static_assert(detail::has_tensor<Arguments...>,
                "create_graph: no argument is a Tensor: create_graph(ir, module, ...) expected");
  if constexpr (detail::has_tensor<Arguments...>) {
    Ir* ir = detail::find_ir(arguments...);
    if (!ir) TW_THROW TraceError("create_graph: all ranges of tensors are empty: create_graph(ir, module, ...) expected");
    return create_graph(*ir, std::forward<M>(module), arguments...);
  }
}

namespace detail {
/// Appends the tensors of an argument, in the order in which create_graph adds inputs for them.
template <class T>
constexpr void append_tensors(List<Tensor>& tensors, const T& argument) {
  if constexpr (std::derived_from<T, Tensor>) {
    tensors.push_back(argument);
  } else if constexpr (TensorRange<T>) {
    for (const Tensor& tensor : argument) tensors.push_back(tensor);
  } else if constexpr (std::same_as<T, NumberOrTensor>) {
    if (argument.tensor) tensors.push_back(*argument.tensor);
  } else if constexpr (ParameterStruct<T>) {
    for_each_member(argument, [&tensors](const auto& member) { append_tensors(tensors, member); });
  }
}
}  // namespace detail

template <class M, class... Arguments>
  requires std::derived_from<std::remove_cvref_t<M>, ModuleBase>
constexpr Outputs ModuleBase::call_module(M&& module, const CallModuleOptions& options, const Arguments&... arguments) {
  Ir& ir = this->ir();
  Text name = options.name;  // a copy: the module gets another name while its graph is made
  if (name.empty()) name = name_of(module);
  if (name.empty()) name = type_name<std::remove_cvref_t<M>>();
  const auto [factories, graph] = tilewright::create_graph(ir, module, arguments...);
  detail::set_gradient_options(graph, options);
  if (calls_ <= 1 && factories.size() > 0 && trace().args.contains(dotted(prefix_.view(), name.view()).view()))
    ir.fail(
        text("call_module: '", name, "' has variables: another name, or several calls of one graph of create_graph, expected"));
  List<Tensor> inputs;
  (detail::append_tensors(inputs, arguments), ...);
  const NamedTensors variables = add_variable_inputs(name.view(), factories);
  return graph.bind(variables).call_with_inputs({inputs.data(), inputs.size()}, {}).outputs();
}

template <class D>
template <class... Arguments>
constexpr decltype(auto) Module<D>::create_graph(const Arguments&... arguments) const {
  return tilewright::create_graph(static_cast<const D&>(*this), arguments...);
}
template <class D>
template <class... Arguments>
constexpr decltype(auto) Module<D>::create_graph(Ir& ir, const Arguments&... arguments) const {
  return tilewright::create_graph(ir, static_cast<const D&>(*this), arguments...);
}

template <class Build, class... Arguments>
constexpr Graph Ir::create_graph(Build&& build, const Arguments&... arguments) {
  if constexpr (detail::ModuleReference<Build>)
    return tilewright::create_graph(*this, std::forward<Build>(build), arguments...).graph.graph();
  else return detail::trace_graph(*this, build, arguments...);
}

}  // namespace tilewright
