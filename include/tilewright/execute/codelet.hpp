#pragma once
#include <array>
#include <cstddef>
#include <utility>

#include "tilewright/lower/compute_sets.hpp"
#include "tilewright/ops/op.hpp"

namespace tilewright {

/// Runs the vertices [first, last) of a compute set on operands at the given addresses.
using ComputeFunction = void (*)(std::byte* const* operands, std::int64_t first, std::int64_t last);

namespace detail {

/// What the code of a compute set is made from, all of it known to the compiler.
template <const ComputeSet& set>
struct Grid {
  using OpType = typename decltype(op_of(ByTag<set.op>{}))::type;
  static constexpr int axes = set.blocks.size();
  static constexpr int operand_count = set.operands.size();
  static constexpr Work work = [] {
    std::array<TensorSpec, max_operands> specs{};
    for (int i = 0; i < operand_count; ++i) specs[static_cast<std::size_t>(i)] = {set.operands[i].shape, set.operands[i].dtype};
    return work_of(op_info<OpType>, std::span(specs).first(static_cast<std::size_t>(operand_count)), set.input_count, set.attributes);
  }();
  static constexpr std::int64_t count(int axis) { return block_count(work.axes[axis].extent, set.blocks[axis]); }
  /// The extent of the last block along an axis if it is shorter than the others, else 0.
  static constexpr std::int64_t rest(int axis) { return work.axes[axis].extent % set.blocks[axis]; }

  /// Bytes from one block to the next along an axis, for every operand.
  static constexpr auto steps = [] {
    std::array<std::array<std::int64_t, static_cast<std::size_t>(operand_count)>, max_work_axes> result{};
    std::int64_t partial = 1;
    for (int a = axes; a-- > 0;)
      for (int o = 0; o < operand_count; ++o) {
        const ViewSpec& view = set.operands[o];
        std::int64_t& step = result[static_cast<std::size_t>(a)][static_cast<std::size_t>(o)];
        for (int axis = 0; axis < view.shape.rank; ++axis)
          if (work.follows[static_cast<std::size_t>(o)][static_cast<std::size_t>(axis)] == a)
            step += set.blocks[a] * view.stride(axis) * size_of(view.dtype);
        if (set.partial && o == operand_count - 1 && work.axes[a].kind == WorkAxisKind::reduction) {
          step += partial * view.shape.nelms() * size_of(view.dtype);
          partial *= count(a);
        }
      }
    return result;
  }();
  /// Variants of the codelet: bit a means the shorter last block along axis a. Only those that occur are made.
  static constexpr unsigned variant_bits = [] {
    unsigned bits = 0;
    for (int a = 0; a < axes; ++a)
      if (rest(a) != 0) bits |= 1u << a;
    return bits;
  }();
  static constexpr ViewSpec slice(int operand, unsigned variant) {
    auto extents = set.blocks;
    for (int a = 0; a < axes; ++a)
      if (variant >> a & 1) extents[a] = rest(a);
    return slice_of(set.operands[operand], operand, work, extents);
  }
};

template <const ComputeSet& set, unsigned variant>
inline void run_codelet(std::byte* const* operands) {
  [&]<std::size_t... o>(std::index_sequence<o...>) {
    Grid<set>::OpType::template compute<set.attributes>(View<Grid<set>::slice(static_cast<int>(o), variant)>{
        reinterpret_cast<element_t<set.operands[static_cast<int>(o)].dtype>*>(operands[o])}...);
  }(std::make_index_sequence<static_cast<std::size_t>(set.operands.size())>{});
}

/// The codelets by variant; those that cannot occur are null.
template <const ComputeSet& set>
inline constexpr auto codelets = []<std::size_t... v>(std::index_sequence<v...>) {
  constexpr auto codelet = []<std::size_t variant>() -> void (*)(std::byte* const*) {
    if constexpr ((variant & ~std::size_t{Grid<set>::variant_bits}) == 0) return &run_codelet<set, unsigned{variant}>;
    else return nullptr;
  };
  return std::array<void (*)(std::byte* const*), sizeof...(v)>{codelet.template operator()<v>()...};
}(std::make_index_sequence<std::size_t{1} << Grid<set>::axes>{});

/// Goes through the grid of a compute set from one vertex to another, last axis fastest.
template <const ComputeSet& set>
inline void run_vertices(std::byte* const* operands, std::int64_t first, std::int64_t last) {
  using G = Grid<set>;
  constexpr auto operand_count = static_cast<std::size_t>(G::operand_count);
  std::array<std::byte*, operand_count> at;
  for (std::size_t o = 0; o < operand_count; ++o) at[o] = operands[o];
  std::array<std::int64_t, max_work_axes> index{};
  unsigned variant = 0;
  std::int64_t vertex = first;
  for (int a = G::axes; a-- > 0; vertex /= G::count(a)) {
    const auto axis = static_cast<std::size_t>(a);
    index[axis] = vertex % G::count(a);
    for (std::size_t o = 0; o < operand_count; ++o) at[o] += index[axis] * G::steps[axis][o];
    if (index[axis] == G::count(a) - 1) variant |= 1u << a;
  }
  for (vertex = first; vertex < last; ++vertex) {
    if constexpr (G::variant_bits == 0) run_codelet<set, 0>(at.data());
    else codelets<set>[variant & G::variant_bits](at.data());
    for (int a = G::axes; a-- > 0;) {
      const auto axis = static_cast<std::size_t>(a);
      if (++index[axis] < G::count(a)) {
        for (std::size_t o = 0; o < operand_count; ++o) at[o] += G::steps[axis][o];
        if (index[axis] == G::count(a) - 1) variant |= 1u << a;
        break;
      }
      for (std::size_t o = 0; o < operand_count; ++o) at[o] -= (G::count(a) - 1) * G::steps[axis][o];
      index[axis] = 0;
      variant &= ~(1u << a);
      if (G::count(a) == 1) variant |= 1u << a;
    }
  }
}

}  // namespace detail

/// The code of every compute set of a frozen plan.
template <const auto& plan>
inline constexpr auto compute_functions = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array<ComputeFunction, sizeof...(i)>{&detail::run_vertices<plan.compute_sets[i]>...};
}(std::make_index_sequence<plan.compute_sets.size()>{});

}  // namespace tilewright
