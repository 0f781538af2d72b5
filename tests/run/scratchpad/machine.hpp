#pragma once
// A machine that is neither host nor simulated IPU: one core with a scratchpad of 256 KiB. All tensors lie in main memory. A step
// has as many vertices as are needed for their blocks to lie in half of the scratchpad; the next vertex has the other half.
#include "fit.hpp"
#include "steps.hpp"
#include "tilewright/lower/planning.hpp"
#include "tilewright/lower/steps/flatten.hpp"
#include "tilewright/lower/steps/fuse.hpp"
#include "tilewright/lower/steps/split_operations.hpp"

namespace scratchpad {

/// The machine's passes, of which two have its rule of partition.
struct Planner {
  using Pass = tw::internal::Pass;
  static constexpr Pass passes[] = {
      Pass::flatten,
      Pass::order_updates,
      Pass::split_operations,
      Pass::fuse,
      Pass::find_internal_storages,
      Pass::cut_groups,
      Pass::reuse_dying_inputs,
      Pass::place,
      Pass::place_barriers,
  };
  static constexpr void run(Pass pass, tw::internal::BodyId body, BodyDraft& draft, tw::internal::Planning& planning) {
    switch (pass) {
      case Pass::flatten: draft = flatten(planning, body, nullptr); return;
      case Pass::split_operations: return split_operations(draft, planning.target, nullptr);
      case Pass::fuse: return fuse(draft, planning.target, fit);
      case Pass::cut_groups: return cut_groups(draft, planning.target, fit);
      default: run_shared(pass, body, draft, planning);
    }
  }
};
inline constexpr tw::internal::MachinePlanner planner{Planner::passes, Planner::run, count_memory};

inline constexpr tw::DType absent[] = {tw::float16, tw::bfloat16, tw::float64, tw::float8_143, tw::float8_152};

/// What the machine states of itself.
inline constexpr tw::MachineKind kind{.name = "the scratchpad machine",
                                      .rewrites = {.replaces_composed_forms = false,
                                                   .fuses_across_calls = false,
                                                   .adds_activations = true,
                                                   .transforms_convolutions = false},
                                      .absent = absent,
                                      .instead = "float32",
                                      .planner = &planner};
inline constexpr tw::Target target{.tiles = 1,
                                   .bytes_per_tile = 256 * 1024,
                                   .vector_bytes = 64,
                                   .block_bytes = 256 * 1024,
                                   .first_cache_bytes = 0,
                                   .kind = &kind};

}  // namespace scratchpad
