#pragma once
#include "tilewright/kernel/indexed.hpp"
#include "tilewright/ops/index/gather.hpp"

namespace tilewright {

template <PackedAttributes A, class DY, class J, class P, class DX>
inline void GatherGrad::compute(DY dy, J indices, P positions, DX dx) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr auto axis = static_cast<int>(attributes.axis);
  using Loops = kernel::IndexedLoops<axis, attributes.form, DX, DY, J>;
  kernel::fill_zero(dx);
  const auto add = [](auto* to, const auto* from) {
    Loops::combine(to, from, [](const auto& a, const auto& b) { return a + b; });
  };
  Loops::template for_each_hit<attributes.extent>(dx, dy, indices, kernel::block_begin(positions, axis), add);
}

template <class D>
template <PackedAttributes A, class T, class J, class P, class Y>
inline void GatherOp<D>::compute(T t, J indices, P, Y y) {
  constexpr auto attributes = unpack<Attributes>(A);
  using Loops = kernel::IndexedLoops<attributes.axis_of(T::shape.rank), attributes.form, T, Y, J>;
  Loops::for_each(
      t, y, indices, [](const auto* from, auto* to) { Loops::template copy<1, 0>(to, from); },
      [](auto* missed) { Loops::zero(missed); });
}

template <class D>
template <PackedAttributes A, class T, class J, class P, class Y>
inline void GatherOp<D>::compute_checked(Faults faults, T t, J indices, P positions, Y y) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr int axis = attributes.axis_of(T::shape.rank), groups = attributes.form == kernel::IndexForm::groups ? 1 : 0;
  constexpr unsigned of_indices = ((1u << (J::shape.rank - groups)) - 1) << axis | static_cast<unsigned>(groups);
  if (D::template is_first_reader < ((1u << Y::shape.rank) - 1) & ~of_indices > (positions))
    kernel::check_indices(faults, indices, T::shape[axis]);
  compute<A>(t, indices, positions, y);
}

}  // namespace tilewright
