#pragma once
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/storage_id.hpp"
#include "tilewright/lower/ipu/tile_layout.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

/// A group's use of a storage: an operand as its vertices divide it, which may be an operand of several ops of the group.
struct TileOperand {
  StorageId storage = StorageId::none;  ///< storage that owns the memory
  int member = 0, operand = 0;  ///< of the group: the first that is this operand
  TileAccess access = TileAccess::local;
  bool is_read = false, is_written = false;
  bool in_blocks = true;  ///< whether all ops of the group read its slice block by block of the layout, see SliceOrder
  std::int64_t slice_elements = 0;  ///< elements of a slice of a vertex with full blocks
  std::int64_t local_elements = 0;  ///< smallest number of these elements that a vertex has on its tile
};

/// A group on tiles: the places of its vertices, and their operands. A call has neither.
struct TileGroup {
  GridPlaces grid{};
  List<TileOperand> operands{};
};

enum class RoomKind : std::uint8_t {
  storage,  ///< part of a storage
  received,  ///< slices that come from other tiles before a step
  sent,  ///< slices that go to other tiles after a step
  scratch,  ///< scratch of vertices
  called  ///< frame of the bodies that a step calls
};

/// A part of the memory of each tile of a set that has places, at the same address on each.
struct Room {
  RoomKind kind{};
  int set = 0;  ///< in TileSets
  StorageId storage = StorageId::none;  ///< of a storage, or of a received or sent slice
  std::int64_t bytes = 0;  ///< on one tile
  std::int64_t address = 0;  ///< in the body's frame on the tile, in bytes
  int first = 0, last = 0;  ///< groups of its body between which it is in use
};

/// Positions of a draft's storages and of the vertices of its groups on tiles.
struct TileMap {
  PerStorage<TileLayout> layouts{};  ///< of storages that own memory on tiles; undecided for others
  List<TileGroup> groups{};
  List<Room> rooms{};  ///< in the order of their first groups
};

/// Alignment of rooms on tiles in bytes: the width of a tile's data path.
inline constexpr std::int64_t tile_alignment = 8;

/// Returns the bytes that a storage needs on a tile: one full block for each place.
constexpr std::int64_t room_bytes(const TileLayout& layout, DType dtype, const TileSets& sets) {
  return layout.places.on_a_tile(sets) * align(layout.block_elements() * size_of(dtype), tile_alignment);
}

/// Layout of memory that a body does not own.
struct Home {
  std::int64_t offset = 0;  ///< in bytes, in its memory
  TensorSpec spec{};
  TileLayout layout{};
  std::int64_t address = 0;  ///< on each tile with a part, in bytes from the start of the set's homes
  bool is_second = false;  ///< whether it lies behind the others: a step loads both at the same time
};

/// A tensor that takes much of a tile's memory, for errors.
struct LargeRoom {
  std::int64_t bytes = 0;  ///< on the tile
  TensorSpec spec{};
  Base base = Base::frame;
  std::int64_t offset = 0;  ///< of a variable or constant, in its memory
  std::string_view op{};  ///< op that computes it; empty for inputs
  GraphId graph = GraphId::none;  ///< in which the op was traced
  int scope = -1;              ///< in IrTables::name_scopes; -1: none
};
inline constexpr std::size_t named_rooms = 5;
/// Keeps the largest rooms, the largest first.
constexpr void keep_largest(List<LargeRoom>& rooms, const LargeRoom& room) {
  if (rooms.size() == named_rooms && rooms.back().bytes >= room.bytes) return;
  if (rooms.size() < named_rooms) rooms.push_back(room);
  else rooms.back() = room;
  for (std::size_t i = rooms.size() - 1; i > 0 && rooms[i].bytes > rooms[i - 1].bytes; --i) std::swap(rooms[i], rooms[i - 1]);
}

/// Link to an argument of another body whose layout an argument should have.
struct ArgumentLink {
  BodyId body = BodyId::none;
  int argument = -1;  ///< inputs, then outputs; -1: there is none
};

/// Bytes of a body on a tile of a set.
struct TileFrame {
  std::int64_t bytes = 0;  ///< with those of bodies that it calls
  std::int64_t live_bytes = 0;  ///< of rooms in use at the fullest step
};

/// By body, the layouts of its inputs and outputs on tiles while it runs, and its memory on each tile.
struct BodyTiles {
  List<ArgumentLink> links{};  ///< by argument; empty: there are none
  List<TileLayout> arguments{};
  List<TileFrame> frames{};  ///< by set of tiles
};

