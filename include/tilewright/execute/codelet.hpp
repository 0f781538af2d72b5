#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "tilewright/lower/compute_sets.hpp"
#include "tilewright/ops/op.hpp"

namespace tilewright {

/// Runs the vertices [first, last) of a compute set on operands at the given addresses.
using ComputeFunction = void (*)(std::byte* const* operands, std::int64_t first, std::int64_t last);

namespace detail {

template <const OpTag* tag>
using OpType = typename decltype(op_of(ByTag<tag>{}))::type;

/// What the code of a compute set is made from, all of it known to the compiler. Its locations are the op's operands, or, if
/// stages are fused to it, the op's inputs and the stages' operands but for results that another stage goes on with.
template <const ComputeSet& set>
struct Grid {
  static constexpr int axes = set.blocks.size();
  static constexpr int own_locations = set.fused.size() == 0 ? set.operands.size() : set.input_count;
  static constexpr int location_count = [] {
    int count = own_locations - std::max(0, set.fused.size() - 1);
    for (const FusedStage& stage : set.fused) count += stage.operands.size();
    return count;
  }();
  static constexpr Work work = [] {
    std::array<TensorSpec, max_operands> specs{};
    for (int i = 0; i < set.operands.size(); ++i)
      specs[static_cast<std::size_t>(i)] = {set.operands[i].shape, set.operands[i].dtype};
    Work result = work_of(op_info<OpType<set.op>>, std::span(specs).first(static_cast<std::size_t>(set.operands.size())),
                          set.input_count, set.attributes);
    if (set.whole_reduction)
      for (int i = 0; i < axes; ++i)
        if (result.axes[i].kind == WorkAxisKind::reduction) result.axes[i].kind = WorkAxisKind::whole;
    return result;
  }();
  static constexpr std::int64_t count(int axis) { return block_count(work.axes[axis].extent, set.blocks[axis]); }
  /// The extent of the last block along an axis if it is shorter than the others, else 0.
  static constexpr std::int64_t rest(int axis) { return work.axes[axis].extent % set.blocks[axis]; }

