#pragma once
#include <cstdint>

#include "tilewright/lower/intrinsics.hpp"
#include "tilewright/lower/ipu/tile_draft.hpp"

namespace tilewright::internal {

namespace detail {

/// Finds the operand of a group that is one of the operation's operands. Returns false if the group uses the storage in several
/// ways, or if a vertex has its elements not in one piece.
constexpr bool find_bank_operand(const TileDraft& draft, const TileMap& map, const TileSets& sets, int g, const Value& value,
                                 BankOperand& result) {
  const StorageId s = draft.owner(value.storage);
  const List<TileOperand>& operands = map.groups[g].operands;
  if (draft.storage(value.storage).internal) return false;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].storage != s) continue;
    if (result.operand >= 0) return false;
    result.operand = static_cast<int>(k);
  }
  if (result.operand < 0) return false;
  const TileOperand& operand = operands[result.operand];
  if (operand.access == TileAccess::local && operand.slice_elements != map.layouts[s].block_elements()) return false;
  if (operand.slice_elements == 0 || map.groups[g].grid.places.on_a_tile(sets) == 0) return false;
  const Location& location = draft.storage(s).location;
  result.slice_bytes = align(operand.slice_elements * size_of(value.spec.dtype), tile_alignment);
  result.base = operand.access == TileAccess::local ? location.base : Base::frame;
  result.offset = location.offset;
  return true;
}

}  // namespace detail

/// Returns the number of the member of a group that is a sum, difference, product or scaled sum of tensors, if all others only
/// copy its operands or its result; otherwise -1.
constexpr int find_arithmetic(const BodyDraft& draft, const Group& group) {
  int result = -1;
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const Operation& operation = draft.operation(group.members[m]);
    if (operation.is_call()) return -1;
    const CostFormula formula = operation.op->vertex_cost.formula;
    if (detail::is_identity(operation)) continue;
    if (result >= 0 || (formula != CostFormula::scaled_add && formula != CostFormula::arithmetic)) return -1;
    result = static_cast<int>(m);
  }
  return result;
}

/// Finds the step of a group whose cycles depend on the banks of its operands: arithmetic with two tensors of one shape and
/// dtype, float16 or float32, that are not copied before. Returns false for others.
constexpr bool find_bank_step(const TileDraft& draft, const TileMap& map, const TileSets& sets, int g, BankStep& result) {
  const Group& group = draft.groups[g];
  const int member = find_arithmetic(draft, group);
  if (member < 0) return false;
  const Operation& operation = draft.operation(group.members[member]);
  const Value* written = nullptr;
  for (const Member& each : group.members) {
    const Value& value = draft.operation(each).operands.back();
    if (draft.storage(value.storage).internal) continue;
    if (written != nullptr) return false;
    written = &value;
  }
  if (written == nullptr || operation.input_count < 2) return false;
  const Value &x = operation.operands[0], &y = operation.operands[1];
  if (x.spec.dtype != float16 && x.spec.dtype != float32) return false;
  if (!(x.spec == y.spec) || x.spec.dtype != written->spec.dtype) return false;
  if (!detail::find_bank_operand(draft, map, sets, g, x, result.x) ||
      !detail::find_bank_operand(draft, map, sets, g, y, result.y) ||
      !detail::find_bank_operand(draft, map, sets, g, *written, result.result))
    return false;
  const TileGroup& tiles = map.groups[g];
  result.elements = tiles.operands[result.x.operand].slice_elements;
  for (const BankOperand* each : {&result.y, &result.result})
    if (tiles.operands[each->operand].slice_elements != result.elements) return false;
  result.op = operation.op;
  result.dtype = x.spec.dtype;
  result.group = g;
  result.set = tiles.grid.places.set;
  result.vertices = tiles.grid.places.on_a_tile(sets);
  return true;
}

}  // namespace tilewright::internal
