#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tilewright/kernel/indexed.hpp"
#include "tilewright/ops/index/split_gather.hpp"

namespace tilewright {

template <PackedAttributes A, class X, class Y>
inline void MergeParts::compute(X parts, Y y) {
  using T = typename Y::element;
  static constexpr ViewSpec part = [] {
    ViewSpec result = Y::spec;
    for (int axis = 0; axis < Y::shape.rank; ++axis) result.strides[std::size_t(axis)] = X::spec.stride(axis + 1);
    return result;
  }();
  static constexpr auto loops = kernel::elementwise_loops<2>({Y::spec, part});
  for (std::int64_t p = 0; p < X::shape[0]; ++p)
    for_each_offset<2>(loops.outer, loops.strides, [&](const auto& at) {
      T* const to = y.data + at[0];
      const T* const from = parts.data + p * X::spec.stride(0) + at[1];
      for (std::int64_t k = 0; k < loops.run; ++k) {
        std::byte bits[sizeof(T)]{}, others[sizeof(T)];
        if (p > 0) std::memcpy(bits, to + k * loops.run_strides[0], sizeof(T));
        std::memcpy(others, from + k * loops.run_strides[1], sizeof(T));
        for (std::size_t byte = 0; byte < sizeof(T); ++byte) bits[byte] |= others[byte];
        std::memcpy(static_cast<void*>(to + k * loops.run_strides[0]), bits, sizeof(T));
      }
    });
}

template <class D>
template <PackedAttributes A, class T, class J, class P, class Y>
inline void SplitGather<D>::compute(T t, J indices, P positions, Y y) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr int axis = attributes.axis_of(T::shape.rank);
  using Loops = kernel::IndexedLoops<axis, attributes.form, T, Y, J>;
  kernel::fill_zero(y);
  Loops::template for_each_hit<attributes.extent>(t, y, indices, kernel::block_begin(positions, axis),
                                                  [](const auto* from, auto* to) { Loops::template copy<1, 0>(to, from); });
}

template <class D>
template <PackedAttributes A, class T, class J, class P, class Y>
inline void SplitGather<D>::compute_checked(Faults faults, T t, J indices, P positions, Y y) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr unsigned axes = SplitGather::axes_without_indices(attributes, T::shape.rank);
  if (SplitGather::template is_first_reader<axes>(positions)) kernel::check_indices(faults, indices, attributes.extent);
  compute<A>(t, indices, positions, y);
}

}  // namespace tilewright
