#pragma once
#include "tilewright/kernel/elementwise.hpp"
#include "tilewright/kernel/functions/error_function.hpp"
#include "tilewright/kernel/functions/hyperbolic.hpp"
#include "tilewright/kernel/functions/inverse_trigonometry.hpp"
#include "tilewright/kernel/functions/normal_cdf.hpp"
#include "tilewright/kernel/functions/power.hpp"
#include "tilewright/kernel/functions/tangent.hpp"
#include "tilewright/kernel/functions/trigonometry.hpp"
#include "tilewright/op/elementwise.hpp"

namespace tilewright {

template <class D>
template <PackedAttributes A, class... V>
inline void Elementwise<D>::compute(V... views) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    auto operands = std::tie(views...);
    kernel::assign_elementwise<detail::Formula<D, A>>(std::get<sizeof...(i)>(operands), std::get<i>(operands)...);
  }(std::make_index_sequence<sizeof...(V) - 1>{});
}

template <class D>
template <PackedAttributes, class... V>
inline void Elementwise<D>::compute_checked(Faults faults, V... views) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    auto operands = std::tie(views...);
    kernel::assign_elements([&](const auto&... x) { return D::forward_checked(faults, x...); }, std::get<sizeof...(i)>(operands),
                            std::get<i>(operands)...);
  }(std::make_index_sequence<sizeof...(V) - 1>{});
}

}  // namespace tilewright
