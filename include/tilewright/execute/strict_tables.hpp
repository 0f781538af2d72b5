#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/lower/tile_map.hpp"

namespace tilewright::internal {

/// Bytes that are copied from one tile to another, or on one tile. Addresses are on the tile; those outside of the homes count
/// from the start of the body's frame.
struct StrictMove {
  std::int64_t from_tile = 0, from = 0;
  std::int64_t to_tile = 0, to = 0;
  std::int64_t bytes = 0;
  bool from_home = false, to_home = false;
  int storage = -1;  ///< whose elements they are
};

/// A storage on tiles. Element e is on tile `tiles[e]`, `offsets[e]` bytes from the start of its room or home.
struct StrictStorage {
  bool is_on_tiles = false, begins_undefined = false;
  int owner = -1;
  DType dtype = float32;
  std::int64_t bytes = 4;  ///< of an element
  std::int64_t elements = 0;
  Location location{};
  TileLayout layout{};
  int room = -1;  ///< of its body; -1: none, or it has a home
  int home = -1;
  std::vector<std::uint32_t> tiles, offsets;
};

/// What the vertices of a group declare of a storage.
struct StrictOperand {
  int storage = -1;
  bool is_read = false;  ///< before the group writes it
  bool is_written = false;
  bool is_seen = false;  ///< while uses are found
  std::vector<int> writers{};  ///< other operands of the group that write to the same storage before this one is read
  bool is_used = false;  ///< in memory, and not in registers alone
  bool is_remote = false;
  int member = 0, operand = 0;
  std::int64_t offset = 0;  ///< of the first element
  std::int64_t slice_elements = 0;  ///< of a vertex with full blocks
  LayoutAxes axes{};
  TileAccess access = TileAccess::local;
  int room = -1;  ///< where its slices are received, or from where they are sent; -1: they are local
};

struct StrictCallOperand {
  int storage = -1;
  std::int64_t offset = 0;
};

struct StrictGroup {
  int graph = -1, scope = -1;
  bool runs_once = false;  ///< it does what can be seen outside of its operands
  bool is_tile_copy = false;  ///< its op gives a tensor on other tiles than its input's
  GridPlaces grid{};
  std::vector<int> location_storages;
  std::vector<StrictOperand> operands;  ///< those on tiles, then those in streaming memory
  std::vector<StrictMove> before, after;
  // of a call
  int input_count = 0, inputs = 0, outputs = 0, else_inputs = 0, else_outputs = 0, carried = 0;
  std::vector<StrictCallOperand> call_operands;
  std::vector<int> loads, stores;  ///< storages that come from streams before the step, and go there after it
};

struct StrictHome {
  Base base = Base::variable;
  std::int64_t offset = 0, address = -1;
  std::int64_t bytes = 0, room_bytes = 0, elements = 0;  ///< bytes: of an element
  int body = -1, storage = -1;  ///< the first that has it; -1: no body uses it
  int set = 0;  ///< of tiles
};

struct StrictBody {
  std::vector<StrictStorage> storages;
  std::vector<std::int64_t> frame_bytes;  ///< on a tile, by set
  std::vector<Room> rooms;
  std::vector<StrictGroup> groups;
};

/// A part of the elements of a storage: first, first + step, ...
struct ElementRun {
  std::int64_t first = 0, count = 0, step = 1;
};

}  // namespace tilewright::internal
