#pragma once
#include <concepts>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/module/graph_cache.hpp"
#include "tilewright/optim/sgd.hpp"

namespace tilewright::train {

/// The parameters of an optimiser module: `Parameters::Optimiser` is the module, whose build takes (weight by reference,
/// gradient, parameters). Those of tilewright::optim are, and a user's own struct may be.
template <class T>
concept OptimiserParameters = requires { typename T::Optimiser; };

/// A function that updates one variable itself: f(name, variable, gradient).
template <class F>
concept UpdateFunction = std::invocable<const F&, std::string_view, Tensor, Tensor>;

/// Updates variables one by one: each has optimiser state of its own, and those of one shape and dtype share a graph. Not yet
/// stable.
template <OptimiserParameters Parameters>
class Updater {
 public:
  /// The optimiser's variables are called `state.name of the variable.name of the state`; without `state.` if that is empty.
  constexpr Updater(const Parameters& parameters, std::string_view state) : parameters_(parameters), state_(state) {
    if constexpr (tilewright::detail::ParameterStruct<Parameters>)
      tilewright::detail::for_each_member(parameters_, [this](const auto& parameter) {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(parameter)>, NumberOrTensor>)
          if (parameter.tensor) given_.push_back(*parameter.tensor);
      });
  }

  /// Updates a variable, whose dotted name is new to this updater. The gradient is of the variable's shape and of any dtype of
  /// floating point.
  constexpr void operator()(std::string_view name, Tensor variable, Tensor gradient) {
    if constexpr (std::same_as<Parameters, optim::SgdParameters>)
      if (optim::detail::is_plain(parameters_)) return optim::detail::descend(variable, gradient, parameters_.lr);
    const auto [factories, graph] = optimiser_.create_graph(variable, gradient.spec(), parameters_);
    List<Tensor> inputs{variable, gradient};
    for (const Tensor& tensor : given_) inputs.push_back(tensor);
    graph.bind(factories.init(dotted(state_.view(), name).view())).call_with_inputs(inputs, {});
  }

 private:
  Parameters parameters_;
  Text state_;
  List<Tensor> given_{};  // parameters that are tensors, in the order of the graph's inputs
  Cached<typename Parameters::Optimiser> optimiser_{};
};

}  // namespace tilewright::train