/// BankOperand::operand of a value that is in the scratch of vertices.
inline constexpr int scratch_operand = -2;
/// The place of a called body's frame in the frame of its caller.
struct CalledFrame {
  BodyId body = BodyId::none, caller = BodyId::none;
  int set = 0;  ///< in TileSets
  std::int64_t address = 0;  ///< in the caller's frame
};

/// An operand of a step whose cycles depend on banks: where the slices of a tile's vertices begin.
struct BankOperand {
  int operand = -1;  ///< in TileGroup::operands, or scratch_operand
  Base base = Base::frame;  ///< variable or constant: it has a home; otherwise it is in a room of the body's frame
  std::int64_t offset = 0;  ///< of a home, in its memory
  std::int64_t address = 0;  ///< of a room, in the body's frame
  std::int64_t slice_bytes = 0;  ///< from a vertex to the next
  std::int64_t bytes = 0;  ///< of a product's operand on a tile: all that its vertices may use

  constexpr bool has_home() const { return base == Base::variable || base == Base::constant; }
};
/// A step whose cycles depend on the banks of its operands: result = x + y or another arithmetic op, or a product of x and y.
struct BankStep {
  BodyId body = BodyId::none;
  int group = 0;  ///< of its body
  int set = 0;  ///< in TileSets
  BankOperand x{}, y{}, result{};
  const OpInfo* op = nullptr;
  DType dtype = float32;
  std::int64_t elements = 0;  ///< of a vertex
  std::int64_t vertices = 0;  ///< on a tile
  BankUse use = BankUse::elements;  ///< of a product: for which its operands are placed, then that by which it is computed
  OperandBanks banks = OperandBanks::same;  ///< for which the plan counts cycles; set when all addresses are known
  // of a product: cycles of a vertex, by OperandBanks
  std::int64_t unit_cycles[5]{};  ///< by the unit for products
  std::int64_t dot_cycles[5]{};  ///< by dot products

  constexpr std::int64_t by_unit(OperandBanks of) const { return unit_cycles[static_cast<int>(of)]; }
  constexpr std::int64_t dots(OperandBanks of) const { return dot_cycles[static_cast<int>(of)]; }
  /// Returns the operand that should be in other banks than x.
  constexpr const BankOperand& partner() const { return use == BankUse::sums ? result : y; }
};

/// Data that bodies share: the layouts of variables, constants and kept tensors, and those of arguments.
struct TileHomes {
  List<Home> variables{}, constants{};  ///< by offset
  List<BodyTiles, BodyId> bodies{};
  List<List<LargeRoom>> largest{};  ///< of all bodies, by set of tiles
  List<BankStep> bank_steps{};  ///< of all bodies
  List<CalledFrame> called_frames{};  ///< of all bodies, in the order of planning: called bodies first
  /// Returns the layout that an argument of a body should have, or null for any layout. The layout is decided if the other body
  /// is planned.
  constexpr const TileLayout* linked(BodyId body, int argument) const {
    const List<ArgumentLink>& links = bodies[body].links;
    if (static_cast<std::size_t>(argument) >= links.size()) return nullptr;
    const ArgumentLink& link = links[static_cast<std::size_t>(argument)];
    if (link.argument < 0) return nullptr;
    const List<TileLayout>& others = bodies[link.body].arguments;
    return static_cast<std::size_t>(link.argument) < others.size() ? &others[static_cast<std::size_t>(link.argument)] : nullptr;
  }
  constexpr Home* find(Base base, std::int64_t offset) {
    if (base != Base::variable && base != Base::constant) return nullptr;
    List<Home>& homes = base == Base::variable ? variables : constants;
    std::size_t first = 0, last = homes.size();
    while (first < last) {
      const std::size_t middle = (first + last) / 2;
      if (homes[middle].offset < offset) first = middle + 1;
      else last = middle;
    }
    return first < homes.size() && homes[first].offset == offset ? &homes[first] : nullptr;
  }
};

/// Returns the homes of a plan's variables, constants and kept tensors, without layouts.
constexpr TileHomes make_homes(const Plan& plan, const TileSets& sets) {
  TileHomes result;
  result.largest.resize(static_cast<std::size_t>(sets.size()));
  result.bodies.resize(plan.bodies.size());
  for (const PlannedVariable& variable : plan.variables)
    if (variable.base == Base::variable) result.variables.push_back({variable.offset, variable.spec});
  for (const KeptTensor& kept : plan.kept)  // they stand after the variables
    result.variables.push_back({kept.offset, {{kept.bytes / size_of(kept.dtype)}, kept.dtype}});
  for (const PlannedConstant& constant : plan.constants) result.constants.push_back({constant.offset, constant.spec});
  return result;
}

}  // namespace tilewright::internal
