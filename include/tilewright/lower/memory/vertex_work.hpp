#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal {

namespace detail {

constexpr double points_of(const Work& work) {
  double points = 1;
  for (const WorkAxis& axis : work.axes) points *= static_cast<double>(axis.extent);
  return points;
}
constexpr std::int64_t most_elements(const Operation& operation) {
  std::int64_t most = 0;
  for (const Value& value : operation.operands) most = (std::max)(most, value.spec.nelms());
  return most;
}
/// Returns the multiply-adds of a convolution or one of its gradients: each element of the weight is used at each position of the
/// smaller image, because a stride makes one image smaller. The images are the operands that follow the first axis of the work;
/// the weight does not.
constexpr double multiply_adds_of_convolution(const Operation& operation) {
  std::int64_t weight = 1, places = 0;
  for (int o = 0; o < static_cast<int>(operation.operands.size()); ++o) {
    const TensorSpec& spec = operation.operands[o].spec;
    if (operation.work.axes.size() == 0 || spec.shape.rank < 3) return points_of(operation.work);
    if (!operation.work.has_follower(o, 0)) {
      weight = spec.nelms();
      continue;
    }
    const std::int64_t image = spec.nelms() / std::max<std::int64_t>(1, spec.shape[1]);
    places = places == 0 ? image : (std::min)(places, image);
  }
  return static_cast<double>(weight) * static_cast<double>(places);
}

}  // namespace detail

/// Estimates an op's work, of all its vertices together, in multiply-adds of float32 in a product:
///  - products, convolutions and the products of attention: their multiply-adds. Pairs that a mask hides count, too;
///  - copies, and elements at positions that are computed in a run: 2 for each element that moves, a load and a store;
///  - x + a y: 3 for each element, two loads and a store;
///  - other ops: for each element of the largest operand, the instructions of the op's loop for a vector (VertexCost).
///
/// An instruction for a vector therefore counts as much as a multiply-add of each of its elements: a core of the host starts
/// about the same number of both per cycle. VertexCost counts instructions of a simulated IPU, whose vectors have two elements of
/// float32. The result is a double, because products of large matrices may have more multiply-adds than 64 bits can count.
constexpr double work_of_operation(const Operation& operation) {
  const VertexCost& cost = operation.op->vertex_cost;
  const auto in_loops = [&cost](double elements) { return elements * 2 * cost.float32.cycles / cost.float32.elements; };
  const auto most_elements = [&operation] { return static_cast<double>(detail::most_elements(operation)); };
  switch (cost.formula) {
    case CostFormula::none: return 0;
    case CostFormula::product: return detail::points_of(operation.work);
    case CostFormula::convolution: return detail::multiply_adds_of_convolution(operation);
    case CostFormula::pairs: {
      const Shape& queries = operation.operands[0].spec.shape;
      const auto keys = static_cast<double>(operation.operands[1].spec.shape[-2]);
      const double elements = static_cast<double>(queries.nelms()) * keys;
      return cost.passes * elements + in_loops(elements / static_cast<double>(queries[-1]));
    }
    case CostFormula::cast:
    case CostFormula::fill:
    case CostFormula::copy: return 2 * most_elements();
    case CostFormula::scaled_add: return 3 * most_elements();
    case CostFormula::slice:
    case CostFormula::gather:
    case CostFormula::scatter: {
      const std::int64_t result = operation.operands[operation.input_count].spec.nelms();
      return 2 * static_cast<double>((std::min)(result, operation.operands[0].spec.nelms()));
    }
    default: return in_loops(most_elements());
  }
}

}  // namespace tilewright::internal
