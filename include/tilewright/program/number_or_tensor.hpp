#pragma once
#include <concepts>
#include <optional>

#include "tilewright/graph/ir.hpp"

namespace tilewright {

/// A number, which becomes part of the graph, or a tensor of one element with a value that is known at run time only. A spec, as
/// argument of create_graph, stands for such a tensor.
struct NumberOrTensor {
  double number = 0;                  ///< what it is, if neither of the next is given
  std::optional<Tensor> tensor{};     ///< of one element
  std::optional<TensorSpec> spec{};   ///< of one element: an input of the graph
  ExactNumber exact{};                ///< the number with all bits of an integer
  template <class Number>
    requires(std::integral<Number> || std::floating_point<Number>)
  constexpr NumberOrTensor(Number value) : number(static_cast<double>(value)), exact(value) {}
  constexpr NumberOrTensor(Tensor value) : tensor(value) {}
  constexpr NumberOrTensor(const TensorSpec& value) : spec(value) {}
};

}  // namespace tilewright
