#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/core/text.hpp"

namespace tilewright {

/// A set of tiles of an IPU: compute tiles, or IO tiles, which move data from and to the host and streaming memory in parallel.
enum class TileSet : std::uint8_t { compute, io };
[[nodiscard]] constexpr std::string_view to_text(TileSet tile_set) {
  return tile_set == TileSet::io ? "IO tiles" : "compute tiles";
}

/// Where an op runs and where a tensor is: tiles of one IPU of the replica.
struct Placement {
  int ipu = -1;  ///< number from 0; -1: not known yet, or on several IPUs, as a call may be
  TileSet tile_set = TileSet::compute;
  constexpr bool is_known() const { return ipu >= 0; }
  constexpr bool operator==(const Placement&) const = default;
};
/// Returns the placement as text: `IPU 1`, `IO tiles of IPU 1`
[[nodiscard]] constexpr Text to_text(const Placement& placement) {
  return text(placement.tile_set == TileSet::io ? "IO tiles of " : "", "IPU ", placement.ipu);
}

}  // namespace tilewright
