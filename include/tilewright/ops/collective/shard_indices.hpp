#pragma once
#include <cstdint>
#include <limits>
#include <optional>

#include "tilewright/op/elementwise.hpp"
#include "tilewright/ops/collective/identical_reduce.hpp"

namespace tilewright {

/// Places of indices of a whole table in a replica's shard of its rows: inputs (indices, the replica's index in its group).
/// Result: from 0 to shard - 1 for a row of the shard, `shard` for another replica's row, and -1 for an ignored index or one
/// outside of the table, which is a fault.
struct ShardIndices : Elementwise<ShardIndices> {
  static constexpr std::string_view name = "ShardIndices";
  constexpr operator VertexCost() const { return binary_map_cost({10, 2}, {10, 4}); }  // two comparisons and two choices
  constexpr operator Fusion() const { return Fusion{.elementwise = true}; }
  struct Attributes {
    std::int64_t shard = 0;  ///< rows of a shard
    std::int64_t count = 0;  ///< rows of the table
    std::int64_t ignores = 0;
    std::int64_t ignore_index = 0;
  };
  static constexpr void infer(Inference& op) {
    if (!is_int(op.input(0).dtype)) return op.fail("indices ", to_text(op.input(0)), ": integers expected");
    if (const auto rows = op.attributes<Attributes>().shard; rows > (std::numeric_limits<std::int32_t>::max)())
      return op.fail("shards of ", rows, " rows: at most 2147483647, the places of int32, expected");
    op.output({op.input(0).shape, int32});
  }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec>, int, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    Text expected = text("an index from 0 to ", attributes.count - 1);
    if (attributes.ignores != 0) expected += ", or the ignored one,";
    return {true, "index", expected};
  }
  template <PackedAttributes A, class J, class R, class P>
  static void compute_checked(Faults faults, J indices, R replica, P places);
};

namespace detail {
/// Returns the places of indices in this replica's shard of `shard` rows, see ShardIndices. Replica i of a group has shard i.
constexpr Tensor shard_indices(Tensor indices, std::int64_t shard, const ReplicaGrouping& group,
                               std::optional<std::int64_t> ignored = {}) {
  Ir& ir = indices.ir();
  const std::int64_t size = group.valid() ? group.group_size() : ir.replication_factor();
  const Tensor numbers = ir.constant(range(), {size}, int32),
               replica = ops::collectives::replicated_slice(numbers, {.group = group});
  return apply<ShardIndices>({indices, replica}, {shard, shard * size, ignored.has_value(), ignored.value_or(0)});
}
}  // namespace detail

}  // namespace tilewright
