#pragma once
#include <cstdint>
#include <optional>

#include "tilewright/core/list.hpp"
#include "tilewright/core/move_only_function.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/ids.hpp"

namespace tilewright {

class Tensor;

/// How autodiff makes the gradient graph of a graph.
enum class GradientMethod : std::uint8_t {
  automatic,   ///< by build_grad if the graph's module has one, by autodiff otherwise
  build_grad,  ///< by the build_grad of the graph's module
  autodiff     ///< from the ops of the graph, even if its module has a build_grad
};

namespace detail {

/// Values of a forward graph in its gradient graph, for those who build the gradient graph.
class ForwardValues {
 public:
  /// Returns the value of a forward tensor as a tensor of the gradient graph.
  constexpr virtual Tensor activation(TensorId forward_tensor) = 0;

 protected:
  constexpr ~ForwardValues() = default;
};

/// Wishes of those who trace a graph for its gradient graph.
struct GradientRule {
  /// Gradients of inputs of a forward graph.
  using Gradients = List<Pair<TensorId, Tensor>>;

  GraphId graph = GraphId::none;  ///< the forward graph
  /// Appends to the current graph, which is the gradient graph, what computes the gradients of the forward graph's inputs from
  /// the provided gradients. Empty: the module has no build_grad.
  MoveOnlyFunction<Gradients(ForwardValues&, Span<const Tensor>)> build_grad{};
  GradientMethod method = GradientMethod::automatic;  ///< for callers
  std::optional<List<TensorId>> provided{};           ///< outputs whose gradients callers provide; nothing: all
  std::optional<List<TensorId>> required{};           ///< inputs whose gradients callers require; nothing: all
};

}  // namespace detail

}  // namespace tilewright
