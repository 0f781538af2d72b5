#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tilewright/execute/library/rows.hpp"
#include "tilewright/kernel/copy/transpose.hpp"
#include "tilewright/operand/matmul_shape.hpp"
#include "tilewright/operand/pieces.hpp"

namespace tilewright::internal {

// Blocks of products: one form for all machines, not the best of each shape.

/// Rows and vectors of a block of sums in registers.
inline constexpr std::int64_t block_rows = kernel::float_width == 16 ? 8 : 4, block_vectors = 3;
inline constexpr std::int64_t strip_columns = block_vectors * kernel::float_width;
static_assert(library_columns % strip_columns == 0);
/// Rows whose sums are on the stack at a time, and terms: of a strip that is read in its place, and of one that is packed.
inline constexpr std::int64_t rows_together = 64, terms_together = 512, packed_terms = 128;
/// Rows from which on packing pays, and up to which columns are multiplied one by one.
inline constexpr std::int64_t least_packing_rows = 32, most_dot_rows = 16;

/// Adds the products of `terms` terms to a block of sums, or stores them.
template <std::int64_t rows, std::int64_t vectors>
void multiply_block(const float* a, std::int64_t a_m, std::int64_t a_k, const float* b, std::int64_t b_k, std::int64_t terms,
                    float* sums, bool adds) {
  using kernel::FloatBatch, kernel::float_width;
  FloatBatch sum[rows][vectors];
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 3
    for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = FloatBatch(0.f);
  for (std::int64_t k = 0; k < terms; ++k, a += a_k, b += b_k) {
    FloatBatch row[vectors];
#pragma GCC unroll 3
    for (std::int64_t v = 0; v < vectors; ++v) row[v] = FloatBatch::load_unaligned(b + v * float_width);
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < rows; ++i) {
      const FloatBatch element(a[i * a_m]);
#pragma GCC unroll 3
      for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = math::fma(element, row[v], sum[i][v]);
    }
  }
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 3
    for (std::int64_t v = 0; v < vectors; ++v) {
      float* const to = sums + i * library_columns + v * float_width;
      (adds ? FloatBatch::load_unaligned(to) + sum[i][v] : sum[i][v]).store_unaligned(to);
    }
}
/// Multiplies rows with a strip of columns of `vectors` vectors.
template <std::int64_t vectors, std::int64_t rows = block_rows>
void multiply_rows(const float* a, std::int64_t a_m, std::int64_t a_k, std::int64_t count, const float* b, std::int64_t b_k,
                   std::int64_t terms, float* sums, bool adds) {
  for (; count >= rows; count -= rows, a += rows * a_m, sums += rows * library_columns)
    multiply_block<rows, vectors>(a, a_m, a_k, b, b_k, terms, sums, adds);
  if constexpr (rows > 1) multiply_rows<vectors, rows / 2>(a, a_m, a_k, count, b, b_k, terms, sums, adds);
}

/// Returns the sum of products of contiguous elements.
template <std::int64_t columns>
void dot_columns(const float* a, const float* b, std::int64_t b_n, std::int64_t terms, float* sums) {
  using kernel::FloatBatch, kernel::float_width;
  FloatBatch sum[columns];
  for (std::int64_t j = 0; j < columns; ++j) sum[j] = FloatBatch(0.f);
  std::int64_t k = 0;
  for (; k + float_width <= terms; k += float_width) {
    const FloatBatch row = FloatBatch::load_unaligned(a + k);
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < columns; ++j) sum[j] = math::fma(row, FloatBatch::load_unaligned(b + j * b_n + k), sum[j]);
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    sums[j] = math::sum(sum[j]);
    for (std::int64_t rest = k; rest < terms; ++rest) sums[j] += a[rest] * b[j * b_n + rest];
  }
}

/// A product of matrices of T, whose extents are arguments.
template <class T>
class LibraryProduct {
 public:
  LibraryProduct(const kernel::MatMulShape& shape, const T* a, const T* b) : s_(shape), a_(a), b_(b) {}

