#pragma once
// takes: groups, their cuts, and Storage::reuses; layouts that other bodies have decided
// gives: BodyDraft::tiles without rooms: a layout for each storage with memory on tiles, places for the vertices of all groups,
//        and the access of each operand; layouts of variables and constants that this body is the first to use
// keeps: groups, except the blocks of groups that follow a layout; Storage::reuses, except if a result and the memory that it
//        would take over are on different tiles
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/ipu/operand_cut.hpp"
#include "tilewright/lower/ipu/tile_draft.hpp"
#include "tilewright/lower/ipu/tile_operands.hpp"
#include "tilewright/rules/ipu/rules_of_ops.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

namespace detail {

/// Smallest number of bytes of a spread tensor on a tile: smaller parts would mean more messages in an exchange. poplibs' linear
/// mapping has the same number (poputil, TileMapping). With twice this number, the encoders of `./dev bench ipu` get other
/// layouts.
inline constexpr std::int64_t least_spread_bytes = 128;
/// A group follows the layout that its result should have only if the layout has places for this number of quarters of its
/// vertices: on fewer tiles, the extra compute time exceeds the saved exchange. With 1 and with 4, the encoders of `./dev bench
/// ipu` get other steps; with 2, no benchmark gets other steps.
inline constexpr std::int64_t enough_quarters = 3;

/// Decides where the storages and the vertices of a body are, in three rounds over its groups. First, operands of products that
/// no group has written, such as weights, and tables of indexed ops, get the layout of their first use. Then, in the order of
/// groups, a group that changes a tensor in place, or computes formulas of its inputs only, follows the layout of that tensor or
/// of its largest input; other groups place their vertices in order; and results get the layout in which they are written.
/// Finally, all other storages are spread evenly.
class TileMapper {
 public:
  constexpr TileMapper(TileDraft& draft, const Target& target, TileHomes& homes, BodyId body)
      : draft_(draft), sets_(target), homes_(homes), body_(body) {}

  constexpr TileMap run() {
    map_.layouts.resize(draft_.storages.size());
    map_.groups.resize(draft_.groups.size());
    take_homes();
    for (std::size_t g = 0; g < draft_.groups.size(); ++g)
      if (is_compute(g)) {
        map_.groups[g].grid = places_in_order(draft_.groups[g].grid, draft_.cuts[g].partition.blocks);
        map_.groups[g].grid.places.set = set_of(g);
      }
    for (std::size_t g = 0; g < draft_.groups.size(); ++g)
      if (is_compute(g)) lay_out_for_products(g);
      else note_results(first_of(g));
    for (std::size_t g = 0; g < draft_.groups.size(); ++g)
      if (is_compute(g)) {
        follow(g);
        lay_out_inputs(g);
        lay_out_results(g);
      } else {
        lay_out_call(draft_.operation(draft_.groups[g].members[0]));
      }
    for (std::size_t i = 0; i < draft_.storages.size(); ++i) spread(StorageId(i));
    find_tile_operands(draft_, sets_, homes_, map_);
    give_homes();
    return std::move(map_);
  }

 private:
  constexpr const Operation& first_of(std::size_t g) const { return draft_.operation(draft_.groups[g].members[0]); }
  constexpr bool is_compute(std::size_t g) const { return !first_of(g).is_call(); }
  constexpr int set_of(std::size_t g) const { return sets_.number(first_of(g).placement); }
  constexpr int set_of(StorageId s) const { return sets_.number(draft_.storage(s).placement); }
  static constexpr bool is_product(const Operation& operation) {
    return operation.op->work_kind == WorkKind::product || operation.op->work_kind == WorkKind::convolution;
  }
  /// Returns whether the storage owns memory on tiles.
  constexpr bool is_on_tiles(StorageId s) const { return owns_tile_memory(draft_.storage(s)); }
  constexpr std::int64_t elements_of(StorageId s) const { return draft_.storage(s).whole.shape.nelms(); }
  constexpr TileLayout& layout_of(StorageId s) { return map_.layouts[draft_.owner(s)]; }
  constexpr OperandCut cut_of(std::size_t g, const Member& member, int o) const {
    return cut_operand(draft_.operation(member), member, o, draft_.cuts[g].partition.blocks, map_.groups[g].grid);
  }

