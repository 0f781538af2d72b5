#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "tilewright/core/span.hpp"
#include "tilewright/lower/draft/body_draft.hpp"

namespace tilewright::internal {

/// Passes that plan one body, in the order in which a machine runs them: HostPlanner::passes, IpuPlanner::passes.
enum class Pass : std::uint8_t {
  flatten,
  write_through,
  write_as_read,
  put_channels_last,
  order_updates,
  split_operations,
  fuse,
  find_internal_storages,
  cut_groups,
  reuse_dying_inputs,
  map_tiles,
  count_moves,
  count_step_cycles,
  place,
  place_tiles,
  write_tiles,
  place_barriers
};
/// Returns whether a pass changes the draft. The others read it, and add to the plan.
constexpr bool changes_draft(Pass pass) {
  return pass != Pass::count_moves && pass != Pass::count_step_cycles && pass != Pass::write_tiles &&
         pass != Pass::place_barriers;
}

constexpr std::string_view name_of(Pass pass) {
  constexpr std::string_view names[] = {
      "flatten",
      "write_through",
      "write_as_read",
      "put_channels_last",
      "order_updates",
      "split_operations",
      "fuse",
      "find_internal_storages",
      "cut_groups",
      "reuse_dying_inputs",
      "map_tiles",
      "count_moves",
      "count_step_cycles",
      "place",
      "place_tiles",
      "write_tiles",
      "place_barriers",
  };
  static_assert(std::size(names) == static_cast<std::size_t>(Pass::place_barriers) + 1);
  return names[static_cast<int>(pass)];
}

struct CodeUse;  // program/code_memory.hpp
struct Planning;  // memory/planned_program.hpp

/// The planner of a kind of machine that maps nothing to tiles, such as the host: MachineKind::planner points to it.
struct MachinePlanner {
  using Draft = BodyDraft;
  Span<const Pass> passes;  ///< over each body, in this order
  void (*run)(Pass, BodyId, BodyDraft&, Planning&);  ///< one of them; run_shared has those that are equal for all machines
  /// Counts the figures of the plan after all bodies are planned; fails if the program needs more memory than the target has.
  void (*count)(const List<CodeUse>&, Planning&);
};

/// Observer that ignores all passes. An observer of `lower` is called after each pass over a body with the draft (a BodyDraft of
/// the host, a TileDraft of a simulated IPU) and with the plan so far. At the end, before the checks that can fail, it is called
/// with the whole plan.
struct Unobserved {
  constexpr void operator()(Pass, BodyId /*body*/, const BodyDraft&, const Plan&) const {}
  constexpr void operator()(const Plan&) const {}
};

}  // namespace tilewright::internal
