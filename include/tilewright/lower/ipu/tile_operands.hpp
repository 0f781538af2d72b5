#pragma once
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/ipu/left_elements.hpp"
#include "tilewright/lower/ipu/operand_cut.hpp"
#include "tilewright/lower/ipu/tile_draft.hpp"

namespace tilewright::internal {

/// Returns whether a storage owns memory on tiles.
constexpr bool owns_tile_memory(const Storage& storage) {
  return !storage.internal && storage.reuses == StorageId::none && storage.location.base != Base::position &&
         storage.location.base != Base::remote;
}

namespace detail {

/// Finds the operands of groups whose tensors have layouts and whose vertices have places: which are on the tiles of their
/// vertices, and which are exchanged.
class TileOperandFinder {
  // Clang instantiates what a function calls only if it is defined above
  struct Use {
    StorageId storage = StorageId::none;
    const Value* value = nullptr;
    bool is_written = false;
    bool is_passed = false;  // whether one view of the storage is written, and another one is used
    bool is_gathered = false;  // whether a view has all its elements, or some that several other views have written
  };
  constexpr std::int64_t elements_of(StorageId s) const { return draft_.storage(s).whole.shape.nelms(); }
  constexpr int set_of(StorageId s) const { return sets_.number(draft_.storage(s).placement); }
  constexpr bool may_move(StorageId s, int set) const {
    if (set_of(s) != set) return false;
    const Location& location = draft_.storage(s).location;
    if (location.base == Base::frame || location.base == Base::argument) return true;
    const Home* const home = homes_.find(location.base, location.offset);
    return location.base == Base::variable && home != nullptr && !home->layout.is_decided();
  }
  constexpr void for_each_operand_on_tiles(std::size_t g, const auto& f) const {
    for (const Member& member : draft_.groups[g].members) {
      const Operation& operation = draft_.operation(member);
      for (int o = 0; o < static_cast<int>(operation.operands.size()); ++o) {
        const StorageId given = operation.operands[o].storage, s = draft_.owner(given);
        if (owns_tile_memory(draft_.storage(s)) && !draft_.storage(given).internal) f(operation, o, member, s);
      }
    }
  }

 public:
  constexpr TileOperandFinder(const TileDraft& draft, const TileSets& sets, TileHomes& homes, TileMap& map)
      : draft_(draft), sets_(sets), homes_(homes), map_(map) {}

  /// Puts tensors on the tile of a group of one vertex that writes parts of them and uses these together: what its operations
  /// pass to each other is then in one place. If one of them is on one tile, the group moves there. Variables that other bodies
  /// use stay where they are. If several are on one tile each, all come to the one with the lowest number. Returns whether one
  /// has moved: then a group that gathered it before follows.
  constexpr bool gather(std::size_t g) {
    if (draft_.cuts[g].partition.vertices > 1) return false;
    GridPlaces& grid = map_.groups[g].grid;
    List<Use> uses;
    LeftElements left;
    for_each_operand_on_tiles(g, [&](const Operation& operation, int o, const Member& member, StorageId s) {
      if (!may_move(s, grid.places.set)) return;
      const Value& value = operation.operands[o];
      const OperandCut cut = cut_operand(operation, member, o, draft_.cuts[g].partition.blocks, grid);
      const bool is_apart = left.has_part(s, cut) && !left.has(s, cut, false);
      Use own{s, &value, operation.is_output(o), false, is_apart || value.spec.shape.nelms() >= elements_of(s)};
      for (Use& each : uses) {
        if (each.storage != s) continue;
        own.is_gathered = each.is_gathered = each.is_gathered || own.is_gathered;
        const bool is_same = each.value->layout == value.layout && each.value->spec == value.spec;
        own.is_passed = each.is_passed = each.is_passed || (!is_same && (each.is_written || own.is_written));
      }
      if (own.is_written) left.add(s, cut, false);
      uses.push_back(own);
    });
    const auto is_on_one_tile = [](const TileLayout& layout) { return layout.places.count == 1; };
    const auto gathers = [&](const Use& each) {
      return each.is_passed && each.is_gathered && map_.layouts[each.storage].places.count > 0;
    };
    bool stays = false, moves = false;
    for (const Use& each : uses) {
      const TileLayout& layout = map_.layouts[each.storage];
      if (!gathers(each) || !is_on_one_tile(layout)) continue;
      grid.places.first_tile = stays ? (std::min)(grid.places.first_tile, layout.places.first_tile) : layout.places.first_tile;
      stays = true;
    }
    for (const Use& each : uses) {
      TileLayout& layout = map_.layouts[each.storage];
      if (!gathers(each) || (is_on_one_tile(layout) && layout.places.first_tile == grid.places.first_tile)) continue;
      layout = {};
      layout.axes.push_back({1, elements_of(each.storage), elements_of(each.storage), {}});
      layout.places = {1, grid.places.first_tile, grid.places.set};
      moves = true;
    }
    return moves;
  }
  constexpr void find(std::size_t g) {
    TileGroup& tiles = map_.groups[g];
    struct Known {
      const Value* value;
      GridAxes axes;
    };
    List<Known> known;
    LeftElements left;
    for_each_operand_on_tiles(g, [&](const Operation& operation, int o, const Member& member, StorageId s) {
      const Value& value = operation.operands[o];
      const bool is_output = operation.is_output(o);
      const GridAxes axes = grid_axes_of(operation, member, o);
      std::size_t k = 0;
      while (k < known.size() && !(tiles.operands[k].storage == s && known[k].value->layout == value.layout &&
                                   known[k].value->spec == value.spec && known[k].axes == axes))
        ++k;
      if (k == known.size() || !left.is_empty() || is_output) {
        const OperandCut cut = cut_operand(operation, member, o, draft_.cuts[g].partition.blocks, tiles.grid);
        TileOperand operand{s, static_cast<int>(&member - draft_.groups[g].members.data()), o};
        operand.slice_elements = cut.slice_elements();
        if (operation.op->collective_items) operand.local_elements = operand.slice_elements;
        else operand.access = access_of(cut, map_.layouts[s], tiles.grid, sets_.count(set_of(s)), operand.local_elements);
        const bool is_local = operand.access == TileAccess::local;
        if (left.has(s, cut, is_local)) return;
        if (is_output) left.add(s, cut, is_local);
        if (k == known.size()) {
          known.push_back({&value, axes});
          tiles.operands.push_back(operand);
        }
      }
      (is_output ? tiles.operands[k].is_written : tiles.operands[k].is_read) = true;
      const bool is_product = operation.op->work_kind == WorkKind::product || operation.op->work_kind == WorkKind::convolution;
      tiles.operands[k].in_blocks = tiles.operands[k].in_blocks && (is_product || operation.op->elementwise);
    });
  }

 private:
  const TileDraft& draft_;
  const TileSets& sets_;
  TileHomes& homes_;
  TileMap& map_;
};

}  // namespace detail

/// Finds the operands on tiles of all groups of a body. Changes layouts of tensors whose parts a vertex passes on.
constexpr void find_tile_operands(const TileDraft& draft, const TileSets& sets, TileHomes& homes, TileMap& map) {
  detail::TileOperandFinder finder(draft, sets, homes, map);
  const auto is_compute = [&](std::size_t g) { return !draft.operation(draft.groups[g].members[0]).is_call(); };
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t g = 0; g < draft.groups.size(); ++g)
      if (is_compute(g) && finder.gather(g)) moves = true;
  }
  for (std::size_t g = 0; g < draft.groups.size(); ++g)
    if (is_compute(g)) finder.find(g);
}

}  // namespace tilewright::internal
