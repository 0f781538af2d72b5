#pragma once
#include "tilewright/kernel/elementwise.hpp"
#include "tilewright/ops/linear/float8.hpp"

namespace tilewright {

namespace detail {
template <class D>
template <PackedAttributes, class X, class Scale, class Y>
inline void Pow2ScaleOp<D>::compute_checked(Faults faults, X x, Scale scale, Y y) {
  std::int64_t exponent = *scale.data;
  if (exponent < least_log2_scale || exponent >= end_of_log2_scale) {
    faults.report(exponent);
    exponent = 0;
  }
  using Compute = compute_t<typename X::element>;
  const auto factor = static_cast<Compute>(std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52));
  kernel::assign_elements([factor](Compute element) { return element * factor; }, y, x);
}
}  // namespace detail

}  // namespace tilewright
