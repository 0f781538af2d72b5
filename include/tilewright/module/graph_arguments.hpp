#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <concepts>
#include <tuple>

#include "tilewright/program/call_inputs.hpp"

namespace tilewright::detail {

/// A struct that has a function for its members. (Boost.Hana's macro makes compilers instantiate some 20 templates per member, in
/// each file that includes the struct.)
template <class T>
concept TiesMembers = requires(T& parameters) { T::members(parameters); };
/// A struct whose members are known, for example an optimiser's parameters: each member may be a tensor.
template <class T>
concept ParameterStruct = TiesMembers<T> || boost::hana::Struct<T>::value;

constexpr void for_each_member(auto& parameters, auto f) {
  if constexpr (TiesMembers<std::remove_cvref_t<decltype(parameters)>>)
    std::apply([&f](auto&... members) { (f(members), ...); }, parameters.members(parameters));
  else
    boost::hana::for_each(boost::hana::accessors<std::remove_cvref_t<decltype(parameters)>>(),
                          [&](auto accessor) { f(boost::hana::second(accessor)(parameters)); });
}

/// Parameter types of a build function, as a std::tuple of values; void for overloads and templates, which have no list.
template <class Function>
struct ParametersOf {
  using type = void;
};
template <class R, class... P>
struct ParametersOf<R (*)(P...)> {
  using type = std::tuple<std::remove_cvref_t<P>...>;
};
template <class R, class... P>
struct ParametersOf<R (*)(P...) noexcept> : ParametersOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...)> : ParametersOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) const> : ParametersOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) noexcept> : ParametersOf<R (*)(P...)> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) const noexcept> : ParametersOf<R (*)(P...)> {};
template <class Build>
constexpr auto parameters_of() {
  if constexpr (requires { &Build::build; }) return ParametersOf<decltype(&Build::build)>{};
  else if constexpr (requires { &Build::operator(); }) return ParametersOf<decltype(&Build::operator())>{};
  else return ParametersOf<std::decay_t<Build>>{};
}
template <class Build, std::size_t i>
struct Parameter {
  using type = void;
};
template <class Build, std::size_t i>
  requires(i < std::tuple_size<typename decltype(parameters_of<Build>())::type>::value)
struct Parameter<Build, i> : std::tuple_element<i, typename decltype(parameters_of<Build>())::type> {};

/// Returns whether a parameter is a TensorByRef or a container of them, so that in-place changes reach the caller's tensors.
template <class Parameter>
constexpr bool is_by_reference() {
  if constexpr (TensorRange<Parameter>)
    return std::derived_from<std::remove_cvref_t<decltype(*std::declval<Parameter>().begin())>, TensorByRef>;
  else return std::derived_from<Parameter, TensorByRef>;
}

constexpr Tensor graph_input_for(Ir& ir, const TensorSpec& spec, bool by_ref) {
  return detail::add_graph_input(ir, spec, "", by_ref);
}
constexpr Tensor graph_input_for(Ir& ir, const Tensor& tensor, bool by_ref) {
  if (!tensor.valid()) return Tensor::invalid(ir);
  if (!tensor.is_of(ir)) return detail::add_graph_input(ir, tensor.spec(), "", by_ref);
  const Placement placement = ir.tables.record(tensor).placement;
  const Tensor input = detail::add_graph_input(ir, tensor.spec(), "", by_ref, ir.tables.record(tensor).meta_shape);
  ir.tables.record(input).placement = placement;
  return input;
}

/// Returns the argument for a build function: a new graph input for a tensor or spec, by reference if the parameter is a
/// TensorByRef; any other argument unchanged.
template <class Parameter, class T>
constexpr auto graph_argument(Ir& ir, const T& argument) {
  constexpr bool by_ref = is_by_reference<Parameter>();
  if constexpr (TensorLike<T>) {
    if constexpr (by_ref) return TensorByRef(graph_input_for(ir, argument, true));
    else return graph_input_for(ir, argument, false);
  } else if constexpr (TensorRange<T> && std::convertible_to<const T&, Tensor> && !TensorRange<Parameter>) {
    return graph_argument<Parameter>(ir, Tensor(argument));  // the one output of a call
  } else if constexpr (TensorRange<T>) {
    if constexpr (by_ref) {
      Parameter inputs{};
      std::size_t next = 0;
      for (const Tensor& tensor : argument) {
        const TensorByRef input(graph_input_for(ir, tensor, true));
        if constexpr (requires { inputs.push_back(input); }) inputs.push_back(input);
        else inputs.at(next++) = input;
      }
      return inputs;
    } else {
      T inputs = argument;
      for (Tensor& tensor : inputs) tensor = graph_input_for(ir, tensor, false);
      return inputs;
    }
  } else if constexpr (std::same_as<T, NumberOrTensor>) {
    if (argument.spec) return NumberOrTensor(graph_input_for(ir, *argument.spec, false));
    if (argument.tensor) return NumberOrTensor(graph_input_for(ir, *argument.tensor, false));
    return argument;
  } else if constexpr (ParameterStruct<T>) {
    T inputs = argument;
    for_each_member(inputs, [&](auto& member) { member = graph_argument<void>(ir, member); });
    return inputs;
  } else {
    return argument;
  }
}

/// Whether the arguments can include a tensor, which knows its Ir.
template <class... Arguments>
inline constexpr bool has_tensor = ((std::derived_from<Arguments, Tensor> || TensorRange<Arguments>) || ...);

/// Returns the Ir of the first tensor among the arguments, or null.
template <class... Arguments>
constexpr Ir* find_ir(const Arguments&... arguments) {
  Ir* result = nullptr;
  const auto look = [&](const auto& argument) {
    using Argument = std::remove_cvref_t<decltype(argument)>;
    if constexpr (std::derived_from<Argument, Tensor>) {
      if (!result) result = &argument.ir();
    } else if constexpr (TensorRange<Argument>) {
      for (const Tensor& tensor : argument)
        if (!result) result = &tensor.ir();
    }
  };
  (look(arguments), ...);
  return result;
}

}  // namespace tilewright::detail
