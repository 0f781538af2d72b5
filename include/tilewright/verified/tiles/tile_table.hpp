#pragma once
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewright/core/text.hpp"
#include "tilewright/lower/ipu/tile_records.hpp"

namespace tilewright::internal::proof::detail {

/// Where tiles have the data of a body: a part of a plan's table of tiles.
struct BodyOnTiles {
  BodyId body = BodyId::none;
  List<StorageRecord> storages{};
  List<TileFrame> frames{};  ///< by set of tiles
  List<Room> rooms{};
  List<StepRecord> steps{};
};
/// A plan's table of tiles.
struct DataOnTiles {
  List<BodyOnTiles> bodies{};
  List<Home> variables{}, constants{};
  BankRules rules{};
  List<BankStep> bank_steps{};
};

/// Reads a plan's table of tiles, but not its names. Returns whether it was read.
constexpr bool read_tiles(std::string_view table, DataOnTiles& data) {
  TileTableReader reader(table);
  while (reader.is_right()) {
    BodyOnTiles body;
    reader(body.body);
    if (body.body == BodyId::none) break;
    each_part(reader, body.storages, body.frames, body.rooms, body.steps);
    data.bodies.push_back(std::move(body));
  }
  each_shared_part(reader, data.variables, data.constants, data.rules, data.bank_steps);
  return reader.is_right();
}

/// The first fault of a plan on tiles.
class FirstFault {
 public:
  constexpr explicit FirstFault(std::string_view ignored) : ignored_(ignored) {}

  /// Records a fault, if it is the first one and its rule is not ignored. `step`: of the body; -1: none. Returns whether the
  /// condition holds.
  constexpr bool expect(bool holds, std::string_view rule, BodyId body, int step, const auto&... what) {
    if (holds || rule == ignored_ || !text_.empty()) return holds;
    text_ = text(rule, ": ", what...);
    if (step >= 0) text_ += text(", in step ", step, " of body ", body);
    else if (body != BodyId::none) text_ += text(", in body ", body);
    return false;
  }
  constexpr bool is_found() const { return !text_.empty(); }
  constexpr const Text& text_of() const { return text_; }

 private:
  std::string_view ignored_;
  Text text_{};
};

/// Sets of tiles of a plan, with what its target says of them.
template <class AnyPlan>
struct SetsOfTiles {
  const AnyPlan& plan;
  const Target& target;
  constexpr bool has(int set) const { return set >= 0 && static_cast<std::size_t>(set) < plan.tile_sets.size(); }
  constexpr std::int64_t tiles(int set) const {
    return plan.tile_sets[static_cast<std::size_t>(set)].is_io ? target.io_tiles : target.tiles - target.io_tiles;
  }
  constexpr int ipu(int set) const { return plan.tile_sets[static_cast<std::size_t>(set)].ipu; }
  /// Returns the largest number of places on one tile.
  constexpr std::int64_t on_a_tile(const Places& places) const {
    return (places.count + tiles(places.set) - 1) / tiles(places.set);
  }
  /// Returns the bytes of one tile that hold all blocks there.
  constexpr std::int64_t bytes_of(const TileLayout& layout, DType dtype) const {
    std::int64_t bytes = size_of(dtype);
    for (const LayoutAxis& axis : layout.axes) bytes *= axis.block;
    return on_a_tile(layout.places) * align(bytes, tile_alignment);
  }
};

/// Returns whether blocks of two layouts are on the same tiles.
constexpr bool are_equal(const TileLayout& a, const TileLayout& b) {
  if (a.axes.size() != b.axes.size() || a.places != b.places) return false;
  for (int i = 0; i < a.axes.size(); ++i) {
    const AxisNumbering &x = a.axes[i].numbering, &y = b.axes[i].numbering;
    if (a.axes[i].extent != b.axes[i].extent || a.axes[i].block != b.axes[i].block || x.inner != y.inner ||
        x.outer_step != y.outer_step || x.inner_step != y.inner_step)
      return false;
  }
  return true;
}

/// Finds whether blocks along several axes have numbers of their own: each step between numbers is longer than all shorter ones
/// together reach.
class OwnNumbers {
 public:
  constexpr void add(const AxisNumbering& numbering, std::int64_t blocks) {
    if (numbering.inner < 1) return void(is_right_ = false);
    add_step(numbering.inner_step, numbering.inner < blocks ? numbering.inner : blocks);
    add_step(numbering.outer_step, (blocks + numbering.inner - 1) / numbering.inner);
  }
  constexpr bool are_below(std::int64_t limit) const {
    std::int64_t reach = 0;
    for (const auto& [step, count] : steps_) {
      if (step <= reach) return false;
      reach += step * (count - 1);
    }
    return is_right_ && reach < limit;
  }

 private:
  struct Step {
    std::int64_t step, count;
  };
  constexpr void add_step(std::int64_t step, std::int64_t count) {
    if (count < 2) return;
    steps_.push_back({step, count});
    for (std::size_t i = steps_.size() - 1; i > 0 && steps_[i].step < steps_[i - 1].step; --i)
      std::swap(steps_[i], steps_[i - 1]);
  }
  List<Step> steps_{};  // the smallest first
  bool is_right_ = true;
};

}  // namespace tilewright::internal::proof::detail
