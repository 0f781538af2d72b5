#pragma once
#include <cstdint>

#include "tilewright/graph/placement.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

/// The tiles of a replica's IPUs. Those of an IPU are one set, or, on a target with IO tiles, two: compute tiles, then IO tiles.
/// Tiles are numbered through all IPUs; on each, the IO tiles come first (popart, irlowering).
struct TileSets {
  std::int64_t tiles = 1;  ///< of an IPU
  std::int64_t io_tiles = 0;  ///< number of them that are IO tiles
  int ipus = 1;

  constexpr explicit TileSets(std::int64_t of_ipu = 1, std::int64_t of_io = 0, int count = 1)
      : tiles(of_ipu), io_tiles(of_io), ipus(count) {}
  constexpr explicit TileSets(const Target& target) : TileSets(target.tiles, target.io_tiles, target.ipus) {}

  constexpr int size() const { return ipus * in_ipu(); }
  constexpr int ipu(int set) const { return set / in_ipu(); }
  constexpr bool is_io(int set) const { return set % in_ipu() == 1; }
  /// Returns the number of the set of a placement. If the program names none, there is one IPU.
  constexpr int number(const Placement& placement) const {
    if (!placement.is_known()) return 0;
    return placement.ipu * in_ipu() + (placement.tile_set == TileSet::io && io_tiles > 0 ? 1 : 0);
  }
  constexpr Placement placement(int set) const {
    Placement result{ipu(set)};
    if (is_io(set)) result.tile_set = TileSet::io;
    return result;
  }
  constexpr std::int64_t count(int set) const { return is_io(set) ? io_tiles : tiles - io_tiles; }  ///< tiles of a set
  constexpr std::int64_t first(int set) const { return ipu(set) * tiles + (is_io(set) ? 0 : io_tiles); }  ///< first tile of a set
  constexpr std::int64_t all() const { return ipus * tiles; }  ///< tiles of the replica
  /// Returns the set of a tile.
  constexpr int of(std::int64_t tile) const {
    const int ipu = static_cast<int>(tile / tiles);
    return ipu * in_ipu() + (io_tiles > 0 && tile % tiles < io_tiles ? 1 : 0);
  }

 private:
  constexpr int in_ipu() const { return io_tiles > 0 ? 2 : 1; }
};

}  // namespace tilewright::internal
