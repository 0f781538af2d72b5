#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/body_draft.hpp"

namespace tilewright::internal {

namespace detail {

constexpr std::int64_t points_of(const Work& work) {
  std::int64_t points = 1;
  for (const WorkAxis& axis : work.axes) points *= axis.extent;
  return points;
}
constexpr std::int64_t most_elements(const Operation& operation) {
  std::int64_t most = 0;
  for (const Value& value : operation.operands) most = std::max(most, value.spec.nelms());
  return most;
}
/// Of a convolution or one of its gradients: each element of the weight is used at each place of the smaller image, since a
/// stride makes one image smaller. The images are the operands that follow the first axis of the work; the weight does not.
constexpr std::int64_t multiply_adds_of_convolution(const Operation& operation) {
  std::int64_t weight = 1, places = 0;
  for (int o = 0; o < static_cast<int>(operation.operands.size()); ++o) {
    const TensorSpec& spec = operation.operands[o].spec;
    if (operation.work.axes.size() == 0 || spec.shape.rank < 3) return points_of(operation.work);
    if (!operation.work.has_follower(o, 0)) {
      weight = spec.nelms();
      continue;
    }
    const std::int64_t image = spec.nelms() / spec.shape[1];
    places = places == 0 ? image : std::min(places, image);
  }
  return weight * places;
}

}  // namespace detail

/// An estimate of an op's work, of all its vertices together, in multiply-adds of float32 in a product:
///  - products, convolutions and the products of attention: their multiply-adds. Pairs that a mask hides count, too;
///  - copies, and elements at places that only a run knows: 2 for each element that moves, a load and a store;
///  - other ops: for each element of the largest operand as many as its loop has instructions for a vector, by the op's
///  VertexCost.
///    A core of the host is taken to begin as many vector instructions a cycle as multiply-adds of vectors, so that an
///    instruction for a vector costs what a multiply-add of each of its elements costs. The instructions are those of a simulated
///    IPU, whose vectors have two elements of float32.
constexpr std::int64_t work_of_operation(const Operation& operation) {
  const VertexCost& cost = operation.op->vertex_cost;
  const auto in_loops = [&](std::int64_t elements) {
    return elements * 2 * cost.float32.cycles / std::max<std::int64_t>(1, cost.float32.elements);
  };
  switch (cost.formula) {
    case CostFormula::none: return 0;
    case CostFormula::product: return detail::points_of(operation.work);
    case CostFormula::convolution: return detail::multiply_adds_of_convolution(operation);
    case CostFormula::pairs: {
      const Shape& keys = operation.operands[1].spec.shape;
      const TensorSpec& queries = operation.operands[0].spec;
      const std::int64_t lines = queries.nelms() / std::max<std::int64_t>(1, queries.shape[-1]);
      return cost.passes * queries.nelms() * keys[-2] + in_loops(lines * keys[-2]);
    }
    case CostFormula::cast:
    case CostFormula::fill:
    case CostFormula::copy: return 2 * detail::most_elements(operation);
    case CostFormula::scaled_add: return 3 * detail::most_elements(operation);
    case CostFormula::slice:
    case CostFormula::gather:
    case CostFormula::scatter: {
      const std::int64_t result = operation.operands[operation.input_count].spec.nelms();
      return 2 * std::min(result, operation.operands[0].spec.nelms());
    }
    default: return in_loops(detail::most_elements(operation));
  }
}

}  // namespace tilewright::internal
