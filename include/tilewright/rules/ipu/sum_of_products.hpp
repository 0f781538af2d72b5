#pragma once
#include "tilewright/graph/op_info/op_info.hpp"
#include "tilewright/ops/reduce/sum.hpp"

namespace tilewright::internal::detail {

/// The sum of a product's parts on a simulated IPU, for which poplin has a vertex of its own: ReduceAdd.
inline constexpr OpInfo sum_of_products = [] {
  OpInfo sum = op_info<ReduceSum>;
  sum.vertex_cost = formula_cost(CostFormula::parts, Confidence::published);
  return sum;
}();

}  // namespace tilewright::internal::detail
