#pragma once
#include "tilewright/graph/placements.hpp"
#include "tilewright/program/merge_exchange.hpp"
#include "tilewright/program/scopes.hpp"

namespace tilewright {

/// Scope that merges transfers on IO tiles: io_tiles, in_sequence(ir, false) and merge_exchange together. New ops run on the IO
/// tiles of their IPU and have no order among themselves. When the scope ends, its loads and stores become one exchange, which
/// runs in parallel to the computation on other tiles. Unless `verify_overlap` is false, it is an error if one exchange cannot
/// hold all loads and stores, or if an op is not a load, a store or a view, because such an op would not run in parallel.
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
