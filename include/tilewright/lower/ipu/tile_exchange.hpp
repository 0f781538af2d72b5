#pragma once
// takes: a draft whose storages and groups are mapped to tiles
// gives: Plan::moves: by step the data that tiles exchange before and after it, and data from and to the host
// keeps: the draft
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/ipu/fragments.hpp"
#include "tilewright/lower/ipu/tile_draft.hpp"
#include "tilewright/lower/ipu/transposed_operands.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

namespace detail {

/// Calls f(value, its layout in the called body, whether it is an input, iterations of a loop that get a part each or 1) for each
/// argument that a call copies to its places in the called body, or from there.
constexpr void for_each_argument(const Operation& call, const TileHomes& homes, const auto& f) {
  const Calling& calling = call.calling;
  const auto visit = [&](BodyId body, int inputs, int outputs, int input, int output) {
    const List<TileLayout>& arguments = homes.bodies[body].arguments;
    for (int i = 0; i < inputs + outputs; ++i) {
      if (static_cast<std::size_t>(i) >= arguments.size() || !arguments[i].is_decided()) continue;
      const bool is_input = i < inputs;
      std::int64_t parts = 1;
      if (calling.loop) {
        const LoopAttributes& loop = *calling.loop;
        const bool is_part = is_input ? i >= loop.carried && i < loop.carried + loop.sliced : i - inputs >= loop.carried;
        if (is_part) parts = loop.count;
      }
      f(call.operands[is_input ? input + i : output + i - inputs], arguments[i], is_input, parts);
    }
  };
  const int first_input = calling.else_body != BodyId::none ? 1 : 0;
  visit(calling.body, calling.inputs, calling.outputs, first_input, call.input_count);
  if (calling.else_body != BodyId::none)
    visit(calling.else_body, calling.else_inputs, calling.else_outputs, first_input + calling.inputs,
          call.input_count + calling.outputs);
}
/// Returns whether an argument has the places of its caller's tensor, so that its copy needs no exchange.
constexpr bool stays_on_tiles(const Value& value, const Storage& storage, const TileLayout& there, const TileLayout& here) {
  if (!is_whole_and_dense(value, storage) || there.axes.size() != here.axes.size() || there.places != here.places) return false;
  for (int i = 0; i < there.axes.size(); ++i) {
    const LayoutAxis &a = there.axes[i], &b = here.axes[i];
    if (a.stride != b.stride || a.extent != b.extent || a.block != b.block || a.numbering != b.numbering) return false;
  }
  return true;
}

class MoveCounter {
 public:
  constexpr MoveCounter(const TileDraft& draft, const TileHomes& homes, const Target& target)
      : draft_(draft), homes_(homes), sets_(target), transposed_(draft, target) {}

  constexpr List<StepMoves> run() {
    List<StepMoves> result(draft_.groups.size());
    for (std::size_t g = 0; g < draft_.groups.size(); ++g) {
      const Operation& first = draft_.operation(draft_.groups[g].members[0]);
      if (first.loads_code) continue;
      if (first.is_call()) count_call(first, result[g]);
      else count_group(g, result[g]);
    }
    count_streams(result);
    return result;
  }

