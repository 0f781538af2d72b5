#pragma once
#include "tilewright/core/requirements.hpp"

#include <concepts>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/core/text/name_pattern.hpp"
#include "tilewright/module/graph_cache.hpp"
#include "tilewright/optim/sgd.hpp"
#include "tilewright/train/step_options.hpp"

namespace tilewright::train {

/// Parameters of an optimiser module: `Parameters::Optimiser` is the module, whose build takes (weight by reference, gradient,
/// parameters). The parameters in tilewright::optim satisfy it; a user's struct may, too.
template <class T>
concept OptimiserParameters = requires { typename T::Optimiser; };

/// A function that updates one variable: f(name, variable, gradient).
template <class F>
concept UpdateFunction = std::invocable<const F&, std::string_view, Tensor, Tensor>;

namespace detail {
/// Returns the settings of all groups for a variable, merged.
constexpr GroupOptions options_of(const List<ParameterGroup>& groups, std::string_view name) {
  GroupOptions result;
  for (const auto& [names, options, others] : groups) {
    if (tilewright::detail::matches_pattern(names, name) == others) continue;
    if (options.lr) result.lr = options.lr;
    if (options.weight_decay) result.weight_decay = options.weight_decay;
    result.frozen = result.frozen || options.frozen;
  }
  return result;
}
/// Returns the tensors among an optimiser's parameters, in the order of its graph's inputs.
template <class Parameters>
constexpr List<Tensor> tensors_of(const Parameters& parameters) {
  List<Tensor> result;
  if constexpr (tilewright::detail::ParameterStruct<Parameters>)
    tilewright::detail::for_each_member(parameters, [&result](const auto& parameter) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(parameter)>, NumberOrTensor>)
        if (parameter.tensor) result.push_back(*parameter.tensor);
    });
  return result;
}
}  // namespace detail

/// Updates variables one by one. Each variable has its own optimiser state. Variables of one shape, dtype and parameters share a
/// graph.
template <OptimiserParameters Parameters>
class Updater {
 public:
  /// The optimiser's variables are named `state.name of the variable.name of the state`, or without `state.` if `state` is empty.
  /// `groups` hold the settings that differ for some variables.
  constexpr Updater(const Parameters& parameters, std::string_view state, const List<ParameterGroup>& groups = {})
      : parameters_(parameters), state_(state), groups_(groups) {}

  /// Updates a variable. Its dotted name must be new to this updater. The gradient has the variable's shape and any
  /// floating-point dtype.
  constexpr void operator()(std::string_view name, Tensor variable, Tensor gradient) {
    if (groups_.empty()) return update(name, variable, gradient, parameters_);
    const GroupOptions options = detail::options_of(groups_, name);
    Parameters parameters = parameters_;
    if (options.lr) {
      if constexpr (requires { parameters.lr = *options.lr; }) parameters.lr = *options.lr;
      else return has_no(variable, name, "lr");
    }
    if (options.weight_decay) {
      if constexpr (requires { parameters.weight_decay = *options.weight_decay; })
        parameters.weight_decay = *options.weight_decay;
      else return has_no(variable, name, "weight_decay");
    }
    update(name, variable, gradient, parameters);
  }

 private:
  static constexpr void has_no(Tensor variable, std::string_view name, std::string_view member) {
    variable.ir().fail(text("groups: ", member, " of '", name, "' by ", type_name<Parameters>(), ", which has no ", member,
                            ": an optimiser with it expected"));
  }
  constexpr void update(std::string_view name, Tensor variable, Tensor gradient, const Parameters& parameters) {
    if constexpr (std::same_as<Parameters, optim::SgdParameters>)
      if (optim::detail::is_plain(parameters)) return optim::detail::descend(variable, gradient, parameters.lr);
    const auto [factories, graph] = optimiser_.create_graph(variable, gradient.spec(), parameters);
    List<Tensor> inputs{variable, gradient};
    for (const Tensor& tensor : detail::tensors_of(parameters)) inputs.push_back(tensor);
    graph.bind(factories.init(dotted(state_.view(), name).view())).call_with_inputs(inputs, {});
  }

  Parameters parameters_;
  Text state_;
  List<ParameterGroup> groups_;
  Cached<typename Parameters::Optimiser> optimiser_{};
};

}  // namespace tilewright::train
