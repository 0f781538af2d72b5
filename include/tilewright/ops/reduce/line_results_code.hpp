#pragma once
#include "tilewright/kernel/reduce/cumulate.hpp"
#include "tilewright/kernel/reduce/locate.hpp"
#include "tilewright/kernel/reduce/order.hpp"
#include "tilewright/ops/reduce/line_results.hpp"

namespace tilewright {

template <class D, bool largest>
template <PackedAttributes A, class X, class Y>
inline void ArgOp<D, largest>::compute(X x, Y y) {
  kernel::assign_extreme_index<largest, static_cast<int>(unpack<Attributes>(A).axis)>(x, y);
}

template <class D, bool largest>
template <PackedAttributes A, class X, class Y>
constexpr std::int64_t ArgOp<D, largest>::stack_bytes() {
  return kernel::extreme_index_stack_bytes<static_cast<int>(unpack<Attributes>(A).axis), X, Y>;
}

template <PackedAttributes A, class X, class Y>
inline void CumSum::compute(X x, Y y) {
  constexpr auto attributes = unpack<Attributes>(A);
  kernel::assign_running_sums<static_cast<int>(attributes.axis), attributes.reversed != 0>(x, y);
}

template <PackedAttributes A, class X, class Y>
constexpr std::int64_t CumSum::stack_bytes() {
  return kernel::running_sums_stack_bytes<static_cast<int>(unpack<Attributes>(A).axis), X, Y>;
}

template <PackedAttributes A, class DY, class Indices, class DX>
inline void TopKGrad::compute(DY dy, Indices indices, DX dx) {
  kernel::assign_at_indices<static_cast<int>(unpack<Attributes>(A).axis)>(dy, indices, dx);
}

template <PackedAttributes A, class X, class Values, class Indices>
inline void TopK::compute(X x, Values values, Indices indices) {
  constexpr auto attributes = unpack<Attributes>(A);
  kernel::assign_top<attributes.largest != 0, static_cast<int>(attributes.axis)>(x, values, indices);
}

template <PackedAttributes A, class X, class Values, class Indices>
constexpr std::int64_t TopK::stack_bytes() {
  constexpr auto attributes = unpack<Attributes>(A);
  return kernel::top_stack_bytes < attributes.largest != 0, static_cast<int>(attributes.axis), X, Values > ;
}

template <PackedAttributes A, class X, class Levels, class Counts>
inline void Histogram::compute(X x, Levels levels, Counts counts) {
  kernel::assign_histogram<unpack<Attributes>(A).absolute != 0>(x, levels, counts);
}

}  // namespace tilewright
