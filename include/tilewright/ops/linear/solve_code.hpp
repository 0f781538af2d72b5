#pragma once
#include "tilewright/kernel/matrix.hpp"
#include "tilewright/ops/linear/solve.hpp"

namespace tilewright {

template <PackedAttributes, class A, class L>
inline void Cholesky::compute_checked(Faults faults, A a, L l) {
  kernel::for_each_matrix([faults](const auto& from, const auto& to) { kernel::factor_cholesky(faults, from, to); }, a, l);
}

template <PackedAttributes attributes, class A, class B, class X>
inline void SolveTriangular::compute_checked(Faults faults, A a, B b, X x) {
  kernel::for_each_matrix(
      [faults](const auto& of_a, const auto& of_b, const auto& of_x) {
        kernel::set_elements(of_x, of_b);
        kernel::solve_triangle<unpack<Attributes>(attributes).upper != 0, unpack<Attributes>(attributes).unitriangular != 0>(
            X::shape[-2], X::shape[-1], of_a, of_x, [faults](std::int64_t row) { faults.report(row); });
      },
      a, b, x);
}
template <PackedAttributes attributes, class A, class B, class X>
inline void SolveTriangular::compute(A a, B b, X x) {
  FaultRecord none;  // a diagonal of ones
  compute_checked<attributes>(Faults(none), a, b, x);
}

template <PackedAttributes, class A, class B, class X>
constexpr std::int64_t Solve::stack_bytes() {
  return kernel::solve_stack_bytes(A::shape[-1]);
}
template <PackedAttributes, class A, class B, class X>
inline void Solve::compute_checked(Faults faults, A a, B b, X x) {
  kernel::for_each_matrix([faults](const auto&... matrices) { kernel::solve_matrix(faults, matrices...); }, a, b, x);
}

}  // namespace tilewright
