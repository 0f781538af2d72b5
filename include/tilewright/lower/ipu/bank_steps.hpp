#pragma once
#include <cstdint>

#include "tilewright/lower/draft/intrinsics.hpp"
#include "tilewright/lower/ipu/product_vertex.hpp"
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

/// Returns the elements of a full block of an operand.
constexpr std::int64_t block_elements_of(const TileDraft& draft, int g, const Member& member, int o) {
  const Operation& operation = draft.operation(member);
  const Value& value = operation.operands[o];
  return block_bytes(value, grid_axes_of(operation, member, o), draft.cuts[g].partition.blocks) / size_of(value.spec.dtype);
}

/// Finds the operand on tiles that an operand of an operation is, or returns -1.
constexpr int find_tile_operand(const TileDraft& draft, const TileMap& map, int g, int member, int o) {
  const Group& group = draft.groups[g];
  const Operation& operation = draft.operation(group.members[member]);
  const Value& value = operation.operands[o];
  const GridAxes axes = grid_axes_of(operation, group.members[member], o);
  const List<TileOperand>& operands = map.groups[g].operands;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const TileOperand& each = operands[k];
    if (each.storage != draft.owner(value.storage)) continue;
    const Operation& first = draft.operation(group.members[each.member]);
    const Value& same = first.operands[each.operand];
    if (same.layout == value.layout && same.spec == value.spec &&
        grid_axes_of(first, group.members[each.member], each.operand) == axes)
      return static_cast<int>(k);
  }
  return -1;
}

/// Finds the bytes of a tile in which its vertices have an operand of a product: the tile's part of a storage, slices, or
/// scratch. Sums that are only in registers are where the group writes as many elements that it does not read. Returns false if
/// the operand has no such bytes.
constexpr bool find_product_operand(const TileDraft& draft, const TileMap& map, const TileSets& sets, int g, int member, int o,
                                    BankOperand& result) {
  const Group& group = draft.groups[g];
  const Operation& operation = draft.operation(group.members[member]);
  const List<TileOperand>& operands = map.groups[g].operands;
  const bool is_sums = o == operation.input_count;
  if (!draft.storage(operation.operands[o].storage).internal) {
    result.operand = find_tile_operand(draft, map, g, member, o);
  } else if (!is_sums || !draft.cuts[g].evaluations.in_registers[member]) {
    result.operand = scratch_operand;
    return true;
  } else {
    const std::int64_t elements = block_elements_of(draft, g, group.members[member], o);
    for (std::size_t k = 0; k < operands.size() && result.operand < 0; ++k)
      if (operands[k].is_written && !operands[k].is_read && operands[k].slice_elements == elements)
        result.operand = static_cast<int>(k);
  }
  if (result.operand < 0) return false;
  const TileOperand& operand = operands[result.operand];
  const Storage& storage = draft.storage(operand.storage);
  const bool is_local = operand.access == TileAccess::local;
  result.slice_bytes = align(operand.slice_elements * size_of(storage.whole.dtype), tile_alignment);
  result.bytes = is_local ? room_bytes(map.layouts[operand.storage], storage.whole.dtype, sets)
                          : map.groups[g].grid.places.on_a_tile(sets) * result.slice_bytes;
  result.base = is_local ? storage.location.base : Base::frame;
  result.offset = storage.location.offset;
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

/// Finds the step of a group with one product or convolution. Returns false for others, and if an operand is nowhere on tiles.
constexpr bool find_product_step(const TileDraft& draft, const TileMap& map, const Target& target, int g, BankStep& result) {
  const Group& group = draft.groups[g];
  const TileSets sets(target);
  int product = -1;
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const Operation& operation = draft.operation(group.members[m]);
    if (operation.is_call()) return false;
    if (!is_product_vertex(operation)) continue;
    if (product >= 0) return false;
    product = static_cast<int>(m);
  }
  if (product < 0) return false;
  const TileGroup& tiles = map.groups[g];
  result.group = g;
  result.set = tiles.grid.places.set;
  result.vertices = tiles.grid.places.on_a_tile(sets);
  if (result.vertices == 0 || !detail::find_product_operand(draft, map, sets, g, product, 0, result.x) ||
      !detail::find_product_operand(draft, map, sets, g, product, 1, result.y) ||
      !detail::find_product_operand(draft, map, sets, g, product, 2, result.result))
    return false;
  const Member& member = group.members[product];
  result.op = draft.operation(member).op;
  const ProductVertex vertex = product_vertex(draft, target, static_cast<std::size_t>(g), member);
  for (const OperandBanks banks :
       {OperandBanks::same, OperandBanks::same_pair, OperandBanks::different, OperandBanks::interleaved}) {
    result.unit_cycles[static_cast<int>(banks)] = vertex.unit_cycles(banks);
    result.dot_cycles[static_cast<int>(banks)] = vertex.dot_cycles(banks);
  }
  result.use = result.dots(OperandBanks::different) < result.by_unit(OperandBanks::interleaved) ? BankUse::terms : BankUse::sums;
  return true;
}

}  // namespace tilewright::internal
