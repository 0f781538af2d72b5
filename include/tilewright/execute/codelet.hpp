#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "tilewright/execute/stages.hpp"
#include "tilewright/operand/pieces.hpp"
#include "tilewright/ops/ops_code.hpp"

namespace tilewright::internal {

/// Function that runs the pieces [first, last) of all vertices of a compute set, vertex after vertex, on operands at the given
/// addresses. ComputeSet::pieces is the number of pieces of a vertex. `adds_parts`: sums are added up in the memory of their
/// first part (SumParts); the call then runs all vertices, and it is true for all steps of a run, or for none.
using ComputeFunction = void (*)(std::byte* const* operands, std::int64_t first, std::int64_t last, bool adds_parts);

namespace detail {

/// Grid of a compute set of a frozen plan.
template <const auto& plan, std::size_t index>
struct Grid {
  static constexpr const ComputeSet& set = plan.compute_sets[index];
  static constexpr int axes = set.blocks.size();
  // `strides` and `counts` are copies: code that read them in the plan would keep the whole plan in the executable.
  static constexpr auto strides = [] {
    std::array<std::int64_t, static_cast<std::size_t>(axes * set.location_count)> strides{};
    for (std::size_t i = 0; i < strides.size(); ++i) strides[i] = plan.strides[static_cast<std::size_t>(set.first_stride) + i];
    return strides;
  }();

