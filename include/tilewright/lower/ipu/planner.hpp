#pragma once
#include "tilewright/lower/ipu/argument_links.hpp"
#include "tilewright/lower/ipu/bank_cycles.hpp"
#include "tilewright/lower/ipu/map_tiles.hpp"
#include "tilewright/lower/ipu/run_cycles.hpp"
#include "tilewright/lower/ipu/step_cycles.hpp"
#include "tilewright/lower/ipu/tile_addresses.hpp"
#include "tilewright/lower/ipu/tile_exchange.hpp"
#include "tilewright/lower/ipu/tile_memory.hpp"
#include "tilewright/lower/ipu/tile_table.hpp"
#include "tilewright/lower/planning.hpp"
#include "tilewright/lower/steps/flatten.hpp"
#include "tilewright/lower/steps/fuse.hpp"
#include "tilewright/lower/steps/roots.hpp"
#include "tilewright/lower/steps/split_operations.hpp"
#include "tilewright/target/tile_sets.hpp"

namespace tilewright::internal {

/// Plans for simulated IPUs.
class IpuPlanner {
 public:
  using Draft = TileDraft;
  /// Passes over each body, in this order.
  static constexpr Pass passes[] = {
      Pass::flatten,    Pass::order_updates,      Pass::split_operations, Pass::fuse,           Pass::find_internal_storages,
      Pass::cut_groups, Pass::reuse_dying_inputs, Pass::map_tiles,        Pass::count_moves,    Pass::count_step_cycles,
      Pass::place,      Pass::place_tiles,        Pass::write_tiles,      Pass::place_barriers,
  };

  /// `homes`: gets the positions of variables and constants on tiles.
  constexpr IpuPlanner(Planning& planning, TileHomes& homes)
      : computing_(without_io_tiles(planning.target)),
        sets_(planning.target),
        homes_(homes),
        partitions_(product_machine(computing_)) {
    Plan& plan = planning.plan;
    for (int set = 0; set < sets_.size(); ++set) plan.tile_sets.push_back({sets_.ipu(set), sets_.is_io(set)});
    homes_ = make_homes(plan, sets_);
    link_gradients(planning.ir, planning.body_of, homes_);
  }

  constexpr void run(Pass pass, BodyId body, TileDraft& draft, Planning& planning) {
    const Target& target = planning.target;
    Plan& plan = planning.plan;
    switch (pass) {
      case Pass::flatten: static_cast<BodyDraft&>(draft) = flatten(planning, body, &partitions_); return;
      case Pass::split_operations: return split_operations(draft, computing_, &partitions_);
      case Pass::fuse: return fuse(draft, computing_);
      case Pass::map_tiles: return map_tiles(draft, target, homes_, body);
      case Pass::place_tiles: return place_tiles(draft, target, plan, homes_, body);
      case Pass::count_moves: return count_moves(draft, homes_, target, plan);
      case Pass::count_step_cycles: return count_step_cycles(draft, target, plan);
      case Pass::write_tiles: return write_tiles(draft, homes_, body, plan);
      default: run_shared(pass, body, draft, planning);
    }
  }
  /// Counts the figures of the plan after all bodies are planned.
  constexpr void count(const List<CodeUse>& code, Planning& planning) {
    const Target& target = planning.target;
    Plan& plan = planning.plan;
    count_tile_memory(planning.ir, code, homes_, target, plan);
    count_bank_cycles(homes_, target, plan);
    count_run_cycles(sets_, plan);
    write_homes(planning.ir, homes_, *target.ipu, plan);
  }

 private:
  Target computing_;
  TileSets sets_;
  TileHomes& homes_;
  ProductPartitions partitions_;
};

}  // namespace tilewright::internal
