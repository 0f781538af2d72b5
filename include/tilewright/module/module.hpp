#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <optional>
#include <tuple>
#if defined(__cpp_impl_reflection)
#include <meta>
#endif

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/text/type_name.hpp"
#include "tilewright/module/graph_arguments.hpp"
#include "tilewright/module/module_trace.hpp"
#include "tilewright/program/scopes.hpp"

namespace tilewright {

/// Options of Module::add_variable_input.
struct VariableInputOptions {
  Flag by_ref = false;  ///< whether in-place changes to the input reach the variable
  ReplicaGrouping replica_grouping{};  ///< groups of replicas with separate values; none: one group of all
  Flag overwrite = false;  ///< whether the input replaces the named input and the factory of that name, if there are any
};
/// Options of Module::add_replica_sharded_variable_input.
struct ShardedVariableInputOptions {
  Flag by_ref = false;  ///< whether in-place changes to the input reach the variable
  ReplicaGrouping replica_grouping{};  ///< groups of replicas with separate values; none: one group of all
  std::int64_t shard_over = 0;  ///< number of shards; 0: the number of replicas in a group
};

/// Base of all modules that does not depend on their type. It knows the trace to which a module belongs, and the module's dotted
/// name there.
class ModuleBase {
 public:
  /// Adds an input of the graph for a variable, and the factory that creates the variable later. The name must be new in this
  /// module. If a member module is called again, it returns the same input, so all its calls share their variables. If the input
  /// is by reference, in-place ops change the variable. An input that is overwritten stays an input of the graph, without a name:
  /// calls must pass it.
  constexpr Tensor add_variable_input(std::string_view name, const Initialiser& initialiser, const Shape& shape,
                                      DType dtype = float32, const VariableInputOptions& options = {}) {
    auto& trace = this->trace();
    const VariableFactory factory(trace.ir, initialiser, {shape, dtype}, options.by_ref, options.replica_grouping);
    return add_input(name, factory, options.overwrite);
  }
  /// Adds an input of the graph for a variable of a factory that exists, perhaps of another module. `overwrite` is that of
  /// VariableInputOptions.
  constexpr Tensor add_variable_factory(std::string_view name, const VariableFactory& factory, bool overwrite = false) {
    return add_input(name, factory, overwrite);
  }
  /// Adds inputs for variables of factories under numbers: those of `rows` are `rows.0`, `rows.1` and so on. This is
  /// popxl.addons' Module.from_variable_factories.
  constexpr List<Tensor> from_variable_factories(std::string_view name, const List<VariableFactory>& factories) {
    List<Tensor> result;
    for (const VariableFactory& factory : factories) result.push_back(add_input(text(name, ".", result.size()).view(), factory));
    return result;
  }
  /// Adds an input of the graph for a sharded variable, and the factory that creates the variable later. The input is a shard,
  /// with the given shape as its meta_shape. The name must be new in this module.
  constexpr Tensor add_replica_sharded_variable_input(std::string_view name, const Initialiser& initialiser, const Shape& shape,
                                                      DType dtype = float32, const ShardedVariableInputOptions& options = {}) {
    auto& ir = this->trace().ir;
    const VariableFactory factory(ir, initialiser, {shape, dtype}, options.by_ref,
                                  {.replica_grouping = options.replica_grouping, .shard_over = options.shard_over}, name);
    return add_input(name, factory);
  }
  /// Adds inputs for all variables of a set of factories, under a name. Inputs under different names are independent, and so are
  /// their variables.
  constexpr NamedTensors add_variable_inputs(std::string_view name, const DotTree<VariableFactory>& factories) {
    auto& trace = this->trace();
    const NamedTensors result = factories.transform<Tensor>(name, [&](std::string_view path, const VariableFactory& factory) {
      if (trace.gradient) return forward_variable(dotted(prefix_.view(), path), factory.spec());
      return factory.create_input(path);
    });
    if (result.size() == 0 || trace.gradient) return result;
    const Text path = dotted(prefix_.view(), name);
    if (calls_ > 1 && trace.args.contains(path.view())) return trace.args.subtree(path.view());  // all calls share them
    trace.factories.insert(path.view(), factories);
    trace.args.insert(path.view(), result);
    return result;
  }
  constexpr NamedTensors add_variable_inputs(int index, const DotTree<VariableFactory>& factories) {
    if (index < 0) ir().fail(text("add_variable_inputs: number ", index, ": at least 0 expected"));
    return add_variable_inputs(text(index).view(), factories);
  }
  /// Makes a graph of a module, calls it and returns the outputs. The variables are inputs of this module's graph, under the name
  /// of the member or of the options. Autodiff uses the module's build_grad, if it has one, for this call. Fails for a second
  /// call under a name: create_graph makes a graph for several calls.
  template <class M, class... Arguments>
    requires std::derived_from<std::remove_cvref_t<M>, ModuleBase>
  constexpr Outputs call_module(M&& module, const CallModuleOptions& options, const Arguments&... arguments);
  template <class M, class... Arguments>
    requires std::derived_from<std::remove_cvref_t<M>, ModuleBase>
  constexpr Outputs call_module(M&& module, const Arguments&... arguments) {
    return call_module(std::forward<M>(module), CallModuleOptions(), arguments...);
  }
  /// Saves a tensor of `build` for build_grad, which reads it by `aux(name)`. Data members keep values that are no tensors. Fails
  /// for a tensor of another graph, and outside of build.
  constexpr void aux(std::string_view name, Tensor value) {
    detail::save_aux(trace(), dotted(prefix_.view(), name), value, calls_ > 1);
  }
  /// Returns, in build_grad, a tensor of the gradient graph with the value of a tensor that `build` saved, or of a variable.
  /// Names of members' tensors and variables are dotted, `fc1.weight`. Fails for an unknown name, and outside of build_grad.
  constexpr Tensor aux(std::string_view name) const { return detail::read_aux(trace(), dotted(prefix_.view(), name)); }
  /// Sets, in build_grad, the gradient of a variable, which has the variable's shape and dtype. Each variable of floating point
  /// needs one, also those of members. Fails for an unknown name, and outside of build_grad.
  constexpr void var_grad(std::string_view name, Tensor gradient) {
    detail::set_var_grad(trace(), dotted(prefix_.view(), name), gradient);
  }
  // What PyTorch has and modules do not: errors that say what to write.
  constexpr auto parameters(const auto&...) const {
    constexpr auto message = [] {
      return Text(
          "Module: no parameters(): create_graph's factories make the variables: `const auto [factories, graph] = "
          "tw::create_graph(Net{}, x)` and factories.init().named_tensors() expected");
    };
    return Report<message>(), List<Tensor>();
  }
  constexpr auto zero_grad(const auto&...) const {
    constexpr auto message = [] {
      return Text("Module: no zero_grad(): each run computes new gradients: the program without this call expected");
    };
    Report<message>();
  }
  constexpr auto state_dict(const auto&...) const {
    constexpr auto message = [] {
      return Text(
          "Module: no state_dict(): a session has the values: tw::save_safetensors(file, session.host_tensors()) expected");
    };
    Report<message>();
  }
  constexpr auto eval(const auto&...) const {
    constexpr auto message = [] {
      return Text("Module: no eval(): a program is traced for one mode: `const auto mode = tw::evaluation(ir)` in it expected");
    };
    Report<message>();
  }

