#pragma once
#include <concepts>
#include <optional>

#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/print.hpp"
#include "tilewright/module/named_tensors.hpp"
#include "tilewright/program/call_inputs.hpp"
#include "tilewright/program/conditional.hpp"
#include "tilewright/program/grad_graph_info.hpp"
#include "tilewright/program/repeat.hpp"

namespace tilewright {

namespace detail {
/// Inputs of a call of which at least one is no tensor, but a number or a list of tensors.
template <class... Inputs>
concept MixedInputs = (std::constructible_from<CallInput, const Inputs&> && ...) &&
                      !(std::convertible_to<const Inputs&, Tensor> && ...);
}  // namespace detail

/// Base of callable graphs, with all forms of a call. D defines `call_with_inputs(inputs, args)` and `unbound_inputs()`.
template <class D>
class Callable {
 public:
  /// Calls the graph from the current graph, with tensors for its first inputs in order, and a map for the others.
  constexpr CallSiteInfo call_with_info(std::initializer_list<Tensor> inputs, const TensorMap& args = {}) const {
    return static_cast<const D&>(*this).call_with_inputs(Span(inputs.begin(), inputs.size()), args);
  }
  template <std::convertible_to<Tensor>... Tensors>
  constexpr CallSiteInfo call_with_info(const Tensors&... inputs) const {
    return call_with_info({Tensor(inputs)...});
  }
  constexpr CallSiteInfo call_with_info(Tensor input, const TensorMap& args) const { return call_with_info({input}, args); }
  /// Calls the graph with a map for all inputs. (A template, so that braces mean tensors.)
  template <std::same_as<TensorMap> Map>
  constexpr CallSiteInfo call_with_info(const Map& args) const {
    return static_cast<const D&>(*this).call_with_inputs({}, args);
  }
  /// Calls the graph with numbers or lists of tensors among the inputs: `call(x, 2)`, `call(weights)`. A number becomes a
  /// constant of the dtype of its input, and each tensor of a list is one input.
  template <class... Inputs>
    requires detail::MixedInputs<Inputs...>
  constexpr CallSiteInfo call_with_info(const Inputs&... inputs) const {
    const D& callable = static_cast<const D&>(*this);
    const CallInput entries[] = {inputs...};
    return callable.call_with_inputs(detail::tensors_of(callable.graph(), entries, callable.unbound_inputs()), {});
  }
  /// Calls the graph and returns the outputs. Arguments are those of call_with_info.
  template <std::convertible_to<Tensor>... Tensors>
  constexpr Outputs call(const Tensors&... inputs) const {
    return call_with_info({Tensor(inputs)...}).outputs();
  }
  constexpr Outputs call(Tensor input, const TensorMap& args) const { return call_with_info({input}, args).outputs(); }
  template <std::same_as<TensorMap> Map>
  constexpr Outputs call(const Map& args) const {
    return call_with_info(args).outputs();
  }
  template <class... Inputs>
    requires detail::MixedInputs<Inputs...>
  constexpr Outputs call(const Inputs&... inputs) const {
    return call_with_info(inputs...).outputs();
  }
};

/// A graph with parent tensors for some of its inputs, usually variables. A call passes the others, in order.
class BoundGraph : public Callable<BoundGraph> {
 public:
  constexpr BoundGraph(Graph graph, TensorMap args) : graph_(graph), args_(std::move(args)) {}

  constexpr Graph graph() const { return graph_; }
  constexpr const TensorMap& args() const { return args_; }
  /// Returns the inputs that a call must pass, in order.
  constexpr List<Tensor> unbound_inputs() const {
    List<Tensor> result;
    for (const Tensor& input : graph_.inputs())
      if (!args_.find(input)) result.push_back(input);
    return result;
  }
  /// Returns this graph with more inputs bound. New bindings replace old ones.
  [[nodiscard]] constexpr BoundGraph bind(const TensorMap& args) const {
    TensorMap all = args;
    for (const auto& [input, parent] : args_)
      if (!all.find(input)) all.insert(input, parent);
    return {graph_, all};
  }
  /// Calls the graph with tensors for the unbound inputs, in order.
  constexpr CallSiteInfo call_with_inputs(Span<const Tensor> inputs, const TensorMap& args) const {
    return tilewright::call_with_info(graph_, {}, connect(inputs, args));
  }
  /// Returns the graph with the inputs of a call, as a branch of a conditional.
  constexpr Branch branch(std::initializer_list<Tensor> inputs = {}, const TensorMap& args = {}) const {
    return {graph_, {}, connect(Span(inputs.begin(), inputs.size()), args)};
  }
  /// Returns a map from all inputs of the graph to the tensors that a call passes for them.
  constexpr TensorMap connect(Span<const Tensor> inputs, const TensorMap& args) const {
    TensorMap all = bind(args).args_;
    std::size_t next = 0, unbound = 0;
    for (const Tensor& input : graph_.inputs()) {
      if (all.find(input)) continue;
      ++unbound;
      if (next < inputs.size()) all.insert(input, inputs[next++]);
    }
    if (next < inputs.size())
      graph_.ir().fail(text("call of ", graph_.name(), ": ", inputs.size(), " tensors for ", unbound,
                            " unbound inputs: one for each expected"));
    return all;
  }
  /// Returns a map from all inputs of the graph to the tensors of connect, and from its first outputs to `outputs`, in order.
  /// Fails for more tensors than the graph has outputs, and for one of another spec.
  constexpr TensorMap subgraph_io_map(Span<const Tensor> inputs, const TensorMap& args, Span<const Tensor> outputs) const {
    TensorMap all = connect(inputs, args);
    const List<Tensor> known = graph_.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i >= known.size() || known[i].spec() != outputs[i].spec()) {
        graph_.ir().fail(text("subgraph_io_map of ", graph_.name(), ": ", to_text(outputs[i]), " for output ", i, " of ",
                              known.size(), ": one of its shape and dtype expected"));
        break;
      }
      all.insert(known[i], outputs[i]);
    }
    return all;
  }
  constexpr TensorMap subgraph_io_map(std::initializer_list<Tensor> inputs, const TensorMap& args = {},
                                      std::initializer_list<Tensor> outputs = {}) const {
    return subgraph_io_map(Span(inputs.begin(), inputs.size()), args, Span(outputs.begin(), outputs.size()));
  }

 private:
  Graph graph_;
  TensorMap args_;
};

