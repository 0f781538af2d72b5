#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tilewright/lower/ipu/product_vertex.hpp"
#include "tilewright/lower/ipu/tile_draft.hpp"

namespace tilewright::internal {

/// Finds the operands of products that are transposed before: the unit for products reads terms of a sum that are neighbours in
/// memory. poplibs allocates a tensor as its first product reads it, and each op writes its result in the order of its axes. A
/// product that reads another order has blocks of 16 lines transposed first, evenly on all tiles, and the blocks come to their
/// tiles by the exchange. Published: popops, regroupTensor.
class TransposedOperands {
 public:
  static constexpr bool is_matrix_product(const Operation& operation) {
    return !operation.is_call() && is_product_vertex(operation) && operation.op->vertex_cost.formula == CostFormula::product;
  }

  constexpr TransposedOperands(const TileDraft& draft, const Target& target)
      : draft_(draft), target_(target), orders_(draft.storages.size(), 0) {
    for (const Group& group : draft.groups)
      for (const Member& member : group.members) {
        const Operation& operation = draft.operation(member);
        if (!is_matrix_product(operation)) continue;
        for (const int o : {0, 1})
          if (std::int64_t& order = orders_[draft.owner(operation.operands[o].storage)]; order == 0)
            order = draft.in_frame(draft.owner(operation.operands[o].storage)) ? 1 : strides_of(operation, o).terms;
      }
  }

  /// Returns the bytes of operands that a tile transposes before group g.
  constexpr std::int64_t before(std::size_t g) const {
    std::int64_t bytes = 0;
    for (const Member& member : draft_.groups[g].members) {
      const Operation& operation = draft_.operation(member);
      if (!is_matrix_product(operation)) continue;
      for (const int o : {0, 1}) {
        const Value& value = operation.operands[o];
        const Strides strides = strides_of(operation, o);
        if (strides.terms == 0 || strides.others == 0 || strides.terms == orders_[draft_.owner(value.storage)]) continue;
        bytes += transposed_bytes(value.spec.bytes(), target_.tiles);
      }
    }
    return bytes;
  }

 private:
  /// Smallest distances in memory of elements along the axes of the sum, and along others; 0: there are no such axes.
  struct Strides {
    std::int64_t terms = 0, others = 0;
  };
  static constexpr Strides strides_of(const Operation& operation, int o) {
    const Value& value = operation.operands[o];
    Strides result;
    for (int axis = 0; axis < value.spec.shape.rank; ++axis) {
      const std::int64_t stride = value.layout.strides[static_cast<std::size_t>(axis)];
      if (value.spec.shape[axis] == 1 || stride == 0) continue;
      const int of_work = operation.work.follows(o, axis);
      const bool is_term = of_work >= 0 && detail::product_axis(operation.work, of_work) == ProductAxis::inner;
      std::int64_t& least = is_term ? result.terms : result.others;
      if (least == 0 || stride < least) least = stride;
    }
    return result;
  }
  const TileDraft& draft_;
  const Target& target_;
  PerStorage<std::int64_t> orders_;  // distance of the elements that are neighbours in memory; 0: no product reads it
};

}  // namespace tilewright::internal
