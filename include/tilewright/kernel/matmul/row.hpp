#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/matmul/epilogue.hpp"
#include "tilewright/kernel/reduce/long_sums.hpp"
#include "tilewright/operand/matmul_shape.hpp"

namespace tilewright::kernel {

// Products of one row with a matrix use each element of the matrix once. If no cache holds the matrix, they take the time that
// reading it takes, which is shortest in the order of memory: a processor then fetches ahead by itself. (On AMD Zen 4 two rows at
// a time, or fetching by instructions at other distances than row_fetch_bytes, give half to nine tenths of the rate.)

/// Smallest number of elements of a matrix that is assumed to be in no cache faster than the third level.
inline constexpr std::int64_t least_streamed_elements = 64 * 1024;
/// Number of columns whose sums are on the stack at a time: 16 KB, half of a first-level cache.
inline constexpr std::int64_t row_sums_floats = 4 * 1024;
/// Bytes of the matrix that are read before sums are written. With half and with twice this number, kernels were up to a third
/// slower.
inline constexpr std::int64_t row_step_bytes = 256;
/// Bytes of the matrix between the reads and the prefetch instructions: less than a page of 4 KB. (Measured for the generation of
/// a text in float16. On an Intel Xeon, this distance is 1.3 times as fast as 4 KB. On AMD Zen 5, 4 KB was 7 % faster than no
/// prefetching, and 1 KB was 2 % slower than 4 KB. This distance was not measured on Zen 4 and Zen 5.)
inline constexpr std::int64_t row_fetch_bytes = 3072;
/// Vectors of a dot product in a step, and its accumulators: enough to hide the latency of an addition.
inline constexpr std::int64_t dot_vectors = 16, dot_sums = 4;

/// Returns whether b is read row by row: it is contiguous along n, and has more columns than sums in registers.
constexpr bool streams_rows(const MatMulShape& s) {
  return s.m == 1 && s.b_n == 1 && s.n > 8 * float_width && s.n * s.k >= least_streamed_elements;
}
/// Returns whether columns of b, which is contiguous along k, are read one by one. For half precision there is no other kernel
/// that does not transpose b.
constexpr bool streams_columns(const MatMulShape& s) {
  return s.m == 1 && s.b_k == 1 && s.b_n != 1 && s.a_k == 1 && s.k >= 2 * float_width && s.k <= row_sums_floats &&
         (s.half_a || s.half_b || s.n * s.k >= least_streamed_elements);
}

/// Returns the floats of the sums of a strip of columns.
constexpr std::int64_t row_sums_size(std::int64_t columns) { return round_up(columns, float_width); }
/// Returns the floats of the totals of long sums and of their rounding errors.
constexpr std::int64_t row_totals_size(const MatMulShape& s, std::int64_t columns) {
  return is_long_product(s.k) ? 2 * row_sums_size(columns) : 1;
}
/// Returns the floats of a row of half precision that is converted.
constexpr std::int64_t converted_row_size(const MatMulShape& s) { return s.half_a ? s.k : 1; }
/// Return the bytes of these arrays, which are on the stack: of stream_rows and of stream_columns.
constexpr std::int64_t rows_stack_bytes(const MatMulShape& s) {
  const std::int64_t columns = (std::min)(s.n, row_sums_floats);
  return (row_sums_size(columns) + row_totals_size(s, columns)) * static_cast<std::int64_t>(sizeof(float)) +
         static_cast<std::int64_t>(line_bytes);
}
constexpr std::int64_t columns_stack_bytes(const MatMulShape& s) {
  return converted_row_size(s) * static_cast<std::int64_t>(sizeof(float));
}

/// Hides a value from the compiler, which otherwise would read two rows at a time, or all of a group before it writes.
template <class T>
[[gnu::always_inline]] inline T in_order(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Adds `count` sums to `totals`, after which the rounding errors are, and resets the sums.
template <std::int64_t count>
inline void add_part(float* sums, float* totals) {
  for (std::int64_t i = 0; i < count; i += float_width) {
    LongSums::add(FloatBatch::load_aligned(sums + i), totals + i, count);
    FloatBatch(0.f).store_aligned(sums + i);
  }
}

/// Sums `columns` columns from j on: each row of b, times its element of a, is added to sums in a first-level cache. Not inlined,
/// because the loop is up to a sixth slower inside a longer function.
template <MatMulShape s, std::int64_t columns, class A, class B, class Epilogue>
[[gnu::noinline]] inline void stream_rows_of_strip(const A* a, const B* b, std::int64_t j, const Epilogue& epilogue) {
  constexpr auto element_bytes = static_cast<std::int64_t>(sizeof(B));
  constexpr std::int64_t group = row_step_bytes / element_bytes / float_width * float_width;
  constexpr std::int64_t whole = columns / float_width * float_width, in_groups = whole / group * group;
  constexpr std::int64_t floats = row_sums_size(columns);
  constexpr bool long_sums = is_long_product(s.k);
  alignas(line_bytes) float sums[std::size_t(floats)] = {};
  alignas(line_bytes) [[maybe_unused]] float totals[std::size_t(row_totals_size(s, columns))] = {};  // and their rests
  for (std::int64_t k = 0; k < s.k; ++k) {
    if constexpr (long_sums)
      if (k % terms_of_product == 0) add_part<floats>(sums, totals);
    const FloatBatch element(static_cast<float>(a[k * s.a_k]));
    const B* row = in_order(b + k * s.b_k + j);
    float* sum = sums;
    const auto add = [&]<std::int64_t count>(std::integral_constant<std::int64_t, count>, const B* from)
                         __attribute__((always_inline)) {
                           math::fma(element, load_first<count>(from), FloatBatch::load_aligned(sum)).store_aligned(sum);
                           sum += float_width;
                         };
    constexpr std::integral_constant<std::int64_t, float_width> all;
#pragma GCC unroll 1
    for (std::int64_t i = 0; i < in_groups; i += group) {
      i = in_order(i), sum = in_order(sum);  // addresses of a fixed row and an index: up to a fifth faster than a moving pointer
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < group; v += line_bytes / element_bytes)
        __builtin_prefetch(row + i + v + row_fetch_bytes / element_bytes);
#pragma GCC unroll 64
      for (std::int64_t v = 0; v < group; v += float_width) add(all, row + i + v);
    }
#pragma GCC unroll 64
    for (std::int64_t i = in_groups; i < whole; i += float_width) add(all, row + i);
    if constexpr (whole < columns) add(std::integral_constant<std::int64_t, columns - whole>{}, row + whole);
  }
  if constexpr (long_sums) {
    add_part<floats>(sums, totals);
    LongSums::finish(totals, floats, floats);
    finish_row<columns>(totals, 0, j, epilogue);
  } else {
    finish_row<columns>(sums, 0, j, epilogue);
  }
}
template <MatMulShape s, class A, class B, class Epilogue>
inline void stream_rows(const A* a, const B* b, const Epilogue& epilogue) {
  constexpr std::int64_t strip = (std::min)(s.n, row_sums_floats), rest = s.n % strip;
  std::int64_t j = 0;
  for (; j + strip <= s.n; j += strip) stream_rows_of_strip<s, strip>(a, b, j, epilogue);
  if constexpr (rest > 0) stream_rows_of_strip<s, rest>(a, b, j, epilogue);
}

/// Returns the products of a and a column of b, whose sum over all lanes is their dot product.
template <MatMulShape s, class B>
[[gnu::always_inline]] inline FloatBatch column_products(const float* a, const B* column) {
  constexpr std::int64_t step = dot_vectors * float_width, whole = s.k / float_width * float_width,
                         in_steps = whole / step * step;
  FloatBatch sums[std::size_t(dot_sums)];
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < dot_sums; ++i) sums[i] = FloatBatch(0.f);
  const auto add = [&]<std::int64_t count>(std::integral_constant<std::int64_t, count>, std::int64_t k, FloatBatch& sum)
                       __attribute__((always_inline)) {
                         sum = math::fma(load_first<count>(a + k), load_first<count>(column + k), sum);
                         asm volatile("" ::: "memory");  // loads stay in this order
                       };
  constexpr std::integral_constant<std::int64_t, float_width> all;
#pragma GCC unroll 1
  for (std::int64_t k = 0; k < in_steps; k += step) {
    k = in_order(k);
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < dot_vectors; ++v) add(all, k + v * float_width, sums[v % dot_sums]);
  }
