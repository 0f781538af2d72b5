#pragma once
#include <string_view>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/tracing.hpp"

namespace tilewright {

namespace internal {
struct MachinePlanner;  // lower/pass.hpp
}  // namespace internal

/// A kind of machine: what its targets have in common beside their numbers. Each kind is a static object, to which its targets
/// point; a program may have kinds of its own. docs/extend/adding-a-target.md shows one.
struct MachineKind {
  std::string_view name;  ///< in messages: "the host". No two kinds have the same
  Rewrites rewrites{};  ///< of graphs that are traced for it; a program may forbid them
  Span<const DType> absent{};  ///< dtypes that it does not have: a live tensor of one is an error
  std::string_view instead{};  ///< in that error, the dtypes that are expected
  /// Passes of its planner; null for host and simulated IPU, whose planners lower/lower.hpp knows.
  const internal::MachinePlanner* planner = nullptr;

  static const MachineKind host, simulated_ipu;
};

inline constexpr MachineKind MachineKind::host{.name = default_kind};

namespace detail {
inline constexpr DType absent_on_ipus[] = {bfloat16};
}
/// Gradients are composed of other ops, and composed forms stay: its unit for products computes them faster. Ops do not move
/// across calls, because the arguments of a graph lie on the tiles on which its gradient graph needs them.
inline constexpr MachineKind MachineKind::simulated_ipu{
    .name = "a simulated IPU", .rewrites = no_rewrites, .absent = detail::absent_on_ipus, .instead = "float16 or float32"};

}  // namespace tilewright
