#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/lab/design.hpp"
#include "tilewright/profile/make_profile.hpp"

namespace tilewright::lab {

/// Bytes that one tile gets from another for a step, each time that the step runs. Tiles are numbered through all IPUs of a
/// replica. If `from` is `to`, the plan moves the bytes through the exchange although they are on the tile.
struct ExchangeRow {
  std::int64_t from = 0, to = 0, bytes = 0;
  std::int64_t after = 0;  ///< 0: operands, before the vertices run; 1: results, after that

  bool operator==(const ExchangeRow&) const = default;
};

/// The exchange of a step.
struct StepExchange {
  int step = 0;  ///< in Profile::steps
  std::string label;  ///< ops of the step
  std::vector<ExchangeRow> rows;  ///< ordered by `after`, `from`, `to`
};

namespace detail {

using internal::LayoutAxis, internal::LayoutAxes, internal::OperandCut, internal::TileLayout, internal::TileSets;

/// Elements of a storage that follow each other, on one tile.
struct Piece {
  std::int64_t tile = 0, elements = 0;
};
/// Returns the tile of an element of a storage, and the elements from there to the end of its block's line.
inline Piece piece_at(const TileLayout& layout, const TileSets& sets, std::int64_t element) {
  std::int64_t place = 0, rest = element, line = 1;
  for (int i = 0; i < layout.axes.size(); ++i) {
    const LayoutAxis& axis = layout.axes[i];
    const std::int64_t position = rest / axis.stride;
    rest %= axis.stride;
    place += axis.numbering.place(position / axis.block);
    line = (std::min)(axis.block - position % axis.block, axis.extent - position) * axis.stride;
  }
  return {layout.places.tile(place, sets), std::max<std::int64_t>(1, line - rest)};
}

/// Adds up the bytes between tiles while the parts of a step's operands are visited.
class ExchangeCollector {
 public:
  explicit ExchangeCollector(const Target& target) : sets_(target) {}

  /// Adds the operands of a group whose vertices do not have them.
  void add_group(const internal::TileDraft& draft, std::size_t g) {
    for (const internal::TileOperand& operand : draft.tiles.groups[g].operands) {
      if (operand.access == internal::TileAccess::local) continue;
      const bool is_before = operand.is_read || operand.access == internal::TileAccess::shared;
      add_operand(draft, g, operand, is_before, operand.is_written);
    }
  }
  /// Adds the arguments that a call copies from tile to tile: of a loop, those of its first iteration.
  void add_call(const internal::TileDraft& draft, const internal::Operation& call, const internal::TileHomes& homes) {
    internal::detail::for_each_argument(
        call, homes, [&](const internal::Value& value, const TileLayout& there, bool is_input, std::int64_t parts) {
          const internal::StorageId owner = draft.owner(value.storage);
          const TileLayout& here = draft.tiles.layouts[owner];
          if (!here.is_decided() || internal::detail::stays_on_tiles(value, draft.storage(owner), there, here)) return;
          const std::int64_t all = value.spec.shape.nelms() / parts, element_bytes = size_of(value.spec.dtype);
          for (std::int64_t element = 0; element < all;) {
            const Piece called = piece_at(there, sets_, element), own = piece_at(here, sets_, value.layout.offset + element);
            const std::int64_t count = (std::min)({called.elements, own.elements, all - element});
            if (is_input) bytes_[{0, {own.tile, called.tile}}] += count * element_bytes;
            else bytes_[{1, {called.tile, own.tile}}] += count * element_bytes;
            element += count;
          }
        });
  }
  std::vector<ExchangeRow> rows() const {
    std::vector<ExchangeRow> result;
    for (const auto& [key, bytes] : bytes_) {
      const auto& [after, tiles] = key;
      result.push_back({tiles.first, tiles.second, bytes, after});
    }
    return result;
  }