  static constexpr bool can_fault = [] {
    for (int s = 0; s < set.stage_count; ++s)
      if (plan.stages[static_cast<std::size_t>(set.first_stage + s)].can_fault) return true;
    return false;
  }();
  /// Blocks along each axis.
  static constexpr auto counts = [] {
    std::array<std::int64_t, static_cast<std::size_t>(axes)> counts{};
    for (int a = 0; a < axes; ++a) counts[static_cast<std::size_t>(a)] = block_count(set.extents[a], set.blocks[a]);
    return counts;
  }();
  static constexpr std::int64_t count(int axis) { return counts[static_cast<std::size_t>(axis)]; }
  /// Returns the extent of the last block along an axis if it is shorter than the others, otherwise 0.
  static constexpr std::int64_t rest(int axis) { return set.extents[axis] % set.blocks[axis]; }
  /// Returns the bytes from one block to the next along an axis.
  static constexpr std::int64_t stride(int axis, std::size_t location) {
    return strides[static_cast<std::size_t>(axis) + location * static_cast<std::size_t>(axes)];
  }
  /// Variants of the codelet: bit a means the shorter last block along axis a. Only variants that occur are compiled.
  static constexpr unsigned variant_bits = [] {
    unsigned bits = 0;
    for (int a = 0; a < axes; ++a)
      if (rest(a) != 0) bits |= 1u << a;
    return bits;
  }();
  static constexpr auto extents(unsigned variant) {
    auto result = set.blocks;
    for (int a = 0; a < axes; ++a)
      if (variant >> a & 1) result[a] = rest(a);
    return result;
  }
};

/// Codelets by variant; null for those that cannot occur.
template <const auto& plan, std::size_t index, class... SomePieces>
inline constexpr auto codelets = []<std::size_t... v>(std::index_sequence<v...>) {
  using G = Grid<plan, index>;
  using Codelet = void (*)(std::byte* const*, VertexIndex, const SomePieces&...);
  constexpr auto codelet = []<std::size_t variant>() -> Codelet {
    if constexpr ((variant & ~std::size_t{G::variant_bits}) == 0)
      return &run_stages<plan, index, G::extents(unsigned{variant}), SomePieces...>;
    else return nullptr;
  };
  return std::array<Codelet, sizeof...(v)> { codelet.template operator()<v>()... };
}(std::make_index_sequence<std::size_t{1} << Grid<plan, index>::axes>{});

/// Runs the pieces [first, last) of a compute set's vertices in the order of its grid, last axis fastest.
template <const auto& plan, std::size_t set_index>
inline void run_vertices(std::byte* const* operands, std::int64_t first, std::int64_t last, [[maybe_unused]] bool adds_parts) {
  using G = Grid<plan, set_index>;
  constexpr std::int64_t pieces = G::set.pieces;
  constexpr auto location_count = static_cast<std::size_t>(G::set.location_count);
  std::array<std::byte*, location_count + (G::can_fault ? 1 : 0)> at;
  if constexpr (G::can_fault) at[location_count] = operands[location_count];  // fault records, the same for all vertices
  for (std::size_t o = 0; o < location_count; ++o) at[o] = operands[o];
  std::array<std::int64_t, max_work_axes> index{};
  unsigned variant = 0;
  std::int64_t vertex = first / pieces;
  for (int a = G::axes; a-- > 0; vertex /= G::count(a)) {
    const auto axis = static_cast<std::size_t>(a);
    index[axis] = vertex % G::count(a);
    for (std::size_t o = 0; o < location_count; ++o) at[o] += index[axis] * G::stride(a, o);
    if (index[axis] == G::count(a) - 1) variant |= 1u << a;
  }
  const VertexIndex added = adds_parts ? index.data() : nullptr;
  const auto run = [&](const auto&... some) {
    if constexpr (G::variant_bits == 0) run_stages<plan, set_index, G::extents(0)>(at.data(), added, some...);
    else codelets<plan, set_index, std::remove_cvref_t<decltype(some)>...>[variant & G::variant_bits](at.data(), added, some...);
  };
  for (std::int64_t next = first; next < last;) {
    if constexpr (pieces == 1) {
      run();
      ++next;
    } else {
      const std::int64_t before = next / pieces * pieces, end = (std::min)(last, before + pieces);
      run(kernel::Pieces{next - before, end - before, pieces});
      next = end;
    }
    for (int a = G::axes; a-- > 0;) {
      const auto axis = static_cast<std::size_t>(a);
      if (++index[axis] < G::count(a)) {
        for (std::size_t o = 0; o < location_count; ++o) at[o] += G::stride(a, o);
        if (index[axis] == G::count(a) - 1) variant |= 1u << a;
        break;
      }
      for (std::size_t o = 0; o < location_count; ++o) at[o] -= (G::count(a) - 1) * G::stride(a, o);
      index[axis] = 0;
      variant &= ~(1u << a);
      if (G::count(a) == 1) variant |= 1u << a;
    }
  }
}

/// Returns the spec of a whole operand of a collective: its input or its output.
template <class B>
constexpr TensorSpec collective_spec(int o) {
  return {B::operand(0, o).view.shape, B::operand(0, o).view.dtype};
}
/// Runs the items [first, last) of a collective. `operands` are the inputs of all replicas, then their outputs.
template <const auto& plan, std::size_t set_index>
inline void run_collective_set(std::byte* const* operands, std::int64_t first, std::int64_t last, bool) {
  using B = Block<plan, set_index, Extents{}>;
  B::template OpOf<0>::template run_collective<B::stage(0).attributes, collective_spec<B>(0), collective_spec<B>(1)>(operands,
                                                                                                                     first, last);
}
template <const auto& plan, std::size_t set_index>
inline constexpr bool is_collective =
    op_info<OpType<plan.stages[static_cast<std::size_t>(plan.compute_sets[set_index].first_stage)].op>>.collective_items !=
    nullptr;
/// The sets of a plan that run on kernels of the library: <tilewright/library_kernels.hpp>.
template <const auto& plan>
struct LibrarySets;
template <const auto& plan, std::size_t set_index, bool uses_library>
consteval bool runs_on_library() {
  if constexpr (!uses_library) {
    return false;
  } else if constexpr (requires { LibrarySets<plan>::stack_bytes; }) {
    return LibrarySets<plan>::template has<set_index>;
  } else {
    static_assert(!uses_library, "with_library_kernels(): `#include <tilewright/library_kernels.hpp>` expected");
    return false;
  }
}
template <const auto& plan, std::size_t set_index, bool uses_library>
consteval ComputeFunction compute_function() {
  if constexpr (is_collective<plan, set_index>) return &run_collective_set<plan, set_index>;
  else if constexpr (runs_on_library<plan, set_index, uses_library>()) return &LibrarySets<plan>::template run<set_index>;
  else return &run_vertices<plan, set_index>;
}

}  // namespace detail

/// Code of every compute set of a frozen plan. `uses_library`: see Target::with_library_kernels.
template <const auto& plan, bool uses_library = false>
inline constexpr auto compute_functions = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array<ComputeFunction, sizeof...(i)>{detail::compute_function<plan, i, uses_library>()...};
}(std::make_index_sequence<plan.compute_sets.size()>{});

}  // namespace tilewright::internal
