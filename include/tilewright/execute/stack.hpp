#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tilewright/execute/codelet.hpp"
#include "tilewright/execute/stages.hpp"

namespace tilewright::internal {

namespace detail {

/// Bytes of stack, measured with GCC 12.2 and Clang 19.1 at -O2 and -O3 on Zen 4 (tests/stack), and rounded up: for the functions
/// of a run and of kernels, including arrays that no `stack_bytes` of an op counts, and the system's needs to bind a function or
/// to throw; for a body that calls another; and for a stream, whose host array a run records.
inline constexpr std::int64_t stack_of_frames = 10 * 1024, stack_of_call = 512, stack_of_stream = 16;

/// Returns the bytes of a vertex: the arrays of all its stages, which may be in one function. Of those that have functions of
/// their own, the largest.
template <class B, std::size_t... s>
consteval std::int64_t stack_of_vertex(std::index_sequence<s...>) {
  constexpr bool apart = are_stages_apart<B>;
  constexpr std::int64_t all = (std::int64_t{0} + ... + stack_of_stage<B, static_cast<int>(s)>());
  return apart ? (std::max)({std::int64_t{0}, stack_of_stage<B, static_cast<int>(s)>()...}) : all;
}
template <const auto& plan, std::size_t set, unsigned variant>
consteval std::int64_t stack_of_variant() {
  using G = Grid<plan, set>;
  if constexpr ((variant & ~G::variant_bits) != 0) return 0;
  else
    return stack_of_vertex<Block<plan, set, G::extents(variant)>>(
        std::make_index_sequence<static_cast<std::size_t>(G::set.stage_count)>{});
}
/// Returns the bytes of a set's vertices: their scratch, and the largest variant, because each variant is a function.
template <const auto& plan, std::size_t set, std::size_t... variant>
consteval std::int64_t stack_of_vertices(std::index_sequence<variant...>) {
  return scratch_memory_bytes<Block<plan, set, Extents{}>> +
         (std::max)({stack_of_variant<plan, set, static_cast<unsigned>(variant)>()...});
}
template <const auto& plan, std::size_t set, bool uses_library>
consteval std::int64_t stack_of_set() {
  if constexpr (is_collective<plan, set>) {
    using B = Block<plan, set, Extents{}>;
    using O = typename B::template OpOf<0>;
    if constexpr (requires { O::template stack_bytes<B::stage(0).attributes, collective_spec<B>(0), collective_spec<B>(1)>(); })
      return O::template stack_bytes<B::stage(0).attributes, collective_spec<B>(0), collective_spec<B>(1)>();
    else return 0;
  } else if constexpr (runs_on_library<plan, set, uses_library>()) {
    return scratch_memory_bytes<Block<plan, set, Extents{}>> + LibrarySets<plan>::stack_bytes;
  } else {
    return stack_of_vertices<plan, set>(std::make_index_sequence<std::size_t{1} << Grid<plan, set>::axes>{});
  }
}
/// Returns the number of bodies on the longest path from a body to one that calls none.
template <const auto& plan>
consteval int deepest_call() {
  std::array<int, plan.bodies.size()> depths{};
  int deepest = 0;
  for (std::size_t b = plan.bodies.size(); b-- > 0;) {  // bodies stand before those that they call
    const auto first = static_cast<std::size_t>(plan.bodies[b].first_step);
    for (std::size_t s = first; s < first + static_cast<std::size_t>(plan.bodies[b].step_count); ++s) {
      if (!plan.steps[s].is_call()) continue;
      for (const BodyId called : {plan.steps[s].body, plan.steps[s].else_body})
        if (called != BodyId::none) depths[b] = (std::max)(depths[b], depths[static_cast<std::size_t>(called)]);
    }
    deepest = (std::max)(deepest, ++depths[b]);
  }
  return deepest;
}

}  // namespace detail

/// Bytes of stack that a run of a frozen plan needs on each of its threads.
template <const auto& plan, bool uses_library = false>
inline constexpr std::int64_t stack_of_plan = [] {
  const std::int64_t of_sets = []<std::size_t... set>(std::index_sequence<set...>) {
    return (std::max)({std::int64_t{0}, detail::stack_of_set<plan, set, uses_library>()...});
  }(std::make_index_sequence<plan.compute_sets.size()>{});
  return align(of_sets + detail::stack_of_frames + detail::deepest_call<plan>() * detail::stack_of_call +
               static_cast<std::int64_t>(plan.streams.size()) * detail::stack_of_stream);
}();

}  // namespace tilewright::internal