  /// Takes the layouts that other bodies have decided. Callers follow the layouts of arguments, so none is decided here, except
  /// for those that a gradient graph gets from its forward graph.
  constexpr void take_homes() {
    const bool has_links = !homes_.bodies[body_].links.empty();
    if (has_links) find_results();
    for (std::size_t i = 0; i < draft_.storages.size(); ++i) {
      const Storage& storage = draft_.storage(StorageId(i));
      if (storage.location.base == Base::argument) {
        if (has_links && !is_result(StorageId(i))) take_linked(StorageId(i));
        continue;
      }
      if (const Home* home = homes_.find(storage.location.base, storage.location.offset);
          home != nullptr && home->spec.shape.nelms() == storage.whole.shape.nelms())
        map_.layouts[StorageId(i)] = home->layout;
    }
  }
  constexpr const TileLayout* linked(StorageId s) const {
    const Storage& storage = draft_.storage(s);
    if (storage.location.base != Base::argument) return nullptr;
    return homes_.linked(body_, static_cast<int>(storage.location.index));
  }
  constexpr void take_linked(StorageId s) {
    if (const TileLayout* layout = linked(s); layout != nullptr && layout->places.set == set_of(s)) map_.layouts[s] = *layout;
  }
  constexpr void find_results() {
    results_.resize(draft_.storages.size(), false);
    for (const Operation& operation : draft_.operations)
      for (std::size_t o = static_cast<std::size_t>(operation.input_count); o < operation.operands.size(); ++o)
        if (operation.is_call() || operation.op->modifies < 0) results_[operation.operands[o].storage] = true;
  }
  constexpr bool is_result(StorageId s) const { return !results_.empty() && results_[s]; }
  constexpr void give_homes() {
    List<TileLayout>& arguments = homes_.bodies[body_].arguments;
    for (std::size_t i = 0; i < draft_.storages.size(); ++i) {
      const auto s = StorageId(i);
      const Location& location = draft_.storage(s).location;
      if (!is_on_tiles(s)) continue;
      if (location.base == Base::argument) {
        const auto number = static_cast<std::size_t>(location.index);
        if (arguments.size() <= number) arguments.resize(number + 1);
        arguments[number] = map_.layouts[s];
      } else if (Home* home = homes_.find(location.base, location.offset); home != nullptr && !home->layout.is_decided()) {
        home->layout = map_.layouts[s];
      }
    }
  }

  /// Sets the layout of a storage to a group's use of it, on the storage's own tiles, which differ from those of the input of a
  /// copy.
  constexpr void lay_out(StorageId s, const OperandCut& cut, const GridPlaces& grid) {
    map_.layouts[s] = layout_for(cut, elements_of(s), size_of(draft_.storage(s).whole.dtype), grid);
    map_.layouts[s].places.set = set_of(s);
  }
  constexpr void lay_out_for_products(std::size_t g) {
    for (const Member& member : draft_.groups[g].members) {
      const Operation& operation = draft_.operation(member);
      for (int o = 0; o < static_cast<int>(operation.operands.size()); ++o) {
        const StorageId s = draft_.owner(operation.operands[o].storage);
        if (operation.is_output(o)) {
          if (operation.op->modifies < 0 && is_on_tiles(s)) note(written_, s);
          continue;
        }
        const bool decides = is_product(operation) || is_table_or_rows(operation, o);
        if (!decides || !is_on_tiles(s) || map_.layouts[s].is_decided() || is_written(s)) continue;
        lay_out(s, cut_of(g, member, o), map_.groups[g].grid);
      }
    }
  }
  /// Returns whether it is the first input of an indexed op, or its table or rows: only a run knows which rows a vertex uses.
  static constexpr bool is_table_or_rows(const Operation& operation, int o) {
    if (operation.op->work_kind != WorkKind::indexed) return false;
    const IndexedOperands& of = ipu_rules_of(*operation.op).indexed;
    return o == 0 || (of.are_given() && o == of.rows);
  }
  /// Records the results of a call.
  constexpr void note_results(const Operation& call) {
    for (int o = call.input_count; o < call.input_count + call.calling.outputs + call.calling.else_outputs; ++o)
      note(written_, draft_.owner(call.operands[o].storage));
  }
  constexpr void note(PerStorage<bool>& storages, StorageId s) const {
    if (storages.empty()) storages.resize(draft_.storages.size(), false);
    storages[s] = true;
  }
  constexpr bool is_written(StorageId s) const { return !written_.empty() && written_[s]; }
  constexpr bool is_in_parts(StorageId s) const { return !parts_.empty() && parts_[s]; }

