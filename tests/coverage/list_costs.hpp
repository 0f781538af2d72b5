#pragma once
// Lists the ops of the library: which state no cost of their kernels, and which have a gradient.
#include <concepts>
#include <iostream>
#include <string_view>
#include <type_traits>

#include "tilewright/tilewright.hpp"

namespace coverage {

template <class D, class Defaults>
void take_op(const tilewright::Op<D, Defaults>*);
/// Whether a type is an op of its own, not the base of several.
template <class D>
concept IsOp = requires(const D* op) {
  D::name;
  take_op<D>(op);
};

/// Whether the op has a kernel of its own: views, transfers, collectives and ops that stand for others have none.
template <IsOp D>
constexpr bool has_kernel() {
  using enum tilewright::WorkKind;
  const tilewright::WorkKind kind = tilewright::op_info<D>.work_kind;
  const bool has_compute = !requires { requires std::same_as<decltype(D::compute), const tilewright::NotGiven>; };
  return has_compute && kind != view && kind != transfer && kind != collective && kind != composite;
}

/// Whether the op, or its family, states a cost.
template <IsOp D>
constexpr bool states_cost() {
  using tilewright::VertexCost;
  return !std::is_same_v<decltype(&D::operator VertexCost), VertexCost (tilewright::OpDefaults::*)() const>;
}

/// Prints for an op: cost, op, type, whether its kernel's cost is missing, and whether it has a gradient. Prints nothing for
/// another type.
template <class D>
void list_cost(std::string_view type) {
  if constexpr (IsOp<D>)
    std::cout << "cost\t" << D::name << '\t' << type << '\t' << (has_kernel<D>() && !states_cost<D>() ? "missing" : "") << '\t'
              << (tilewright::op_info<D>.gradient ? "gradient" : "") << '\n';
}

}  // namespace coverage