 private:
  constexpr std::int64_t element_bytes(StorageId s) const { return size_of(draft_.storage(s).whole.dtype); }
  constexpr void count_group(std::size_t g, StepMoves& moves) const {
    const Group& group = draft_.groups[g];
    const TileGroup& tiles = draft_.tiles.groups[g];
    const std::int64_t vertices = draft_.cuts[g].partition.vertices;
    const std::int64_t of_tile = tiles.grid.places.on_a_tile(sets_);
    moves.set = tiles.grid.places.set;
    moves.transposed_bytes = transposed_.before(g);
    for (const TileOperand& operand : tiles.operands) {
      if (operand.access == TileAccess::local) continue;
      if (draft_.tiles.layouts[operand.storage].places.set != moves.set)
        moves.from_set = draft_.tiles.layouts[operand.storage].places.set;
      const Member& member = group.members[operand.member];
      const OperandCut cut = cut_operand(draft_.operation(member), member, operand.operand, draft_.cuts[g].partition.blocks,
                                         tiles.grid);
      const TileLayout& layout = draft_.tiles.layouts[operand.storage];
      const std::int64_t bytes = element_bytes(operand.storage);
      const std::int64_t moved = (operand.slice_elements - operand.local_elements) * bytes;
      const std::int64_t home = (std::min)(layout.block_elements() * layout.places.on_a_tile(sets_),
                                           draft_.storage(operand.storage).whole.shape.nelms()) *
                                bytes;
      TileExchange exchange{
          .fragments = of_tile * fragments_of(cut, layout, operand.in_blocks ? SliceOrder::blocks : SliceOrder::rows),
          .sends = layout.places.on_a_tile(sets_),
          .total_bytes = vertices * moved};
      const std::int64_t slices = of_tile * moved;
      if (operand.is_read || operand.access == TileAccess::shared) {
        exchange.bytes_in = slices;
        exchange.bytes_out = home;
        if (is_alike_in_pairs(cut, tiles.grid)) exchange.pair_bytes_in = slices;
        moves.before += exchange;
      }
      if (operand.is_written) {
        exchange.bytes_in = home;
        exchange.bytes_out = slices;
        exchange.pair_bytes_in = 0;
        moves.after += exchange;
      }
    }
  }
  /// Returns whether tiles 2n and 2n + 1 use equal slices, as vertices that are neighbours along an axis that the operand does
  /// not follow.
  static constexpr bool is_alike_in_pairs(const OperandCut& cut, const GridPlaces& grid) {
    if (grid.places.first_tile % 2 != 0) return false;
    for (int axis = 0; axis < grid.axes.size(); ++axis)
      if (grid.axes[axis].blocks > 1 && grid.axes[axis].inner == 1 && grid.axes[axis].outer_step == 1)
        return (cut.followed >> axis & 1) == 0 && grid.axes[axis].blocks % 2 == 0;
    return false;
  }
  /// Counts the copies of arguments to their places in the called body, and of results from there.
  constexpr void count_call(const Operation& call, StepMoves& moves) const {
    for_each_argument(call, homes_, [&](const Value& value, const TileLayout& there, bool is_input, std::int64_t parts) {
      const StorageId owner = draft_.owner(value.storage);
      const TileLayout& here = draft_.tiles.layouts[owner];
      const std::int64_t bytes = size_of(value.spec.dtype);
      const std::int64_t room = there.block_elements() * there.places.on_a_tile(sets_) * bytes;
      if (stays_on_tiles(value, draft_.storage(owner), there, here)) {
        moves.local_bytes += room;
        return;
      }
      const std::int64_t home = here.is_decided() ? here.block_elements() * here.places.on_a_tile(sets_) * bytes : room;
      TileExchange exchange{.bytes_in = is_input ? room : home,
                            .bytes_out = is_input ? home : room,
                            .fragments = there.places.on_a_tile(sets_) * pieces(there, here, value, parts),
                            .sends = 1,
                            .total_bytes = value.spec.bytes()};
      if (call.calling.loop) exchange.total_bytes = room * (std::min)(there.places.count, sets_.count(there.places.set));
      (is_input ? moves.before : moves.after) += exchange;
    });
  }
  /// Returns the largest number of pieces in which a block of one layout comes from another. `value`: where the argument begins,
  /// of which each of `iterations` gets a part.
  static constexpr std::int64_t pieces(const TileLayout& to, const TileLayout& from, const Value& value,
                                       std::int64_t iterations) {
    if (!from.is_decided()) return 1;
    OperandCut cut;
    cut.axes = to.axes;
    cut.offset = value.layout.offset;
    if (iterations > 1 && cut.axes.size() < max_work_axes)
      insert_by_stride(cut.axes, {value.spec.shape.nelms() / iterations, iterations, 1, {}});
    return fragments_of(cut, from);
  }
  /// Counts the transfers of streams. The first group that uses a loaded element waits for it; a stored element is sent after the
  /// last group that writes it.
  constexpr void count_streams(List<StepMoves>& moves) const {
    PerStorage<bool> is_there(draft_.storages.size(), false);
    PerStorage<int> writer(draft_.storages.size(), -1);
    for (std::size_t g = 0; g < draft_.groups.size(); ++g)
      for_each_operand(draft_, draft_.groups[g], [&](const Operation& operation, int o, const Member&) {
        const StorageId s = draft_.owner(operation.operands[o].storage);
        if (draft_.storage(s).location.base != Base::stream) return;
        if (operation.is_output(o)) {
          writer[s] = static_cast<int>(g);
        } else if (!is_there[s] && writer[s] < 0) {
          moves[g].host_in += draft_.storage(s).whole.bytes();
        }
        is_there[s] = true;
      });
    for (std::size_t i = 0; i < writer.size(); ++i)
      if (writer[StorageId(i)] >= 0)
        moves[static_cast<std::size_t>(writer[StorageId(i)])].host_out += draft_.storage(StorageId(i)).whole.bytes();
  }

  const TileDraft& draft_;
  const TileHomes& homes_;
  TileSets sets_;
  TransposedOperands transposed_;
};

}  // namespace detail

/// Adds to the plan the data that moves for each step of a body.
constexpr void count_moves(const TileDraft& draft, const TileHomes& homes, const Target& target, Plan& plan) {
  const List<StepMoves> moves = detail::MoveCounter(draft, homes, target).run();
  make_room(plan.moves, moves.size());
  for (const StepMoves& each : moves) plan.moves.push_back(each);
}

}  // namespace tilewright::internal
