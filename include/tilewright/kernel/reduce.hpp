#pragma once
#include <cstdint>

#include "tilewright/kernel/elementwise.hpp"
#include "tilewright/kernel/math.hpp"

namespace tilewright {

namespace detail {
/// The sum of a contiguous run of floats, in several independent partial sums.
template <std::int64_t run>
inline float sum_run(const float* data) {
  using batch = xsimd::batch<float>;
  constexpr auto width = static_cast<std::int64_t>(batch::size);
  float total = 0;
  std::int64_t k = 0;
  if constexpr (run >= width) {
    batch sum(0.f);
    for (; k + width <= run; k += width) sum += batch::load_unaligned(data + k);
    total = math::sum(sum);
  }
  for (; k < run; ++k) total += data[k];
  return total;
}
}  // namespace detail

/// out = scale * (sum of in over the axes of `reduced`). out has in's axes without the reduced ones, or with them as
/// extents of 1. Sums half precision in float.
template <std::uint64_t reduced, class In, class Out>
inline void assign_sum(In in, Out out, double scale) {
  using Sum = compute_t<typename Out::element>;
  constexpr bool keeps_axes = In::shape.rank == Out::shape.rank;
  struct Loops {
    Shape kept{}, summed{};
    std::array<std::array<std::int64_t, max_rank>, 2> kept_strides{};
    std::array<std::array<std::int64_t, max_rank>, 1> summed_strides{};
  };
  static constexpr Loops loops = [] {
    Loops result;
    int out_axis = 0;
    for (int axis = 0; axis < In::shape.rank; ++axis) {
      const bool is_reduced = (reduced >> axis & 1) != 0;
      if (is_reduced) {
        result.summed_strides[0][static_cast<std::size_t>(result.summed.rank)] = In::spec.stride(axis);
        result.summed.push_back(In::shape[axis]);
      } else {
        const auto k = static_cast<std::size_t>(result.kept.rank);
        result.kept_strides[0][k] = In::spec.stride(axis);
        result.kept_strides[1][k] = Out::spec.stride(keeps_axes ? axis : out_axis);
        result.kept.push_back(In::shape[axis]);
      }
      if (!is_reduced) ++out_axis;
    }
    return result;
  }();
  constexpr bool floats = In::spec.dtype == float32 && Out::spec.dtype == float32;
  constexpr int last = loops.kept.rank - 1;
  if constexpr (floats && last >= 0 && loops.kept_strides[0][static_cast<std::size_t>(last < 0 ? 0 : last)] == 1 &&
                loops.kept_strides[1][static_cast<std::size_t>(last < 0 ? 0 : last)] == 1 && loops.kept[last] > 1) {
    // rows are added to a row: one xtensor expression for each
    constexpr auto run = static_cast<std::size_t>(loops.kept[last]);
    static constexpr Shape outer = [] {
      Shape result = loops.kept;
      --result.rank;
      return result;
    }();
    for_each_offset<2>(outer, loops.kept_strides, [&](const auto& at) {
      auto row = xt::adapt(out.data + at[1], xt::fixed_shape<run>());
      bool first = true;
      for_each_offset<1>(loops.summed, loops.summed_strides, [&](const auto& from) {
        const auto term = xt::adapt(in.data + at[0] + from[0], xt::fixed_shape<run>());
        if (first) xt::noalias(row) = term;
        else xt::noalias(row) = row + term;
        first = false;
      });
      if (scale != 1) xt::noalias(row) = row * static_cast<float>(scale);
    });
  } else {
    constexpr int inner = loops.summed.rank - 1;
    constexpr bool contiguous = floats && inner >= 0 &&
                                loops.summed_strides[0][static_cast<std::size_t>(inner < 0 ? 0 : inner)] == 1;
    for_each_offset<2>(loops.kept, loops.kept_strides, [&](const auto& at) {
      Sum sum{};
      if constexpr (contiguous) {
        static constexpr Shape outer = [] {
          Shape result = loops.summed;
          --result.rank;
          return result;
        }();
        for_each_offset<1>(outer, loops.summed_strides,
                           [&](const auto& from) { sum += detail::sum_run<loops.summed[inner]>(in.data + at[0] + from[0]); });
      } else {
        for_each_offset<1>(loops.summed, loops.summed_strides,
                           [&](const auto& from) { sum = static_cast<Sum>(sum + static_cast<Sum>(in.data[at[0] + from[0]])); });
      }
      out.data[at[1]] = static_cast<typename Out::element>(static_cast<Sum>(sum * static_cast<Sum>(scale)));
    });
  }
}

}  // namespace tilewright