  /// Calls end(row, column, count, sums) for all elements of some pieces.
  template <class End>
  void compute(const kernel::Pieces& pieces, const End& end) {
    const std::int64_t strips = (s_.n + strip_columns - 1) / strip_columns;
    const std::int64_t begin = pieces.begin(strips) * strip_columns, last = (std::min)(pieces.end(strips) * strip_columns, s_.n);
    for (std::int64_t i = 0; i < s_.m; i += rows_together)
      for (std::int64_t j = begin; j < last; j += library_columns) {
        const std::int64_t rows = (std::min)(rows_together, s_.m - i), columns = (std::min)(library_columns, last - j);
        if (multiplies_columns()) dot_block(i, rows, j, columns);
        else multiply_strips(i, rows, j, columns);
        for (std::int64_t row = 0; row < rows; ++row) end(i + row, j, columns, sums_ + row * library_columns);
      }
  }

 private:
  static constexpr bool are_floats = std::is_same_v<T, float>;

  bool multiplies_columns() const {
    return are_floats && s_.m <= most_dot_rows && s_.a_k == 1 && s_.b_k == 1 && s_.b_n != 1 && s_.k >= 2 * kernel::float_width;
  }
  void dot_block(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t columns) {
    if constexpr (are_floats)
      for (std::int64_t column = 0; column < columns;) {
        const bool is_group = column + 8 <= columns;
        for (std::int64_t row = 0; row < rows; ++row) {
          const float* const b = b_ + (j + column) * s_.b_n;
          float* const sums = sums_ + row * library_columns + column;
          if (is_group) dot_columns<8>(a_ + (i + row) * s_.a_m, b, s_.b_n, s_.k, sums);
          else dot_columns<1>(a_ + (i + row) * s_.a_m, b, s_.b_n, s_.k, sums);
        }
        column += is_group ? 8 : 1;
      }
  }
  void multiply_strips(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t columns) {
    const bool packs = !are_floats || s_.b_n != 1 || s_.m >= least_packing_rows;
    const std::int64_t most_terms = packs || !are_floats ? packed_terms : terms_together;
    if (s_.k == 0) std::fill_n(sums_, rows * library_columns, 0.f);
    for (std::int64_t k = 0; k < s_.k; k += most_terms) {
      const std::int64_t terms = (std::min)(most_terms, s_.k - k);
      const T* a = a_ + i * s_.a_m + k * s_.a_k;
      if constexpr (are_floats) multiply_panels(a, s_.a_m, s_.a_k, rows, j, columns, k, terms, packs);
      else multiply_panels(converted(a, rows, terms), terms, 1, rows, j, columns, k, terms, packs);
    }
  }
  void multiply_panels(const float* a, std::int64_t a_m, std::int64_t a_k, std::int64_t rows, std::int64_t j, std::int64_t columns,
                       std::int64_t k, std::int64_t terms, bool packs) {
    for (std::int64_t strip = 0; strip < columns; strip += strip_columns) {
      const std::int64_t count = (std::min)(strip_columns, columns - strip);
      const std::int64_t vectors = (count + kernel::float_width - 1) / kernel::float_width, width = vectors * kernel::float_width;
      const T* const from = b_ + k * s_.b_k + (j + strip) * s_.b_n;
      const float* b = nullptr;
      std::int64_t b_k = width;
      if constexpr (are_floats)
        if (!packs && count == width) b = from, b_k = s_.b_k;
      if (b == nullptr) pack(from, terms, count, width), b = panel_;
      float* const sums = sums_ + strip;
      if (vectors == 3) multiply_rows<3>(a, a_m, a_k, rows, b, b_k, terms, sums, k > 0);
      else if (vectors == 2) multiply_rows<2>(a, a_m, a_k, rows, b, b_k, terms, sums, k > 0);
      else multiply_rows<1>(a, a_m, a_k, rows, b, b_k, terms, sums, k > 0);
    }
  }
  const float* converted(const T* a, std::int64_t rows, std::int64_t terms) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < terms; ++k) a_panel_[i * terms + k] = static_cast<float>(a[i * s_.a_m + k * s_.a_k]);
    return a_panel_;
  }
  /// Copies terms of some columns of b to the panel, with zeros after them.
  void pack(const T* from, std::int64_t terms, std::int64_t count, std::int64_t width) {
    using kernel::FloatBatch, kernel::float_width;
    if constexpr (are_floats) {
      if (s_.b_k == 1 && count == width) {
        const std::int64_t whole = terms / float_width * float_width;
        for (std::int64_t j = 0; j < count; j += float_width)
          for (std::int64_t k = 0; k < whole; k += float_width)
            kernel::copy_transposed<float_width, float_width>(panel_ + k * width + j, width, from + j * s_.b_n + k, s_.b_n);
        for (std::int64_t k = whole; k < terms; ++k)
          for (std::int64_t j = 0; j < count; ++j) panel_[k * width + j] = from[j * s_.b_n + k];
        return;
      }
    }
    for (std::int64_t k = 0; k < terms; ++k) {
      float* const to = panel_ + k * width;
      if (s_.b_n == 1)
        for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<float>(from[k * s_.b_k + j]);
      else
        for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<float>(from[k * s_.b_k + j * s_.b_n]);
      std::fill(to + count, to + width, 0.f);
    }
  }

  kernel::MatMulShape s_;
  const T *a_, *b_;
  alignas(kernel::line_bytes) float sums_[rows_together * library_columns];
  alignas(kernel::line_bytes) float panel_[terms_together * strip_columns];
  alignas(kernel::line_bytes) float a_panel_[are_floats ? 1 : rows_together * packed_terms];
};