  /// Returns the Ir into which the module is traced.
  constexpr Ir& ir() const { return trace().ir; }

  /// For create_graph: begins the trace of the module; null ends it. `prefix` is the module's dotted name among its factories.
  constexpr void adopt(detail::ModuleTrace* trace, Text prefix) {
    trace_ = trace;
    prefix_ = std::move(prefix);
    calls_ = 0;
    if (trace && !prefix_.empty()) trace->factories.subtree_for(prefix_.view());
  }

  /// For create_graph: returns the arguments of the last adopt.
  constexpr Pair<detail::ModuleTrace*, Text> adopted_by() const { return {trace_, prefix_}; }

 protected:
  constexpr void note_call() {
    ++calls_;
    shared_.clear();
  }
  constexpr bool traced() const { return trace_ != nullptr; }
  constexpr detail::ModuleTrace& trace() const {
    if (trace_) return *trace_;
    TW_THROW TraceError(
        "Module: used outside of create_graph: a member named by BOOST_HANA_DEFINE_STRUCT, or create_graph, expected");
  }
  /// Returns the module's name in its parent module: fc1 for net.fc1, layers.0 for net.layers.0.
  constexpr std::string_view key() const {
    const auto name = prefix_.view();
    auto dot = name.rfind('.');
    while (dot != name.npos && name[dot + 1] >= '0' && name[dot + 1] <= '9') dot = name.rfind('.', dot - 1);
    return name.substr(dot + 1);
  }

