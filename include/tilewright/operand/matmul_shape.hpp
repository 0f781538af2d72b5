#pragma once
#include <cstdint>

namespace tilewright::kernel {

/// A matrix product of static extents c[m, n] = sum over k of a[m, k] b[k, n], with strides in elements.
struct MatMulShape {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t a_m = 0, a_k = 0, b_k = 0, b_n = 0, c_m = 0, c_n = 0;
  bool half_a = false, half_b = false;  ///< whether elements are of 16 bits, which are computed in float32
  bool float16_sums = false;  ///< whether sums are rounded to float16 as an IPU's unit rounds them
  constexpr bool operator==(const MatMulShape&) const = default;

  /// Returns the product that computes the transposed result: c^T = b^T a^T.
  constexpr MatMulShape transposed() const { return {n, m, k, b_n, b_k, a_k, a_m, c_n, c_m, half_b, half_a, float16_sums}; }
};

}  // namespace tilewright::kernel