  /// Lets the group follow the layout of a tensor that it changes in place, or, if it has only formulas, of its largest input.
  /// Its vertices are where that tensor is.
  constexpr void follow(std::size_t g) {
    const Group& group = draft_.groups[g];
    bool only_formulas = true;
    std::int64_t largest = 0;
    LayoutPart part;
    OperandCut anchor;
    const TileLayout* layout = nullptr;
    // inputs that are parts of tensors only if there is no whole one
    for (int pass = 0; pass < 3 && layout == nullptr && (pass == 0 || only_formulas); ++pass)
      for (const Member& member : group.members) {
        const Operation& operation = draft_.operation(member);
        if (operation.op->collective_items) return;
        only_formulas = only_formulas && operation.op->elementwise;
        const int first = pass == 0 ? operation.op->modifies : 0, last = pass == 0 ? first + 1 : operation.input_count;
        for (int o = (std::max)(first, 0); o < last; ++o) {
          const Value& value = operation.operands[o];
          const StorageId s = draft_.owner(value.storage);
          if (draft_.storage(s).internal || !map_.layouts[s].is_decided() || value.spec.shape.nelms() <= largest) continue;
          const OperandCut cut = cut_of(g, member, o);
          const LayoutPart its_part = part_to_follow(g, cut, map_.layouts[s]);
          if (!its_part.is_in_blocks || (pass == 1 && value.spec.shape.nelms() < elements_of(s))) continue;
          if (pass > 0 && splits_vectors(group, cut, its_part.axes)) continue;
          largest = value.spec.shape.nelms();
          layout = &map_.layouts[s];
          anchor = cut;
          part = its_part;
        }
      }
    if (layout == nullptr && !results_.empty()) {  // the gradient of a weight, if as many tiles work on it
      const std::int64_t enough = draft_.cuts[g].partition.vertices * enough_quarters / 4;
      for (const Member& member : group.members) {
        const Operation& operation = draft_.operation(member);
        for (int o = operation.input_count; o < static_cast<int>(operation.operands.size()) && layout == nullptr; ++o) {
          const TileLayout* like = linked(operation.operands[o].storage);
          if (like == nullptr || !like->is_decided() || like->places.count < enough) continue;
          const OperandCut cut = cut_of(g, member, o);
          if (!covers(cut, elements_of(draft_.owner(operation.operands[o].storage)))) continue;
          part = part_to_follow(g, cut, *like);
          if (part.is_in_blocks) layout = like, anchor = cut;
        }
      }
    }
    if (layout == nullptr) return;
    GridPlaces& grid = map_.groups[g].grid;
    Partition& partition = draft_.cuts[g].partition;
    grid.places = layout->places;
    grid.places.set = set_of(g);  // of a copy from other tiles, the layout is that of its input
    grid.places.first_tile = (layout->places.first_tile + part.shift) % sets_.count(grid.places.set);
    partition.vertices = 1;
    for (int axis = 0; axis < group.grid.size(); ++axis) partition.blocks[axis] = group.grid[axis].extent, grid.axes[axis] = {};
    for (int i = 0; i < anchor.axes.size(); ++i)
      if (const int axis = anchor.axes[i].grid_axis; axis >= 0) {
        partition.blocks[axis] = part.axes[i].block;
        grid.axes[axis] = part.axes[i].numbering;
      }
    std::int64_t last = 0;  // place
    for (int axis = 0; axis < group.grid.size(); ++axis) {
      const std::int64_t count = block_count(group.grid[axis].extent, partition.blocks[axis]);
      partition.vertices *= count;
      last += grid.axes[axis].largest_place(count);
    }
    if (part.is_smaller) grid.places.count = last + 1;
  }
  /// Returns the part of an operand's layout that the vertices of a group can be divided like; not in blocks: none. This requires
  /// that the set of tiles of the layout has the same number of tiles as the group's, that the operand consists of blocks of the
  /// layout and follows every divided axis of the grid, and that the group divides no sum into parts. A part of a tensor may not
  /// be on fewer tiles than `enough_quarters` of the group's vertices.
  constexpr LayoutPart part_to_follow(std::size_t g, const OperandCut& cut, const TileLayout& layout) const {
    const Group& group = draft_.groups[g];
    const std::int64_t tiles = sets_.count(layout.places.set);
    if (tiles != sets_.count(set_of(g))) return {};
    LayoutPart part = find_part(cut, layout, tiles);
    const std::int64_t vertices = draft_.cuts[g].partition.vertices;
    if (!part.is_in_blocks || (part.is_smaller && part.blocks() < vertices * enough_quarters / 4)) return {};
    std::int64_t blocks = 1;
    for (const LayoutAxis& axis : part.axes) blocks *= block_count(axis.extent, axis.block);
    if (blocks < vertices / 4 && adds_parts(group)) return {};
    for (int axis = 0; axis < group.grid.size(); ++axis) {
      if (gives_partials(group.grid[axis].kind)) return {};
      if (group.grid[axis].extent > 1 && group.grid[axis].kind == WorkAxisKind::parallel && (cut.followed >> axis & 1) == 0)
        return {};
    }
    for (int i = 0; i < cut.axes.size(); ++i) {
      const int axis = cut.axes[i].grid_axis;
      if (part.axes[i].block < part.axes[i].extent && (axis < 0 || group.grid[axis].kind != WorkAxisKind::parallel)) return {};
    }
    return part;
  }

