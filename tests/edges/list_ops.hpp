#pragma once
// Lists what the cases have, and what the library has: a line for each op, with a tab between what it is and its name.
#include "../ops/ops.hpp"
#include "all_cases.hpp"
#include "coverage/list_costs.hpp"
#include "coverage/list_ops.hpp"

namespace edges {

/// Prints `case` with each op that a case differentiates, or whose values tests/ops computes.
inline void list_cases(std::span<const std::string_view> names) {
  op_tests::for_each([](auto test) {
    if (test.has_cases) std::cout << "case\t" << test.op << '\n';
  });
  for (const std::string_view name : names) {
    Ir ir;
    add_cases(ir, tw::float32, false, std::span(&name, 1));
    if (ir.tables.variables.empty()) std::cout << "unknown\t" << name << '\n';
    for (const tw::GraphId graph : coverage::differentiated_graphs(ir))
      for (const tw::Node& node : ir.tables.record(graph).nodes) std::cout << "case\t" << node.op->name << '\n';
  }
}
/// Prints `op` with the name of a type of the library that is an op with a gradient. Prints nothing for another type.
template <class D>
void list_op() {
  if constexpr (coverage::IsOp<D>)
    if (tw::op_info<D>.gradient) std::cout << "op\t" << D::name << '\n';
}

}  // namespace edges