 private:
  /// Returns the name, in this module, of a member's variables; "" for another module.
  constexpr std::string_view name_of(const ModuleBase& module) const {
    const std::string_view own = prefix_.view(), name = module.prefix_.view();
    const std::size_t first = own.empty() ? 0 : own.size() + 1;
    return module.trace_ == trace_ && name.starts_with(own) && name.size() > first ? name.substr(first) : "";
  }
  constexpr Tensor add_input(std::string_view name, const VariableFactory& factory, bool overwrite = false) {
    auto& trace = this->trace();
    const Text path = dotted(prefix_.view(), name);
    if (trace.gradient) return forward_variable(path, factory.spec());
    if (calls_ > 1)
      if (const Tensor* known = trace.args.find(path.view())) return shared_input(name, *known, factory.spec());
    const Tensor input = factory.create_input(name);
    trace.factories.insert(path.view(), factory, overwrite);
    trace.args.insert(path.view(), input, overwrite);
    return input;
  }

  /// Returns, in build_grad, the value of a variable that `build` added.
  constexpr Tensor forward_variable(const Text& path, const TensorSpec& spec) {
    const Tensor* known = trace().args.find(path.view());
    if (known && known->spec() == spec) return trace().activation(*known);
    return ir().fail(
        text("Module: '", path, "' of ", to_text(spec), " added in build_grad: a variable that build adds expected"));
  }
  /// Returns the input that an earlier call added for a variable, which all calls share.
  constexpr Tensor shared_input(std::string_view name, Tensor known, const TensorSpec& spec) {
    Ir& ir = known.ir();
    for (const Text& added : shared_)
      if (added == name) return ir.fail(text("Module: '", prefix_, "' adds the variable '", name, "' twice: new names expected"));
    shared_.push_back(name);
    if (known.spec() == spec) return known;
    return ir.fail(text("Module: call ", calls_, " of '", prefix_, "', whose variable '", name, "' is ", to_text(known.spec()),
                        ": what takes ", to_text(spec), " must be another member: inputs as in its first call expected"));
  }

  detail::ModuleTrace* trace_ = nullptr;
  Text prefix_;
  int calls_ = 0;  // by operator(), since it was adopted
  List<Text> shared_{};  // the variables that the current call has shared with an earlier one
};

namespace detail {
/// Fails if the module type M derives from the Module of another type, whose build would run. Calling a member would be a call on
/// an object of the wrong type, so it stops the compilation.
template <class M, bool is_member>
constexpr void check_base(Ir& ir) {
  using Base = typename M::ModuleType;
  if constexpr (!std::same_as<M, Base>) {
    constexpr auto message = [] {
      return text("Module: ", type_name<M>(), " derives from tw::Module<", type_name<Base>(), ">: tw::Module<", type_name<M>(),
                  "> expected");
    };
    if constexpr (is_member) Report<message>();
    else ir.fail(message());
  }
}
/// Returns advice for the case that several tensors stand for one argument.
template <class Argument>
constexpr Text advice_for(int number) {
  if constexpr (!std::derived_from<Argument, Tensor> && requires { std::tuple_size<Argument>::value; })
    return text("; argument ", number, " is ", std::tuple_size<Argument>::value,
                " results, as of a GRU: `const auto [y, last] = gru(x)` and then `head(y)`, for example, expected");
  else return {};
}
/// Calls a module's build. Fails if no build takes the arguments.
template <class M, class... Arguments>
constexpr decltype(auto) call_build(M& module, const Arguments&... arguments) {
  if constexpr (requires { module.build(arguments...); }) {
    if constexpr (requires { (module.*(&M::build))(arguments...); })  // of a pointer GCC says first what is not constexpr
      return (module.*(&M::build))(arguments...);  // to compile it into a session, `build` must be constexpr
    else return module.build(arguments...);  // likewise: `build` must be constexpr
  } else {
    constexpr bool has_forward = requires(M& m, const Arguments&... given) { m.forward(given...); };
    [[maybe_unused]] int number = 0;
    return module.ir().fail(text(
        "Module: ", type_name<M>(), has_forward ? std::string_view(" has a function forward, but") : std::string_view(" has"),
        " no build for ", sizeof...(Arguments), " arguments of these types: a public constexpr member function build expected",
        advice_for<Arguments>(++number)...));
  }
}
/// A module whose member `modules`, a tuple, holds its modules, which are named by their numbers: see ModuleListOf.
template <class T>
concept IsModuleList = requires { typename T::ModuleTuple; };
/// Names a module and, by reflection, the modules inside it.
template <bool is_member = false, class T>
constexpr void adopt(T& member, ModuleTrace* trace, const Text& name) {
  if constexpr (std::derived_from<T, ModuleBase>) {
    if (trace) check_base<T, is_member>(trace->ir);
    member.adopt(trace, name);
    if constexpr (IsModuleList<T>) detail::adopt(member.modules, trace, name);
    else if constexpr (boost::hana::Struct<T>::value)
      boost::hana::for_each(boost::hana::accessors<T>(), [&](auto accessor) {
        const std::string_view key = boost::hana::to<const char*>(boost::hana::first(accessor));
        detail::adopt<true>(boost::hana::second(accessor)(member), trace, dotted(name.view(), key));
      });
#if defined(__cpp_impl_reflection)  // C++26: members need no macro
    else {
      constexpr auto all = std::meta::access_context::unchecked();
      template for (constexpr auto each : std::define_static_array(std::meta::nonstatic_data_members_of(^^T, all))) {
        if constexpr (!std::meta::is_bit_field(each))
          detail::adopt<true>(member.[:each:], trace, dotted(name.view(), std::meta::identifier_of(each)));
      }
    }
#endif
  } else if constexpr (requires { std::tuple_size<T>::value, member.begin(); }) {
    int index = 0;
    if constexpr (std::is_class_v<std::remove_cvref_t<decltype(*member.begin())>>)  // not the numbers of a long array
      for (auto& element : member) detail::adopt<true>(element, trace, dotted(name.view(), text(index++).view()));
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    int index = 0;
    std::apply([&](auto&... elements) { (detail::adopt<true>(elements, trace, dotted(name.view(), text(index++).view())), ...); },
               member);
  }
}

/// Returns whether a module declares that its build takes a seed as the last argument.
template <class M>
constexpr bool takes_seed() {
  if constexpr (requires { M::takes_seed; }) return M::takes_seed;
  else return false;
}
/// Returns whether a module orders the ops of its build.
template <class M>
constexpr bool runs_in_sequence() {
  if constexpr (requires { M::in_sequence; }) return M::in_sequence;
  else return false;
}
}  // namespace detail

/// Base of modules, `struct Net : Module<Net>`, with a constexpr `build(Tensor...)` that builds the graph.
/// BOOST_HANA_DEFINE_STRUCT(Net, (Linear<512>, fc1), ...) names up to 39 members that are modules, std::arrays of modules or
/// std::tuples of different modules; see MembersOf for more. With the reflection of C++26, members need no macro. Elements of the
/// member `layers` are named `layers.0`, `layers.1` and so on. A member's name is the text after the last comma, so types may
/// contain commas. An alias for such a type often reads better, and is needed inside another macro. Calling a member inlines its
/// ops.
template <class D>
class Module : public ModuleBase {
 public:
  using ModuleType = D;

