#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/lower/ipu/tile_records.hpp"

namespace tilewright::internal {

/// A storage on tiles. Element e is on tile `tiles[e]`, `offsets[e]` bytes from the start of its room or home.
struct StrictStorage : StorageRecord {
  bool is_on_tiles = false;
  std::int64_t bytes = 4;  ///< of an element
  int room = -1;  ///< room of its body; -1: none, or it has a home
  int home = -1;
  std::vector<std::uint32_t> tiles{}, offsets{};
};

/// An operand that the vertices of a group declare.
struct StrictOperand {
  int storage = -1;
  bool is_read = false;  ///< whether it is read before the group writes it
  bool is_written = false;
  bool is_seen = false;  ///< scratch value while uses are found
  bool is_used = false;  ///< whether it is in memory, and not in registers only
  bool is_remote = false;
  int member = 0, operand = 0;
  std::int64_t offset = 0;  ///< of the first element
  std::int64_t slice_elements = 0;  ///< of a vertex with full blocks
  LayoutAxes axes{};
  TileAccess access = TileAccess::local;
  int room = -1;  ///< room where its slices are received, or from where they are sent; -1: local
};

/// An operand of a call, without the bodies' frame.
struct StrictCallOperand {
  int storage = -1;  ///< storage that owns the memory
  std::int64_t offset = 0;  ///< of its first element there, in elements
};

struct StrictGroup : StepRecord {
  std::vector<StrictOperand> operands{};  ///< operands on tiles, then those in streaming memory
  std::vector<StrictCallOperand> call_operands{};
  std::vector<int> loads{}, stores{};  ///< storages of streams that are loaded before the step, and stored after it
};

struct StrictHome : Home {
  Base base = Base::variable;
  int body = -1, storage = -1;  ///< the first body that has it; -1: no body uses it
};

struct StrictBody {
  std::vector<StrictStorage> storages{};
  List<TileFrame> frames{};  ///< by set of tiles
  List<Room> rooms{};
  std::vector<StrictGroup> groups{};
};

/// Some elements of a storage: first, first + step, ...
struct ElementRun {
  std::int64_t first = 0, count = 0, step = 1;

  bool has(std::int64_t element) const {
    const std::int64_t i = (element - first) / step;
    return i >= 0 && i < count && first + i * step == element;
  }
};

}  // namespace tilewright::internal
