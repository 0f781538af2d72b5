#pragma once
#include "tilewright/kernel/reduce/sum.hpp"
#include "tilewright/ops/reduce/sum.hpp"

namespace tilewright {

template <class D>
template <PackedAttributes A, class In, class Out>
inline void SumOp<D>::compute(In in, Out out) {
  constexpr auto attributes = unpack<Attributes>(A);
  kernel::assign_sum<ReductionRules::axis_bits(attributes, In::shape.rank), (attributes.extent_of_part > 0)>(in, out,
                                                                                                             attributes.scale);
}

template <class D>
template <PackedAttributes A, class Out, class Epilogue, class In, class FirstOnly>
inline void SumOp<D>::compute_with(const Epilogue& epilogue, In in, FirstOnly first_only) {
  constexpr auto attributes = unpack<Attributes>(A);
  kernel::sum_elements<ReductionRules::axis_bits(attributes, In::shape.rank), Out, (attributes.extent_of_part > 0)>(
      in, attributes.scale, epilogue, first_only);
}

}  // namespace tilewright