  /// Returns whether a group adds parts of sums, of which its tiles receive many times what they make.
  constexpr bool adds_parts(const Group& group) const {
    const Operation& first = draft_.operation(group.members[0]);
    return first.op->work_kind == WorkKind::reduction && first.operands[0].spec.nelms() > 4 * first.operands.back().spec.nelms();
  }
  /// Returns whether a result would lie in single elements on tiles if its group followed the layout, as a transposed copy does.
  /// Readers would then get it element by element, so the copy exchanges blocks instead.
  constexpr bool splits_vectors(const Group& group, const OperandCut& cut, const LayoutAxes& layout) const {
    for (const Member& member : group.members) {
      const Operation& operation = draft_.operation(member);
      const Value& result = operation.operands.back();
      const std::int64_t least = (std::min)(8 / size_of(result.spec.dtype), result.spec.shape.nelms());
      for (int axis = 0; axis < result.spec.shape.rank; ++axis) {
        if (result.layout.strides[static_cast<std::size_t>(axis)] != 1 || result.spec.shape[axis] < least) continue;
        const int g = grid_axes_of(operation, member, static_cast<int>(operation.operands.size()) - 1)[axis];
        for (int i = 0; g >= 0 && i < cut.axes.size(); ++i)
          if (cut.axes[i].grid_axis == g && layout[i].block < least) return true;
      }
    }
    return false;
  }
  /// Sets the layouts of storages that the group is the first to read, if each vertex has a separate slice: of those that no
  /// other group writes, such as the element of a stream, and of tensors that others write part by part, such as a concatenation.
  /// Small variables and constants are spread side by side instead.
  constexpr void lay_out_inputs(std::size_t g) {
    for (const Member& member : draft_.groups[g].members) {
      const Operation& operation = draft_.operation(member);
      if (operation.op->collective_items) continue;  // its operands have any layout
      for (int o = 0; o < operation.input_count; ++o) {
        const StorageId s = draft_.owner(operation.operands[o].storage);
        if (!is_on_tiles(s) || map_.layouts[s].is_decided()) continue;
        if (!is_in_parts(s) && (draft_.in_frame(s) || is_written(s))) continue;
        if (!is_in_parts(s) && draft_.storage(s).location.base != Base::stream &&
            draft_.storage(s).whole.bytes() < least_spread_bytes * sets_.count(set_of(g)))
          continue;
        const OperandCut cut = with_skipped(s, cut_of(g, member, o));
        if (are_slices_apart(cut, map_.groups[g].grid)) lay_out(s, cut, map_.groups[g].grid);
      }
    }
  }
  /// Returns how a group divides a whole tensor of which it reads elements at steps, such as a copy of a strided convolution's
  /// data: each vertex then has what it reads on its tile. Any other division stays as it is.
  constexpr OperandCut with_skipped(StorageId s, const OperandCut& cut) const {
    const Shape& shape = draft_.storage(s).whole.shape;
    OperandCut whole{.followed = cut.followed};
    int found = 0;  // axes of the division
    bool has_steps = false;
    std::int64_t stride = 1;
    for (int axis = shape.rank; axis-- > 0; stride *= shape[axis]) {
      LayoutAxis each{stride, shape[axis], shape[axis], {}};
      for (const LayoutAxis& used : cut.axes) {
        const std::int64_t step = used.stride / stride, block = (std::min)(step * used.block, each.extent);
        const bool is_axis = used.stride % stride == 0 && step >= 1 && step < each.extent &&
                             block_count(each.extent, block) == block_count(used.extent, used.block);
        if (!is_axis || (step == 1 && used.extent != each.extent)) continue;
        each = {stride, each.extent, block, used.numbering, used.grid_axis};
        has_steps = has_steps || step > 1;
        ++found;
      }
      if (each.extent > 1) insert_by_stride(whole.axes, each);
    }
    return has_steps && found == cut.axes.size() ? whole : cut;
  }
  constexpr void lay_out_results(std::size_t g) {
    for (const Member& member : draft_.groups[g].members) {
      const Operation& operation = draft_.operation(member);
      for (int o = operation.input_count; o < static_cast<int>(operation.operands.size()); ++o) {
        const OperandCut cut = cut_of(g, member, o);
        keep_apart(g, operation, o, cut);
        const StorageId s = draft_.owner(operation.operands[o].storage);
        if (!is_on_tiles(s) || map_.layouts[s].is_decided()) continue;
        if (operation.op->collective_items) {  // replicas exchange what each tile has: the result lies as the input
          const StorageId input = draft_.owner(operation.operands[0].storage);
          if (elements_of(input) == elements_of(s)) map_.layouts[s] = map_.layouts[input];
        } else if (are_slices_apart(cut, map_.groups[g].grid)) lay_out(s, cut, map_.groups[g].grid);
        if (draft_.in_frame(s) && !covers(cut, elements_of(s))) note(parts_, s);
      }
    }
  }
  /// Gives a result separate memory if it would take over the memory of a tensor on other tiles: the result would be sent there
  /// and back to its readers.
  constexpr void keep_apart(std::size_t g, const Operation& operation, int o, const OperandCut& cut) {
    Storage& storage = draft_.storage(operation.operands[o].storage);
    if (storage.reuses == StorageId::none || operation.op->modifies >= 0) return;
    const TileLayout& taken = layout_of(operation.operands[o].storage);
    std::int64_t local = 0;
    if (taken.is_decided() &&
        access_of(cut, taken, map_.groups[g].grid, sets_.count(taken.places.set), local) == TileAccess::exchanged)
      storage.reuses = StorageId::none;
  }
  /// Returns whether each vertex has a separate slice.
  static constexpr bool are_slices_apart(const OperandCut& cut, const GridPlaces& grid) {
    for (int axis = 0; axis < grid.axes.size(); ++axis)
      if (grid.axes[axis].blocks > 1 && (cut.followed >> axis & 1) == 0) return false;
    return true;
  }
  /// Sets the layouts of a call's results, and of its first-used arguments, to those in the called body.
  constexpr void lay_out_call(const Operation& call) {
    if (call.loads_code || call.calling.loop || call.calling.else_body != BodyId::none) return;
    const List<TileLayout>& arguments = homes_.bodies[call.calling.body].arguments;
    for (int i = 0; i < call.calling.inputs + call.calling.outputs; ++i) {
      const int o = i < call.calling.inputs ? i : call.input_count + i - call.calling.inputs;
      const Value& value = call.operands[o];
      const StorageId s = draft_.owner(value.storage);
      if (!is_on_tiles(s) || map_.layouts[s].is_decided() || static_cast<std::size_t>(i) >= arguments.size()) continue;
      if (!is_whole_and_dense(value, draft_.storage(s))) continue;
      map_.layouts[s] = arguments[i];
    }
  }
  /// Spreads a storage that no group has laid out evenly over the tiles. Vectors stay whole, and a tile gets at least
  /// least_spread_bytes.
  constexpr void spread(StorageId s) {
    if (!is_on_tiles(s) || map_.layouts[s].is_decided()) return;
    const std::int64_t bytes = size_of(draft_.storage(s).whole.dtype);
    const int set = set_of(s);
    map_.layouts[s] = linear_layout(elements_of(s), std::max<std::int64_t>(1, 8 / bytes),
                                    std::max<std::int64_t>(1, least_spread_bytes / bytes), sets_.count(set));
    map_.layouts[s].places.set = set;
  }

  TileDraft& draft_;
  TileSets sets_;
  TileHomes& homes_;
  BodyId body_;
  TileMap map_{};
  PerStorage<bool> written_{};
  PerStorage<bool> parts_{};  ///< in the frame, written part by part
  PerStorage<bool> results_{};  ///< written by an op that does not only change them; empty: not needed
};

}  // namespace detail

/// Decides on which tiles the storages and the vertices of a body are.
constexpr void map_tiles(TileDraft& draft, const Target& target, TileHomes& homes, BodyId body) {
  draft.tiles = detail::TileMapper(draft, target, homes, body).run();
}

}  // namespace tilewright::internal
