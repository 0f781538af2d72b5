#pragma once
#include <tuple>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/module/create_graph.hpp"

namespace tilewright {

namespace detail {
template <class...>
inline constexpr char type_identity_of{};
template <auto function>
struct FunctionIdentity {};
/// Kind of an argument of type T in a cache's key: one for tensors and specs, one for all numbers.
template <class T>
using KindOfArgument =
    std::conditional_t<std::derived_from<T, Tensor>, TensorSpec, std::conditional_t<std::is_arithmetic_v<T>, double, T>>;
}  // namespace detail

/// Creates each graph once. create_graph with an equal module and arguments of equal shapes, dtypes, meta shapes and IPUs, in a
/// scope of the same IPU and mode, returns the same graph, but new factories for the variables. Modules are equal if their types
/// and their keys are. A module whose graph depends on data members needs a member `constexpr std::int64_t cache_key() const`.
/// Other arguments are numbers, enumerations, and Boost.Hana structs or trees of these, and are compared by value, or they are
/// graphs and bound graphs: equal ones are the same graph, bound to the same tensors. A module with a build_grad is an error. One
/// cache serves one Ir.
class GraphCache {
 public:
  template <std::derived_from<ModuleBase> M, class... Arguments>
  TILEWRIGHT_KEPT constexpr CreatedGraph&& create_graph(Ir& ir, const M& module, const Arguments&... arguments) {
    if constexpr (detail::HasBuildGrad<M>)
      ir.fail(text("GraphCache: ", type_name<M>(), " has a build_grad: create_graph, for a graph of its own, expected"));
    Key key{&ir, &detail::type_identity_of<M, detail::KindOfArgument<Arguments>...>};
    add_module(key, module);
    return detail::keep(
        ir, find_or_trace(std::move(key), [&] { return tilewright::create_graph(ir, module, arguments...); }, arguments...));
  }
  template <std::derived_from<ModuleBase> M, class... Arguments>
  TILEWRIGHT_KEPT constexpr CreatedGraph&& create_graph(const M& module, const Arguments&... arguments) {
    return create_graph(ir_of(arguments...), module, arguments...);
  }
  /// Returns the graph of a function, or of a lambda without captures, `cache.create_graph<function>(x)`.
  template <auto function, class... Arguments>
  constexpr Graph create_graph(Ir& ir, const Arguments&... arguments) {
    Key key{&ir, &detail::type_identity_of<detail::FunctionIdentity<function>, detail::KindOfArgument<Arguments>...>};
    const auto trace = [&]() -> CreatedGraph { return {{}, GraphWithNamedArgs(ir.create_graph(function, arguments...))}; };
    return find_or_trace(std::move(key), trace, arguments...).graph.graph();
  }
  template <auto function, class... Arguments>
  constexpr Graph create_graph(const Arguments&... arguments) {
    return create_graph<function>(ir_of(arguments...), arguments...);
  }
  /// Returns the number of different graphs.
  constexpr std::size_t size() const { return entries_.size(); }

