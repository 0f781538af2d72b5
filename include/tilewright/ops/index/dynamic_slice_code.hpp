#pragma once
#include "tilewright/kernel/indexed.hpp"
#include "tilewright/ops/index/dynamic_slice.hpp"

namespace tilewright {

template <PackedAttributes A, class T, class J, class P, class Y>
inline void DynamicSlice::compute(T t, J starts, P positions, Y y) {
  slice<A>(nullptr, t, starts, positions, y);
}

template <PackedAttributes A, class T, class J, class P, class Y>
inline void DynamicSlice::compute_checked(Faults faults, T t, J starts, P positions, Y y) {
  slice<A>(position_of(positions) == 0 ? &faults : nullptr, t, starts, positions, y);
}

template <PackedAttributes A, class T, class J, class P, class Y>
inline void DynamicSlice::slice(const Faults* faults, T t, J starts, P positions, Y y) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr int rank = T::shape.rank;
  constexpr Shape sizes = attributes.with(Y::shape, attributes.sizes);  // t is whole along the sliced axes, the result a block
  const auto begin = starts_of<A>(starts, T::shape, sizes, faults);
  if (!begin) return kernel::fill_zero(y);
  std::int64_t offset = 0;
  for (int axis = 0; axis < rank; ++axis)
    if (attributes.entry_of(axis, rank) >= 0)
      offset += ((*begin)[static_cast<std::size_t>(axis)] + kernel::block_begin(positions, axis)) * T::spec.stride(axis);
  using Part = View<written_out(ViewSpec{T::spec.dtype, Y::shape, T::spec.strides})>;
  kernel::copy_elements(y, Part{t.data + offset});
}

template <class D>
template <PackedAttributes A, class T, class J, class U, class P, class Y>
inline void DynamicUpdateOp<D>::compute(T t, J starts, U update, P positions, Y y) {
  write<A>(nullptr, t, starts, update, positions, y);
}

template <class D>
template <PackedAttributes A, class T, class J, class U, class P, class Y>
inline void DynamicUpdateOp<D>::compute_checked(Faults faults, T t, J starts, U update, P positions, Y y) {
  write<A>(position_of(positions) == 0 ? &faults : nullptr, t, starts, update, positions, y);
}

template <class D>
template <PackedAttributes A, class T, class J, class U, class P, class Y>
inline void DynamicUpdateOp<D>::write(const Faults* faults, T t, J starts, U update, P positions, Y y) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr int rank = T::shape.rank;
  kernel::copy_elements(y, t);  // nothing, if they are the same memory
  constexpr Shape whole = attributes.with(U::shape, attributes.extents);  // t and the result are a block
  const auto begin = D::template starts_of<A>(starts, whole, U::shape, faults);
  if (!begin) return;
  std::array<std::int64_t, max_rank> extents{};
  std::int64_t to = 0, from = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    extents[a] = Y::shape[axis];
    if (attributes.entry_of(axis, rank) < 0) continue;
    const std::int64_t block = kernel::block_begin(positions, axis), first = (std::max)(block, (*begin)[a]);
    extents[a] = (std::min)(block + Y::shape[axis], (*begin)[a] + U::shape[axis]) - first;
    if (extents[a] <= 0) return;
    to += (first - block) * Y::spec.stride(axis);
    from += (first - (*begin)[a]) * U::spec.stride(axis);
  }
  D::template copy_box<A, Y, U>(y.data + to, update.data + from, extents);
}

}  // namespace tilewright
