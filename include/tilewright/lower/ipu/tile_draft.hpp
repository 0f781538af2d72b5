#pragma once
#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/lower/ipu/tile_map.hpp"

namespace tilewright::internal {

/// A body that is being planned for a simulated IPU.
struct TileDraft : BodyDraft {
  TileMap tiles{};  ///< set by map_tiles and place_tiles
};

}  // namespace tilewright::internal