  template <class... Arguments>
  constexpr auto operator()(const Arguments&... arguments) {
    return inlined(arguments...);
  }
  /// Inlines a module that asks for a warning. (The attribute is the one that gives a warning in the line of the call.)
  template <class... Arguments>
    requires(detail::grad_inlining<D>() == GradInlining::warning)
  [[gnu::deprecated(
      "has a build_grad, which this call, whose ops are inlined, does not use: call_module expected")]] constexpr auto
  operator()(const Arguments&... arguments) {
    return inlined(arguments...);
  }
  /// Creates a graph of this module, see the function create_graph. The Ir may be omitted if an argument is a Tensor.
  template <class... Arguments>
  constexpr decltype(auto) create_graph(const Arguments&... arguments) const;
  template <class... Arguments>
  constexpr decltype(auto) create_graph(Ir& ir, const Arguments&... arguments) const;

 private:
  template <class... Arguments>
  constexpr auto inlined(const Arguments&... arguments) {
    std::optional<detail::ModuleTrace> lost;  // of a module that has no place: it goes on to the message
    if (Ir* ir = detail::find_ir(arguments...); ir && !traced()) {
      ir->fail(text("Module: ", type_name<D>(),
                    " used outside of create_graph: a member named by BOOST_HANA_DEFINE_STRUCT, "
                    "or create_graph, expected"));
      this->adopt(&lost.emplace(detail::ModuleTrace{*ir}), "");
    }
    const std::string_view name = key().empty() ? type_name<D>() : key();
    const NameScope names(ir(), name);
    const PathScope path(ir(), name);
    std::optional<InSequence> ordered;
    if constexpr (detail::runs_in_sequence<D>()) ordered.emplace(ir());
    note_call();
    if constexpr (detail::grad_inlining<D>() == GradInlining::error)
      if (!trace().gradient)
        ir().fail(text("Module: ", type_name<D>(), " has a build_grad, which a call of ", name,
                       ", whose ops are inlined, does not use: call_module(", name,
                       ", ...), or another grad_inlining_error, expected"));
    return detail::call_build(static_cast<D&>(*this), arguments...);
  }
};

}  // namespace tilewright
