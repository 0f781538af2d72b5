#pragma once
#include "tilewright/kernel/indexed.hpp"
#include "tilewright/ops/index/onehot.hpp"

namespace tilewright {

template <PackedAttributes A, class DY, class J, class DV>
inline void OneHotGrad::compute(DY dy, J indices, DV values) {
  constexpr auto axis = static_cast<int>(unpack<Attributes>(A).axis);
  using Loops = kernel::IndexedLoops<axis, kernel::IndexForm::rows, DY, DY, J>;
  double on = 0, all = 0;
  for_each_element<axis>(indices, dy, [&](auto index, const auto* line) {
    const std::uint64_t n = kernel::index_number(index);
    double sum = 0;
    for (std::int64_t c = 0; c < DY::shape[axis]; ++c)
      if (static_cast<std::uint64_t>(c) != n) sum += static_cast<double>(line[c * Loops::step]);
    all += sum;
    if (n < Loops::extent) on += static_cast<double>(line[static_cast<std::int64_t>(n) * Loops::step]);
  });
  values.data[0] = static_cast<typename DV::element>(all);
  values.data[values.spec.stride(0)] = static_cast<typename DV::element>(on);
}

template <PackedAttributes A, class J, class V, class P, class Y>
inline void OneHot::compute(J indices, V values, P positions, Y y) {
  constexpr auto axis = static_cast<int>(unpack<Attributes>(A).axis);
  const auto off = values.data[0], on = values.data[V::spec.stride(0)];
  using Off = View<written_out(ViewSpec{V::spec.dtype, Y::shape, {}})>;
  kernel::copy_elements(y, Off{values.data});
  if (off == on) return;
  const std::int64_t first = kernel::block_begin(positions, axis);
  OneHotGrad::for_each_element<axis>(indices, y, [&](auto index, auto* line) {
    const auto n = static_cast<std::int64_t>(index) - first;
    if (static_cast<std::uint64_t>(n) < static_cast<std::uint64_t>(Y::shape[axis])) line[n * Y::spec.stride(axis)] = on;
  });
}

}  // namespace tilewright
