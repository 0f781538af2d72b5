#pragma once
#include <optional>

#include "tilewright/core/list.hpp"
#include "tilewright/program/grad_graph_info.hpp"

namespace tilewright {

/// Options of autodiff: the gradients that a gradient graph takes and those that it computes.
struct AutodiffOptions {
  /// Outputs of the forward graph whose gradients are provided; by default all floating-point outputs.
  std::optional<List<Tensor>> grads_provided{};
  /// Tensors of the forward graph whose gradients are required; by default all inputs that a gradient reaches.
  std::optional<List<Tensor>> grads_required{};
  /// Whether tensors of grads_required that no gradient reaches are skipped. Otherwise they are an error.
  Flag skips_unreached = false;
  /// Gradient graphs for graphs that the forward graph calls, directly or through others. Autodiff uses them instead of building
  /// its own. They come from an earlier autodiff or are handwritten. They remain the gradient graphs of those graphs.
  List<GradGraphInfo> called_graphs_grad_info{};
  /// Whether the build_grad of the graph's module makes the gradient graph.
  GradientMethod method = GradientMethod::automatic;
  /// Whether build_grad makes another gradient graph of a graph that it made one of. Otherwise that is an error.
  Flag force = false;
};

}  // namespace tilewright
