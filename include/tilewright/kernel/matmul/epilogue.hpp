#pragma once
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/matmul/vectors.hpp"

namespace tilewright::kernel {

/// Calls epilogue(i, j, x) for `n` finished sums of row i from column j on: full vectors, then narrower ones, then floats.
template <std::int64_t n, std::int64_t width = float_width, class Epilogue>
inline void finish_row(const float* sums, std::int64_t i, std::int64_t j, const Epilogue& epilogue) {
  if constexpr (n > 0 && width >= 4) {
    using Batch = simd::make_sized_batch_t<float, static_cast<std::size_t>(width)>;
    constexpr std::int64_t end = n / width * width;
    for (std::int64_t column = 0; column < end; column += width) epilogue(i, j + column, Batch::load_unaligned(sums + column));
    finish_row<n - end, width / 2>(sums + end, i, j + end, epilogue);
  } else {
    for (std::int64_t column = 0; column < n; ++column) epilogue(i, j + column, sums[column]);
  }
}

/// Calls f(e, element) for the elements of a batch, or for a scalar, which is element 0.
template <class X, class F>
inline void for_each_element(const X& x, const F& f) {
  if constexpr (requires { x.store_unaligned(static_cast<float*>(nullptr)); }) {
    float elements[X::size];
    x.store_unaligned(elements);
    for (std::size_t e = 0; e < X::size; ++e) f(static_cast<std::int64_t>(e), elements[e]);
  } else {
    f(0, x);
  }
}

/// Whether an epilogue does so little with a vector that a kernel calls it for each register. Others get vectors from the stack,
/// in a loop, so their code is there once.
template <class Epilogue>
inline constexpr bool takes_registers = requires { requires Epilogue::takes_registers; };

/// The epilogue that stores to memory with strides c_m and c_n.
template <std::int64_t c_m, std::int64_t c_n, class C>
struct StoreSums {
  static constexpr bool takes_registers = c_n == 1 && std::is_same_v<C, float>;
  C* c;
  template <class X>
  void operator()(std::int64_t i, std::int64_t j, const X& x) const {
    if constexpr (FloatBatchLike<X> && c_n == 1 && (std::is_same_v<C, float> || is_half_type<C>))
      store_floats(c + i * c_m + j, x);
    else for_each_element(x, [&](std::int64_t e, auto element) { c[i * c_m + (j + e) * c_n] = static_cast<C>(element); });
  }
  void prefetch(std::int64_t i, std::int64_t j) const
    requires(c_n == 1)
  {
    __builtin_prefetch(c + i * c_m + j, 1);
  }
};

/// The epilogue of a transposed product. The vectors of this product run along the columns of c, so the epilogue stores single
/// elements.
template <class Epilogue>
struct TransposedEpilogue {
  const Epilogue& epilogue;
  template <class X>
  void operator()(std::int64_t j, std::int64_t i, const X& x) const {
    for_each_element(x, [&](std::int64_t e, float element) { epilogue(i + e, j, element); });
  }
};

}  // namespace tilewright::kernel