#pragma GCC unroll 16
  for (std::int64_t v = 0; v < (whole - in_steps) / float_width; ++v) add(all, in_steps + v * float_width, sums[v % dot_sums]);
  if constexpr (whole < s.k) add(std::integral_constant<std::int64_t, s.k - whole>{}, whole, sums[0]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
template <MatMulShape s, class A, class B, class Epilogue>
inline void stream_columns(const A* a, const B* b, const Epilogue& epilogue) {
  alignas(line_bytes) [[maybe_unused]] float converted[std::size_t(converted_row_size(s))];
  const float* row = nullptr;
  if constexpr (s.half_a) {
    for (std::int64_t k = 0; k < s.k; ++k) converted[k] = static_cast<float>(a[k]);
    row = converted;
  } else {
    row = a;
  }
  const auto dots = [&](std::int64_t j, std::int64_t count) __attribute__((always_inline)) {
    FloatBatch products[FloatBatch::size];
    for (std::int64_t i = 0; i < float_width; ++i)
      products[i] = i < count ? column_products<s>(in_order(row), in_order(b + (j + i) * s.b_n)) : FloatBatch(0.f);
    return sums_of(products);
  };
  constexpr std::int64_t rest = s.n % float_width;
  for (std::int64_t j = 0; j < s.n - rest; j += float_width) epilogue(0, j, dots(j, float_width));
  if constexpr (rest > 0) {
    alignas(line_bytes) float sums[float_width];
    dots(s.n - rest, rest).store_aligned(sums);
    finish_row<rest>(sums, 0, s.n - rest, epilogue);
  }
}

}  // namespace tilewright::kernel
