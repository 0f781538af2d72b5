#pragma once
#include "tilewright/array.hpp"
#include "tilewright/kernel/reduce/cumulate.hpp"
#include "tilewright/kernel/reduce/locate.hpp"
#include "tilewright/kernel/reduce/order.hpp"
#include "tilewright/ops/reduce/reductions.hpp"

namespace tilewright {

template <class D, class Rule>
template <PackedAttributes A, class X, class Y>
inline void RuleReduction<D, Rule>::compute(X x, Y y) {
  y.array() = kernel::reduced_over<Rule, axes<A, X>, keeps<A>>(D::terms(x.array()));
}

template <class D, class Rule>
template <PackedAttributes A, class X, class Y>
constexpr std::int64_t RuleReduction<D, Rule>::stack_bytes() {
  using Reduced = decltype(kernel::reduced_over<Rule, axes<A, X>, keeps<A>>(D::terms(std::declval<X&>().array())));
  return Reduced::template stack_bytes<Y>();
}

template <class D>
template <PackedAttributes A, class... V>
inline void SelectionGrad<D>::compute(V... views) {
  if constexpr (sizeof...(V) == 4) kernel::assign_at_first<reduced<A, V...>>(views...);
}

template <class D>
template <PackedAttributes A, class... V>
constexpr std::int64_t SelectionGrad<D>::stack_bytes() {
  if constexpr (sizeof...(V) == 4) return kernel::at_first_stack_bytes<reduced<A, V...>, V...>;
  else return 0;
}

template <PackedAttributes A, class X, class Y>
inline void ReduceMedian::compute(X x, Y y) {
  kernel::assign_median<axis_bits(unpack<Attributes>(A), X::shape.rank)>(x, y);
}

template <PackedAttributes, class...>
constexpr std::int64_t ReduceMedian::stack_bytes() {
  return kernel::median_stack_bytes;
}

template <PackedAttributes A, class X, class DY, class DX>
inline void ReduceProdGrad::compute(X x, DY dy, DX dx) {
  kernel::assign_products_of_others<axis_bits(unpack<Attributes>(A), X::shape.rank)>(x, dy, dx);
}

}  // namespace tilewright