 private:
  void add_operand(const internal::TileDraft& draft, std::size_t g, const internal::TileOperand& operand, bool before,
                   bool after) {
    const internal::Member& member = draft.groups[g].members[operand.member];
    const internal::Partition& partition = draft.cuts[g].partition;
    const internal::GridPlaces& grid = draft.tiles.groups[g].grid;
    const OperandCut cut = cut_operand(draft.operation(member), member, operand.operand, partition.blocks, grid);
    const TileLayout& layout = draft.tiles.layouts[operand.storage];
    const std::int64_t element_bytes = size_of(draft.storage(operand.storage).whole.dtype);
    std::vector<std::int64_t> block(static_cast<std::size_t>(grid.axes.size()), 0);  // of the vertex, by axis of the grid
    const auto& axes = draft.groups[g].grid;
    for (std::int64_t vertex = 0; vertex < partition.vertices; ++vertex) {
      std::int64_t place = 0, rest = vertex;
      for (int axis = axes.size(); axis-- > 0;) {
        const std::int64_t count = internal::block_count(axes[axis].extent, partition.blocks[axis]);
        block[static_cast<std::size_t>(axis)] = rest % count;
        rest /= count;
        place += grid.axes[axis].place(block[static_cast<std::size_t>(axis)]);
      }
      const std::int64_t tile = grid.places.tile(place, sets_);
      for_each_line(cut, 0, cut.offset, block, [&](std::int64_t first, std::int64_t elements) {
        while (elements > 0) {
          Piece piece = piece_at(layout, sets_, first);
          piece.elements = (std::min)(piece.elements, elements);
          if (piece.tile != tile || operand.access == internal::TileAccess::exchanged) {
            if (before) bytes_[{0, {piece.tile, tile}}] += piece.elements * element_bytes;
            if (after) bytes_[{1, {tile, piece.tile}}] += piece.elements * element_bytes;
          }
          first += piece.elements;
          elements -= piece.elements;
        }
      });
    }
  }
  /// Calls f(first element, elements) for each line of a vertex's slice that lies together in the storage.
  static void for_each_line(const OperandCut& cut, int axis, std::int64_t first, const std::vector<std::int64_t>& block,
                            const auto& f) {
    if (axis == cut.axes.size()) return f(first, std::int64_t{1});
    const LayoutAxis& of = cut.axes[axis];
    const std::int64_t begin = of.grid_axis < 0 ? 0 : block[static_cast<std::size_t>(of.grid_axis)] * of.block;
    const std::int64_t count = (std::min)(of.block, of.extent - begin);
    if (count <= 0) return;
    if (axis + 1 == cut.axes.size() && of.stride == 1) return f(first + begin, count);
    for (std::int64_t i = begin; i < begin + count; ++i) for_each_line(cut, axis + 1, first + i * of.stride, block, f);
  }

  TileSets sets_;
  std::map<std::pair<std::int64_t, std::pair<std::int64_t, std::int64_t>>, std::int64_t> bytes_;  // by after, from and to
};

/// Observes the planning of a program, and collects the exchange of one step.
struct ExchangeObserver {
  internal::BodyId body;
  std::size_t group;
  ExchangeCollector& collector;
  const internal::TileHomes& homes;  ///< of the plan

  void operator()(internal::Pass pass, internal::BodyId of, const internal::TileDraft& draft, const Plan&) {
    if (pass != internal::Pass::count_moves || of != body) return;
    const internal::Operation& first = draft.operation(draft.groups[group].members[0]);
    if (!first.is_call()) collector.add_group(draft, group);
    else if (!first.loads_code) collector.add_call(draft, first, homes);
  }
  void operator()(internal::Pass, internal::BodyId, const internal::BodyDraft&, const Plan&) const {}  // of the host
  void operator()(const Plan&) const {}
};

}  // namespace detail

/// Returns the exchange of one step of a program on a machine. `step`: its number in `profile.steps`, the profile of the same
/// program and machine; -1: the step that exchanges most bytes. Rows of a call are its arguments: of a conditional, those of both
/// branches; of a loop, those of its first iteration. Blocks at the end of an axis may be shorter, so the sum of the rows is at
/// most Profile::Step::exchanged_bytes, which counts full blocks. Throws std::out_of_range for a step that is not there.
[[nodiscard]] inline StepExchange exchange_of_step(const std::function<void(Ir&)>& build, const Target& target,
                                                   const Profile& profile, int step = -1) {
  if (step < 0) {
    std::int64_t most = -1;
    for (std::size_t s = 0; s < profile.steps.size(); ++s)
      if (profile.steps[s].exchanged_bytes > most) most = profile.steps[s].exchanged_bytes, step = static_cast<int>(s);
  }
  if (step < 0 || static_cast<std::size_t>(step) >= profile.steps.size())
    throw std::out_of_range("lab: step " + std::to_string(step) + ": below " + std::to_string(profile.steps.size()) +
                            " expected");
  const Profile::Step& of = profile.steps[static_cast<std::size_t>(step)];
  std::size_t group = 0;  // steps of a body come in their order
  for (int s = 0; s < step; ++s) group += profile.steps[static_cast<std::size_t>(s)].body == of.body ? 1 : 0;
  Ir ir(OnError::record);
  trace_for(target, build, ir);
  detail::ExchangeCollector collector(target);
  internal::TileHomes homes;
  detail::ExchangeObserver observer{internal::BodyId(of.body), group, collector, homes};
  static_cast<void>(lower(prepare(std::move(ir), target), observer, &homes));
  return {step, of.label, collector.rows()};
}

}  // namespace tilewright::lab