 private:
  struct Key {
    const Ir* ir;
    const char* kinds;  ///< identity of the types of the module and the arguments
    List<TensorSpec> specs{};
    List<double> numbers{};
    constexpr bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    CreatedGraph graph;
  };
  /// Returns the graph of a key, which is still without the arguments.
  template <class... Arguments>
  constexpr CreatedGraph find_or_trace(Key key, const auto& trace, const Arguments&... arguments) {
    const IrTables& tables = key.ir->tables;
    if (tables.has_placements) add(key, tables.current_placement);
    key.numbers.push_back(tables.current_mode ? static_cast<double>(*tables.current_mode) : -1);
    (add(key, arguments), ...);
    for (const auto& [known, graph] : entries_)
      if (known == key) return graph;
    entries_.push_back({std::move(key), trace()});
    return entries_.back().graph;
  }
  template <class... Arguments>
  static constexpr Ir& ir_of(const Arguments&... arguments) {
    if (Ir* ir = detail::find_ir(arguments...)) return *ir;
    TW_THROW TraceError("GraphCache: no argument is a Tensor: create_graph(ir, module, ...) expected");
  }
  template <class M>
  static constexpr void add_module(Key& key, const M& module) {
    if constexpr (requires { module.cache_key(); }) key.numbers.push_back(static_cast<double>(module.cache_key()));
    if constexpr (detail::IsModuleList<M>)
      std::apply([&key](const auto&... elements) { (add_module(key, elements), ...); }, module.modules);
  }
  /// Returns the index of a shard's meta shape, or -1. It is part of the key because the graph's input gets the meta shape.
  static constexpr double meta_shape(const Key& key, const Tensor& tensor) {
    return tensor.valid() && tensor.is_of(*key.ir) ? key.ir->tables.record(tensor.graph_id()).tensors[tensor.number()].meta_shape
                                                   : -1;
  }
  static constexpr void add_identity(Key& key, const Tensor& tensor) {
    key.numbers.push_back(static_cast<double>(tensor.graph_id()));
    key.numbers.push_back(static_cast<double>(tensor.number()));
  }
  template <class T>
  static constexpr void add(Key& key, const T& argument) {
    if constexpr (std::same_as<T, TensorSpec>) {
      key.specs.push_back(argument);
      key.numbers.push_back(-1);
    } else if constexpr (std::derived_from<T, Tensor>) {
      key.specs.push_back(argument.spec());
      key.numbers.push_back(meta_shape(key, argument));
      if (key.ir->tables.has_placements && argument.valid() && argument.is_of(*key.ir))
        add(key, key.ir->tables.record(argument.graph_id()).tensors[argument.number()].placement);
    } else if constexpr (std::convertible_to<const T&, Graph>) {
      key.numbers.push_back(static_cast<double>(Graph(argument).id()));
    } else if constexpr (std::same_as<T, BoundGraph>) {
      add(key, argument.graph());
      key.numbers.push_back(static_cast<double>(argument.args().size()));
      for (const auto& [input, parent] : argument.args())
        for (const Tensor& tensor : {input, parent}) add_identity(key, tensor);
    } else if constexpr (std::same_as<T, Placement>) {
      key.numbers.push_back(argument.ipu);
      key.numbers.push_back(static_cast<double>(argument.tile_set));
    } else if constexpr (detail::TensorRange<T>) {
      const std::size_t before = key.specs.size();
      for (const Tensor& tensor : argument) add(key, tensor);
      key.numbers.push_back(static_cast<double>(key.specs.size() - before));  // ranges of other lengths are other arguments
    } else if constexpr (requires { argument.to_dict(); }) {
      const auto leaves = argument.to_dict();
      key.numbers.push_back(static_cast<double>(leaves.size()));
      for (const auto& [name, leaf] : leaves) {
        key.numbers.push_back(static_cast<double>(name.size()));
        for (const char letter : name.view()) key.numbers.push_back(letter);
        add(key, leaf);
      }
    } else if constexpr (std::same_as<T, NumberOrTensor>) {
      key.numbers.push_back(argument.tensor || argument.spec ? 1 : 0);  // whether the next number counts
      key.numbers.push_back(argument.number);
      if (argument.spec) key.specs.push_back(*argument.spec);
      else if (argument.tensor) key.specs.push_back(argument.tensor->spec());
    } else if constexpr (requires { argument.has_value(); }) {
      key.numbers.push_back(argument.has_value());
      if (argument) add(key, *argument);
    } else if constexpr (detail::ParameterStruct<T>) {
      detail::for_each_member(argument, [&](const auto& member) { add(key, member); });
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, Flag>) {
      key.numbers.push_back(static_cast<double>(argument));
    } else {
      static_assert(sizeof(T) == 0,
                    "an argument of a graph, such as the parameters of an optimiser: a tensor, a number, an enumeration, or a "
                    "struct with BOOST_HANA_DEFINE_STRUCT of these expected");
    }
  }

  List<Entry> entries_;
};

/// A module with a cache of its graphs: popxl.addons' `M(cache=True)`. Its create_graph is GraphCache's.
template <std::derived_from<ModuleBase> M>
class Cached {
 public:
  constexpr explicit Cached(M module = {}) : module_(std::move(module)) {}

  template <class... Arguments>
  TILEWRIGHT_KEPT constexpr CreatedGraph&& create_graph(const Arguments&... arguments) {
    return cache_.create_graph(module_, arguments...);
  }
  template <class... Arguments>
  TILEWRIGHT_KEPT constexpr CreatedGraph&& create_graph(Ir& ir, const Arguments&... arguments) {
    return cache_.create_graph(ir, module_, arguments...);
  }
  /// Returns the number of different graphs.
  constexpr std::size_t size() const { return cache_.size(); }

 private:
  M module_;
  GraphCache cache_;
};

/// A function of tensors whose calls are calls of a graph: popxl.addons' decorator `@function`. Calls with equal shapes, dtypes,
/// meta shapes and IPUs share one graph. The function is one of a namespace, or a lambda without captures. A parameter of the
/// type TensorByRef changes the caller's tensor.
///
///     tw::OutlinedFunction<mlp> outlined;  // constexpr tw::Tensor mlp(tw::Tensor x, tw::Tensor w)
///     const tw::Tensor y = outlined(outlined(x, w1), w2);
template <auto function>
class OutlinedFunction {
 public:
  /// Calls the graph for these tensors, and returns its outputs. One output converts to a Tensor, two are `.as<2>()`.
  template <class... Arguments>
  constexpr auto operator()(const Arguments&... arguments) {
    static_assert(sizeof...(Arguments) > 0 && (std::convertible_to<const Arguments&, Tensor> && ...),
                  "OutlinedFunction: an argument that is no tensor, or none at all: tensors, such as ir.constant(2), expected");
    if constexpr (sizeof...(Arguments) > 0 && (std::convertible_to<const Arguments&, Tensor> && ...))
      return call(static_cast<Tensor>(arguments)...);
  }
  /// Returns the number of different graphs.
  constexpr std::size_t size() const { return cache_.size(); }

 private:
  template <std::same_as<Tensor>... Tensors>
  constexpr Outputs call(Tensors... tensors) {
    return tilewright::call(cache_.create_graph<function>(tensors...), {tensors...});
  }
  GraphCache cache_;
};

}  // namespace tilewright
