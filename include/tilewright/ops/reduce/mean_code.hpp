#pragma once
#include "tilewright/kernel/reduce/rules.hpp"
#include "tilewright/ops/reduce/mean.hpp"

namespace tilewright {

template <PackedAttributes A, class In, class Out>
inline void ReduceMean::compute(In in, Out out) {
  if constexpr (is_int(In::spec.dtype)) kernel::assign_integer_mean<axis_bits(unpack<Attributes>(A), In::shape.rank)>(in, out);
  else SumOp::compute<A>(in, out);
}

}  // namespace tilewright