/// Calls a bound graph `count` times, as repeat_with_info does, with tensors for the unbound inputs.
constexpr CallSiteInfo repeat_with_info(const BoundGraph& graph, std::int64_t count, std::initializer_list<Tensor> inputs = {},
                                        const TensorMap& args = {}) {
  return repeat_with_info(graph.graph(), count, {}, graph.connect(Span(inputs.begin(), inputs.size()), args));
}
constexpr CallSiteInfo repeat_with_info(const BoundGraph& graph, std::int64_t count, const detail::TensorRange auto& inputs,
                                        const TensorMap& args = {}) {
  return repeat_with_info(graph.graph(), count, {}, graph.connect(detail::list_of(inputs), args));
}
constexpr Outputs repeat(const BoundGraph& graph, std::int64_t count, std::initializer_list<Tensor> inputs = {},
                         const TensorMap& args = {}) {
  return repeat_with_info(graph, count, inputs, args).outputs();
}
constexpr Outputs repeat(const BoundGraph& graph, std::int64_t count, const detail::TensorRange auto& inputs,
                         const TensorMap& args = {}) {
  return repeat_with_info(graph, count, inputs, args).outputs();
}

/// A graph and names for some of its inputs, as create_graph makes it from a module. A gradient graph made by autodiff carries
/// its GradGraphInfo.
class GraphWithNamedArgs : public Callable<GraphWithNamedArgs> {
 public:
  constexpr GraphWithNamedArgs(Graph graph, NamedTensors args = {}, std::optional<GradGraphInfo> info = {})
      : graph_(graph), args_(std::move(args)), grad_graph_info_(std::move(info)) {}
  /// Returns a gradient graph with names for some of its inputs.
  static constexpr GraphWithNamedArgs from_grad_graph(GradGraphInfo info, NamedTensors args = {}) {
    return {info.graph(), std::move(args), std::move(info)};
  }
  /// Returns the graph and its names, without the GradGraphInfo.
  [[nodiscard]] constexpr GraphWithNamedArgs copy() const { return {graph_, args_}; }

  constexpr Graph graph() const { return graph_; }
  /// Converts to the Graph, so that call, repeat and conditional accept it. Unbound inputs are passed as for the Graph.
  constexpr operator Graph() const { return graph_; }
  constexpr Ir& ir() const { return graph_.ir(); }
  constexpr const NamedTensors& args() const { return args_; }
  /// Returns all inputs of the graph, because none is bound.
  constexpr List<Tensor> unbound_inputs() const { return graph_.inputs(); }
  constexpr GradGraphInfo grad_graph_info() const {
    if (grad_graph_info_) return *grad_graph_info_;
    if (!ir().failed()) ir().fail(text("grad_graph_info of ", graph_.name(), ": a graph made by autodiff expected"));
    return {ir(), graph_.id(), {.graph = GraphId::main}};
  }
  /// Binds the graph's named inputs to the tensors of the same names.
  constexpr BoundGraph bind(const DotTree<Tensor>& tensors) const { return {graph_, args_.to_mapping(tensors)}; }

  /// Calls the graph with tensors for the first inputs.
  constexpr CallSiteInfo call_with_inputs(Span<const Tensor> inputs, const TensorMap& args) const {
    return tilewright::call_with_info(graph_, inputs, args);
  }

  /// Returns the graph as text: its named inputs, then one line for every op.
  constexpr Text print_schedule() const {
    List<Pair<TensorId, Text>> names;
    for (const auto& [name, input] : args_.to_dict()) names.push_back({input.number(), name});
    return tilewright::print_schedule(graph_, names);
  }

 private:
  Graph graph_;
  NamedTensors args_;
  std::optional<GradGraphInfo> grad_graph_info_;
};

}  // namespace tilewright
