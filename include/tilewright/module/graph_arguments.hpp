#pragma once
#include <concepts>

#include "tilewright/graph/ir.hpp"

namespace tilewright::detail {

template <class T>
concept TensorLike = std::same_as<T, Tensor> || std::same_as<T, TensorSpec>;
/// A container of tensors, for example std::vector<Tensor> or std::array<Tensor, 3>.
template <class T>
concept TensorRange = !TensorLike<T> && requires(const T& range) {
  { *range.begin() } -> std::convertible_to<const Tensor&>;
};

/// What a build function gets for an argument: a new graph input for a tensor or spec; anything else as it is.
template <class T>
constexpr auto graph_argument(Ir& ir, const T& argument) {
  if constexpr (std::same_as<T, TensorSpec>) {
    return ir.add_input(argument);
  } else if constexpr (std::same_as<T, Tensor>) {
    return argument.valid() ? ir.add_input(argument.spec()) : Tensor::invalid(ir);
  } else if constexpr (TensorRange<T>) {
    T inputs = argument;
    for (Tensor& tensor : inputs) tensor = graph_argument(ir, tensor);
    return inputs;
  } else {
    return argument;
  }
}

/// Whether there may be a tensor, which knows its Ir, among the arguments.
template <class... Arguments>
inline constexpr bool has_tensor = ((std::same_as<Arguments, Tensor> || TensorRange<Arguments>) || ...);

/// The Ir of the first tensor among the arguments, or null.
template <class... Arguments>
constexpr Ir* find_ir(const Arguments&... arguments) {
  Ir* result = nullptr;
  const auto look = [&](const auto& argument) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(argument)>, Tensor>) {
      if (!result) result = &argument.ir();
    } else if constexpr (TensorRange<std::remove_cvref_t<decltype(argument)>>) {
      for (const Tensor& tensor : argument)
        if (!result) result = &tensor.ir();
    }
  };
  (look(arguments), ...);
  return result;
}

}  // namespace tilewright::detail