  /// Bytes from one block to the next along an axis, for every location.
  static constexpr auto steps = [] {
    std::array<std::array<std::int64_t, static_cast<std::size_t>(location_count)>, max_work_axes> result{};
    const auto step = [&](int axis, int location) -> std::int64_t& {
      return result[static_cast<std::size_t>(axis)][static_cast<std::size_t>(location)];
    };
    for (int o = 0; o < own_locations; ++o) {
      const ViewSpec& view = set.operands[o];
      for (int axis = 0; axis < view.shape.rank; ++axis)
        if (const int a = work.follows(o, axis); a >= 0) step(a, o) += set.blocks[a] * view.stride(axis) * size_of(view.dtype);
    }
    const ViewSpec& own_result = set.operands[set.input_count];
    std::int64_t part = own_result.shape.nelms() * size_of(own_result.dtype);
    for (int a = axes; set.partial && a-- > 0;)
      if (work.axes[a].kind == WorkAxisKind::reduction) {
        step(a, set.input_count) += part;
        part *= count(a);
      }
    int location = own_locations;
    for (int s = 0; s < set.fused.size(); ++s)
      for (int o = 0; o < set.fused[s].operands.size(); ++o) {
        const ViewSpec& view = set.fused[s].operands[o];
        if (s + 1 < set.fused.size() && o + 1 == set.fused[s].operands.size()) continue;
        for (int axis = 1; axis <= view.shape.rank; ++axis)
          if (const int a = work.follows(set.input_count, own_result.shape.rank - axis); a >= 0 && view.shape[-axis] != 1)
            step(a, location) += set.blocks[a] * view.stride(-axis) * size_of(view.dtype);
        ++location;
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
  /// The op's result in a vertex's own memory.
  static constexpr ViewSpec block(unsigned variant) {
    const ViewSpec result = slice(set.input_count, variant);
    return {result.dtype, result.shape, dense_strides(result.shape)};
  }
};

template <ViewSpec spec>
inline View<spec> view_at(std::byte* data) {
  return {reinterpret_cast<element_t<spec.dtype>*>(data)};
}

/// Goes on with the block in `scratch`: a fused stage and those after it, whose operands begin at `location`.
template <const ComputeSet& set, unsigned variant, int stage_index, int location>
inline void run_stages(std::byte* const* operands, std::byte* scratch) {
  static constexpr const FusedStage& stage = set.fused[stage_index];
  constexpr int others = stage.operands.size() - 1;
  constexpr bool last = stage_index + 1 == set.fused.size();
  static constexpr ViewSpec block = Grid<set>::block(variant);
  const auto input = [&]<int i>() {
    if constexpr (i == stage.intermediate) {
      return view_at<block>(scratch);
    } else {
      constexpr int other = i - (i > stage.intermediate ? 1 : 0);
      return view_at<broadcast_slice(stage.operands[other], block.shape)>(operands[location + other]);
    }
  };
  const auto result = [&] {
    if constexpr (last) return view_at<broadcast_slice(stage.operands[others], block.shape)>(operands[location + others]);
    else return view_at<block>(scratch);
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    OpType<stage.op>::template compute<stage.attributes>(input.template operator()<static_cast<int>(i)>()..., result());
  }(std::make_index_sequence<static_cast<std::size_t>(others) + 1>{});
  if constexpr (!last) run_stages<set, variant, stage_index + 1, location + others>(operands, scratch);
}

template <const ComputeSet& set, unsigned variant>
inline void run_codelet(std::byte* const* operands) {
  using G = Grid<set>;
  [&]<std::size_t... o>(std::index_sequence<o...>) {
    if constexpr (set.fused.size() == 0) {
      OpType<set.op>::template compute<set.attributes>(view_at<G::slice(static_cast<int>(o), variant)>(operands[o])...);
    } else {
      constexpr ViewSpec block = G::block(variant);
      alignas(memory_alignment) std::byte scratch[static_cast<std::size_t>(align(block.shape.nelms() * size_of(block.dtype)))];
      OpType<set.op>::template compute<set.attributes>(view_at<G::slice(static_cast<int>(o), variant)>(operands[o])...,
                                                       view_at<block>(scratch));
      run_stages<set, variant, 0, G::own_locations>(operands, scratch);
    }
  }(std::make_index_sequence<static_cast<std::size_t>(G::own_locations)>{});
}

/// The codelets by variant; those that cannot occur are null.
template <const ComputeSet& set>
inline constexpr auto codelets = []<std::size_t... v>(std::index_sequence<v...>) {
  constexpr auto codelet = []<std::size_t variant>() -> void (*)(std::byte* const*) {
    if constexpr ((variant & ~std::size_t{Grid<set>::variant_bits}) == 0) return &run_codelet<set, unsigned{variant}>;
    else return nullptr;
  };
  return std::array<void (*)(std::byte* const*), sizeof...(v)> { codelet.template operator()<v>()... };
}(std::make_index_sequence<std::size_t{1} << Grid<set>::axes>{});

/// Goes through the grid of a compute set from one vertex to another, last axis fastest.
template <const ComputeSet& set>
inline void run_vertices(std::byte* const* operands, std::int64_t first, std::int64_t last) {
  using G = Grid<set>;
  constexpr auto location_count = static_cast<std::size_t>(G::location_count);
  std::array<std::byte*, location_count> at;
  for (std::size_t o = 0; o < location_count; ++o) at[o] = operands[o];
  std::array<std::int64_t, max_work_axes> index{};
  unsigned variant = 0;
  std::int64_t vertex = first;
  for (int a = G::axes; a-- > 0; vertex /= G::count(a)) {
    const auto axis = static_cast<std::size_t>(a);
    index[axis] = vertex % G::count(a);
    for (std::size_t o = 0; o < location_count; ++o) at[o] += index[axis] * G::steps[axis][o];
    if (index[axis] == G::count(a) - 1) variant |= 1u << a;
  }
  for (vertex = first; vertex < last; ++vertex) {
    if constexpr (G::variant_bits == 0) run_codelet<set, 0>(at.data());
    else codelets<set>[variant & G::variant_bits](at.data());
    for (int a = G::axes; a-- > 0;) {
      const auto axis = static_cast<std::size_t>(a);
      if (++index[axis] < G::count(a)) {
        for (std::size_t o = 0; o < location_count; ++o) at[o] += G::steps[axis][o];
        if (index[axis] == G::count(a) - 1) variant |= 1u << a;
        break;
      }
      for (std::size_t o = 0; o < location_count; ++o) at[o] -= (G::count(a) - 1) * G::steps[axis][o];
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
