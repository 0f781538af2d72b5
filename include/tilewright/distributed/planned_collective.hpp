#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tilewright/core/collective_operator.hpp"
#include "tilewright/core/dtype.hpp"
#include "tilewright/core/replica_groups.hpp"
#include "tilewright/execute/codelet.hpp"
#include "tilewright/kernel/collective.hpp"
#include "tilewright/ops/collective/collectives.hpp"

namespace tilewright::internal {

/// Meaning of a collective's items, so that processes run only those that they need.
enum class CollectiveItems : std::uint8_t {
  any,  ///< unknown: each process runs all items
  of_groups,  ///< chunks of the result of a group, which is equal on all its replicas; group by group
  of_replicas   ///< chunks of the result of a replica; replica by replica
};

/// Function that reduces elements of some replicas to those of one, in the order of the replicas; `result` may be one of the
/// inputs.
using HeldReduction = void (*)(std::byte* const* inputs, std::int64_t members, std::int64_t elements, std::byte* result);

/// Description of a collective, from which processes determine the messages; zeros for other compute sets.
struct PlannedCollective {
  std::int64_t input_bytes = 0, output_bytes = 0;  ///< of one replica
  std::int64_t element_bytes = 1;
  CollectiveItems items = CollectiveItems::any;
  bool reduces_in_place = false;  ///< whether an item of a group writes a chunk of each input to the same position of the outputs
  ReplicaGroups groups{};  ///< of all replicas, unless the items are `any`
  CollectiveOperator reduction = CollectiveOperator::local;
  DType dtype = DType::boolean;  ///< of the elements
  HeldReduction reduce_held = nullptr;  ///< first level of a hierarchical all-reduce; null: the collective cannot be hierarchical
};

namespace detail {

template <CollectiveOperator op, class T>
void reduce_held(std::byte* const* inputs, std::int64_t members, std::int64_t elements, std::byte* result) {
  for (std::int64_t begin = 0; begin < elements; begin += kernel::collective_chunk)
    kernel::reduce_members<op>(
        members, [&](std::int64_t i) -> const T* { return reinterpret_cast<const T*>(inputs[i]) + begin; },
        (std::min)(kernel::collective_chunk, elements - begin), reinterpret_cast<T*>(result) + begin);
}
/// Returns the reduction of held replicas; the sum of a mean is divided at the end. Null for dtypes that MPI does not have or
/// that need wider sums, and for other operators.
template <CollectiveOperator op, DType dtype>
consteval HeldReduction held_reduction() {
  using enum CollectiveOperator;
  constexpr bool is_wide = dtype == DType::float32 || dtype == DType::float64;
  if constexpr (op == mean && is_wide) return reduce_held<add, element_t<dtype>>;
  else if constexpr ((op == add || op == mul || op == min || op == max) && (is_wide || is_int(dtype)))
    return reduce_held<op, element_t<dtype>>;
  else return nullptr;
}

template <const auto& plan, std::size_t set>
consteval PlannedCollective planned_collective() {
  using B = Block<plan, set, Extents{}>;
  using O = OpType<plan.stages[static_cast<std::size_t>(plan.compute_sets[set].first_stage)].op>;
  PlannedCollective result;
  if constexpr (op_info<O>.collective_items != nullptr) {
    const auto bytes = [](const ViewSpec& view) { return TensorSpec{view.shape, view.dtype}.bytes(); };
    result.input_bytes = bytes(B::operand(0, 0).view);
    result.output_bytes = bytes(B::operand(0, 1).view);
    result.element_bytes = size_of(B::operand(0, 0).view.dtype);
    result.reduces_in_place = std::derived_from<O, AllReduceOp<O>>;
    if constexpr (std::derived_from<O, AllReduceOp<O>> || std::same_as<O, ReplicatedAllGather>)
      result.items = CollectiveItems::of_groups;
    if constexpr (std::same_as<O, ReplicatedReduceScatter>) result.items = CollectiveItems::of_replicas;
    if constexpr (requires { &O::Attributes::groups; })
      result.groups = unpack<typename O::Attributes>(B::stage(0).attributes).groups;
    if constexpr (std::derived_from<O, AllReduceOp<O>>) {
      constexpr DType dtype = B::operand(0, 0).view.dtype;
      constexpr auto reduction = static_cast<CollectiveOperator>(unpack<typename O::Attributes>(B::stage(0).attributes).op);
      result.reduction = reduction;
      result.dtype = dtype;
      if (result.groups.group_size == result.groups.num_replicas) result.reduce_held = held_reduction<reduction, dtype>();
    }
  }
  return result;
}

}  // namespace detail

/// Collectives of a frozen plan, by compute set.
template <const auto& plan>
inline constexpr auto planned_collectives = []<std::size_t... set>(std::index_sequence<set...>) {
  return std::array<PlannedCollective, sizeof...(set)>{detail::planned_collective<plan, set>()...};
}(std::make_index_sequence<plan.compute_sets.size()>{});

}  // namespace tilewright::internal
