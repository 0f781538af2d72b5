#pragma once
#include "tilewright/graph/placements.hpp"
#include "tilewright/program/merge_exchange.hpp"
#include "tilewright/program/scopes.hpp"

namespace tilewright {

/// While it lives, new ops run on the IO tiles of their IPU and have no order among themselves, and when it ends its loads and
/// stores become one exchange, which goes on beside what the other tiles compute: io_tiles, in_sequence(ir, false) and
/// merge_exchange together. Unless `verify_overlap` is false, loads and stores that one exchange cannot hold are an error, and so
/// is an op that is no load or store, nor a view: it would take part in nothing that goes on beside other tiles.
class [[nodiscard]] IoTileExchange {
 public:
  constexpr explicit IoTileExchange(Ir& ir, bool verify_overlap = true)
      : sequence_(ir, SequenceMode::unordered),
        placement_(io_tiles(ir)),
        exchange_(ir, {.into_one = verify_overlap, .transfers_only = verify_overlap}) {}

 private:
  InSequence sequence_;
  detail::PlacementScope placement_;
  MergeExchange exchange_;
};
constexpr IoTileExchange io_tile_exchange(Ir& ir, bool verify_overlap = true) { return IoTileExchange(ir, verify_overlap); }

}  // namespace tilewright
