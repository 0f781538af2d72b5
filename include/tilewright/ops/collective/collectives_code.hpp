#pragma once
#include "tilewright/kernel/collective.hpp"
#include "tilewright/ops/collective/collectives.hpp"

namespace tilewright {

template <class D>
template <PackedAttributes, TensorSpec, TensorSpec>
constexpr std::int64_t CollectiveOp<D>::stack_bytes() {
  return kernel::collective_stack_bytes;
}

template <class D>
template <PackedAttributes A, TensorSpec in, TensorSpec>
inline void AllReduceOp<D>::run_collective(std::byte* const* operands, std::int64_t first, std::int64_t last) {
  constexpr auto attributes = unpack<Attributes>(A);
  kernel::reduce_over_replicas<static_cast<CollectiveOperator>(attributes.op), element_t<in.dtype>, in.nelms(),
                               attributes.groups>(operands, first, last);
}

template <PackedAttributes A, TensorSpec in, TensorSpec out>
inline void ReplicatedReduceScatter::run_collective(std::byte* const* operands, std::int64_t first, std::int64_t last) {
  constexpr auto attributes = unpack<Attributes>(A);
  using T = element_t<in.dtype>;
  if constexpr (attributes.has_axis == 0)
    kernel::reduce_scatter_over_replicas<static_cast<CollectiveOperator>(attributes.op), T, in.nelms(), out.nelms(),
                                         attributes.groups>(operands, first, last);
  else
    kernel::slice_for_replicas<T, out.nelms(), elements_from(out.shape, attributes.axis), attributes.groups>(operands, first,
                                                                                                             last);
}

template <PackedAttributes A, TensorSpec in, TensorSpec out>
inline void ReplicatedAllGather::run_collective(std::byte* const* operands, std::int64_t first, std::int64_t last) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr bool in_a_row = static_cast<GatheredShape>(attributes.shape) == GatheredShape::meta_shape;
  constexpr std::int64_t run = ReplicatedReduceScatter::elements_from(in.shape, in_a_row ? 0 : attributes.axis);
  kernel::gather_over_replicas<element_t<in.dtype>, out.nelms(), run, attributes.groups>(operands, first, last);
}

}  // namespace tilewright
