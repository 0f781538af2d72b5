#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/lower/body_draft.hpp"

namespace tilewright::internal {

/// The passes that plan one body, in their order.
enum class Pass : std::uint8_t {
  flatten,
  write_through,  ///< for the host
  write_as_read,  ///< for the host
  order_updates,
  split_reductions,
  fuse,
  find_internal_storages,
  cut_groups,
  reuse_dying_inputs,
  map_tiles,  ///< for a simulated IPU
  place_tiles,  ///< for a simulated IPU
  place
};

constexpr std::string_view name_of(Pass pass) {
  constexpr std::string_view names[] = {"flatten",
                                        "write_through",
                                        "write_as_read",
                                        "order_updates",
                                        "split_reductions",
                                        "fuse",
                                        "find_internal_storages",
                                        "cut_groups",
                                        "reuse_dying_inputs",
                                        "map_tiles",
                                        "place_tiles",
                                        "place"};
  return names[static_cast<int>(pass)];
}

/// Sees nothing of what passes do. An observer of `lower` is called after each pass over a body with the draft, and with the plan
/// as far as it is made; at the end, before the checks that can fail, it is called with the whole plan.
struct Unobserved {
  constexpr void operator()(Pass, BodyId /*body*/, const BodyDraft&, const Plan&) const {}
  constexpr void operator()(const Plan&) const {}
};

}  // namespace tilewright::internal
