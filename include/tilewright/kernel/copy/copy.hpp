#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tilewright/kernel/copy/copy_run.hpp"
#include "tilewright/kernel/copy/transpose.hpp"
#include "tilewright/kernel/elementwise_loops.hpp"

namespace tilewright::kernel {

/// Returns whether the innermost run of a copy is contiguous in the target, and the axis around it in the source: a transposed
/// matrix.
template <class T>
constexpr bool is_transposed(const ElementwiseLoops<2>& loops) {
  const int last = loops.outer.rank - 1;
  return (sizeof(T) == 4 || sizeof(T) == 2) && last >= 0 && loops.run_strides[0] == 1 && loops.run_strides[1] != 1 &&
         loops.strides[1][std::size_t(last)] == 1 && loops.run >= float_width && loops.outer[last] >= float_width;
}

/// Copies `from` to `to`, broadcast to its shape; of one dtype.
template <class To, class From>
inline void copy_elements(To to, From from) {
  static_assert(To::spec.dtype == From::spec.dtype);
  static constexpr auto loops = elementwise_loops<2>({To::spec, From::spec});
  // A single element is copied onto itself sooner than addresses are compared.
  if constexpr (To::shape == From::shape && To::spec.strides == From::spec.strides && To::shape.nelms() > 1)
    if (to.data == from.data) return;
  if constexpr (is_transposed<typename To::element>(loops)) {
    constexpr int last = loops.outer.rank - 1;
    static constexpr Shape matrices = [] {
      Shape result = loops.outer;
      result.extents[--result.rank] = 0;
      return result;
    }();
    return for_each_offset<2>(matrices, loops.strides, [&](const auto& at) {
      copy_transposed<loops.outer[last], loops.run>(to.data + at[0], loops.strides[0][std::size_t(last)], from.data + at[1],
                                                    loops.run_strides[1]);
    });
  }
  for_each_offset<2>(loops.outer, loops.strides, [&](const auto& at) {
    auto* const target = to.data + at[0];
    const auto* const source = from.data + at[1];
    if constexpr (loops.run == 1) *target = *source;
    else if constexpr (loops.run_strides[0] == 1 && loops.run_strides[1] == 1) copy_run<loops.run>(target, source);
    else if constexpr (loops.run_strides[0] == 1 && loops.run_strides[1] == 0) std::fill_n(target, loops.run, *source);
    else
      for (std::int64_t k = 0; k < loops.run; ++k) target[k * loops.run_strides[0]] = source[k * loops.run_strides[1]];
  });
}

/// Sets all elements to 0.
template <class To>
inline void fill_zero(To to) {
  static constexpr auto loops = elementwise_loops<1>({To::spec});
  for_each_offset<1>(loops.outer, loops.strides, [&](const auto& at) {
    auto* const target = to.data + at[0];
    if constexpr (loops.run_strides[0] == 1)
      std::memset(static_cast<void*>(target), 0, static_cast<std::size_t>(loops.run) * sizeof(*target));
    else
      for (std::int64_t k = 0; k < loops.run; ++k) target[k * loops.run_strides[0]] = typename To::element(0);
  });
}

}  // namespace tilewright::kernel