/// Returns the strides of an operand along the leading axes of a product's result; 0 where it is broadcast.
inline RowOperand along_matrices(const ViewSpec& view, const Shape& result) {
  RowOperand strides;
  for (int axis = 3; axis <= result.rank; ++axis)
    strides.rows[static_cast<std::size_t>(result.rank - axis)] = broadcast_stride(view, -axis);
  return strides;
}

/// Computes the products of a vertex.
inline void run_product(const LibraryCall& call, std::byte* const* locations, std::byte* scratch, RowEnd& end,
                        const kernel::Pieces& pieces) {
  const ViewSpec &a = call.operands[0].view, &b = call.operands[1].view, &c = call.operands[2].view;
  kernel::MatMulShape s{.m = c.shape[-2],
                        .n = c.shape[-1],
                        .k = a.shape[-1],
                        .a_m = a.stride(-2),
                        .a_k = a.stride(-1),
                        .b_k = b.stride(-2),
                        .b_n = b.stride(-1)};
  if (s.n == 1) s.b_n = s.b_k == 1 ? s.k : 1;
  Shape batch;
  for (int axis = 0; axis < c.shape.rank - 2; ++axis) batch.push_back(c.shape[axis]);
  std::int64_t matrices = batch.nelms();
  if (b.shape.nelms() == b.shape[-1] * b.shape[-2] && rows_are_one_matrix(a, c.shape)) s.m *= matrices, matrices = 1;
  const RowOperand of_a = along_matrices(a, c.shape), of_b = along_matrices(b, c.shape);
  const bool is_one = matrices == 1;
  const std::int64_t begin = is_one ? 0 : pieces.begin(matrices), last = is_one ? 1 : pieces.end(matrices);
  with_float_type(a.dtype, [&]<class T>(T*) {
    const auto* const from_a = reinterpret_cast<const T*>(call.address(0).base(locations, scratch));
    const auto* const from_b = reinterpret_cast<const T*>(call.address(1).base(locations, scratch));
    for (std::int64_t number = begin; number < last; ++number) {
      LibraryProduct<T> product(s, from_a + of_a.offset_of_row(batch, number), from_b + of_b.offset_of_row(batch, number));
      product.compute(
          is_one ? pieces : kernel::Pieces{},
          [&](std::int64_t i, std::int64_t j, std::int64_t count, float* sums) { end(number * s.m + i, j, count, sums); });
    }
  });
}

}  // namespace tilewright::internal
