#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tilewright/execute/library/rows.hpp"
#include "tilewright/kernel/matmul/vectors.hpp"
#include "tilewright/operand/matmul_shape.hpp"
#include "tilewright/operand/pieces.hpp"
#include "tilewright/operand/sum_lengths.hpp"
#include "tilewright/ops/elementwise/scaled_add.hpp"

namespace tilewright::internal {

// Blocks of products: one form for all machines, not the best of each shape.

/// Rows and vectors of a block of sums in registers.
inline constexpr std::int64_t block_rows = kernel::float_width == 16 ? 8 : 4, block_vectors = 3;
inline constexpr std::int64_t strip_columns = block_vectors * kernel::float_width;
/// Rows whose sums are on the stack at a time, and terms: of a strip that is read in its place, and of one that is packed.
inline constexpr std::int64_t rows_together = 64, terms_together = 512, packed_terms = 128;
/// Rows of b between the reads and the prefetch instructions.
inline constexpr std::int64_t rows_ahead = 12;
/// Rows from which on packing pays, and up to which columns are multiplied one by one.
inline constexpr std::int64_t least_packing_rows = 32, most_dot_rows = 16;

/// Where a product stores sums, or what it adds them to.
struct SumsAt {
  float* to = nullptr;
  std::int64_t row = library_columns;  ///< floats between neighbours in a column
  bool adds = false;  ///< whether they become keep * what is there + factor * sum; otherwise sums are stored
  float keep = 1, factor = 1;
};

/// Sums the products of `terms` terms, for a block of the result.
template <std::int64_t rows, std::int64_t vectors>
void multiply_block(const float* a, std::int64_t a_m, std::int64_t a_k, const float* b, std::int64_t b_k, std::int64_t terms,
                    const SumsAt& sums) {
  using kernel::FloatBatch, kernel::float_width;
  FloatBatch sum[rows][vectors];
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 3
    for (std::int64_t v = 0; v < vectors; ++v) sum[i][v] = FloatBatch(0.f);
  for (std::int64_t k = 0; k < terms; ++k, a += a_k, b += b_k) {
    FloatBatch row[vectors];
#pragma GCC unroll 3
    for (std::int64_t v = 0; v < vectors; ++v) {
      row[v] = FloatBatch::load_unaligned(b + v * float_width);
      __builtin_prefetch(b + rows_ahead * b_k + v * float_width);
    }
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
      float* const to = sums.to + i * sums.row + v * float_width;
      if (sums.adds)
        sum[i][v] = math::fma(FloatBatch(sums.factor), sum[i][v], FloatBatch(sums.keep) * FloatBatch::load_unaligned(to));
      sum[i][v].store_unaligned(to);
    }
}
/// Multiplies rows with a strip of columns of `vectors` vectors.
template <std::int64_t vectors, std::int64_t rows = block_rows>
void multiply_rows(const float* a, std::int64_t a_m, std::int64_t a_k, std::int64_t count, const float* b, std::int64_t b_k,
                   std::int64_t terms, SumsAt sums) {
  for (; count >= rows; count -= rows, a += rows * a_m, sums.to += rows * sums.row)
    multiply_block<rows, vectors>(a, a_m, a_k, b, b_k, terms, sums);
  if constexpr (rows > 1) multiply_rows<vectors, rows / 2>(a, a_m, a_k, count, b, b_k, terms, sums);
}

/// Sums products of contiguous terms, for some rows of a and some columns of b.
template <std::int64_t rows, std::int64_t columns>
void dot_block(const float* a, std::int64_t a_m, const float* b, std::int64_t b_n, std::int64_t terms, float* sums) {
  using kernel::FloatBatch, kernel::float_width;
  FloatBatch sum[rows * columns];
#pragma GCC unroll 16
  for (std::int64_t s = 0; s < rows * columns; ++s) sum[s] = FloatBatch(0.f);
  std::int64_t k = 0;
  for (; k + float_width <= terms; k += float_width) {
    FloatBatch column[columns];
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < columns; ++j) column[j] = FloatBatch::load_unaligned(b + j * b_n + k);
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < rows; ++i) {
      const FloatBatch row = FloatBatch::load_unaligned(a + i * a_m + k);
#pragma GCC unroll 4
      for (std::int64_t j = 0; j < columns; ++j) sum[i * columns + j] = math::fma(row, column[j], sum[i * columns + j]);
    }
  }
  alignas(kernel::line_bytes) float totals[rows * columns];
  if constexpr (rows * columns % float_width == 0)
    for (std::int64_t s = 0; s < rows * columns; s += float_width) {
      FloatBatch group[FloatBatch::size];
      std::copy_n(sum + s, float_width, group);
      kernel::sums_of(group).store_aligned(totals + s);
    }
  else
    for (std::int64_t s = 0; s < rows * columns; ++s) totals[s] = math::sum(sum[s]);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      float& total = sums[i * library_columns + j] = totals[i * columns + j];
      for (std::int64_t rest = k; rest < terms; ++rest) total += a[i * a_m + rest] * b[j * b_n + rest];
    }
}

/// A product of matrices of T, whose extents are arguments.
template <class T>
class LibraryProduct {
 public:
  LibraryProduct(const kernel::MatMulShape& shape, const T* a, const T* b) : s_(shape), a_(a), b_(b) {}

  /// Calls end(row, column, count, sums) for all elements of some pieces. With `update`, a matrix that sums are added to, adds
  /// them there in place of that, if it can; `end` gives the same.
  template <class End>
  void compute(const kernel::Pieces& pieces, const SumsAt* update, const End& end) {
    if (!are_floats || s_.k > most_terms() || s_.n % kernel::float_width != 0 || multiplies_columns()) update = nullptr;
    const std::int64_t together = packs() ? rows_together : block_rows;
    const std::int64_t strips = (s_.n + strip_columns - 1) / strip_columns;
    const std::int64_t begin = pieces.begin(strips) * strip_columns, last = (std::min)(pieces.end(strips) * strip_columns, s_.n);
    for (std::int64_t i = 0; i < s_.m; i += together)
      for (std::int64_t j = begin; j < last; j += library_columns) {
        const std::int64_t rows = (std::min)(together, s_.m - i), columns = (std::min)(library_columns, last - j);
        if (update != nullptr) {
          SumsAt block = *update;
          block.to += i * block.row + j;
          multiply_strips(i, rows, j, columns, block, end);
          continue;
        }
        if (multiplies_columns()) multiply_columns(i, rows, j, columns);
        else multiply_strips(i, rows, j, columns, {.to = sums_}, end);
        for (std::int64_t row = 0; row < rows; ++row) end(i + row, j, columns, sums_ + row * library_columns);
      }
  }

 private:
  static constexpr bool are_floats = std::is_same_v<T, float>;

  bool packs() const { return !are_floats || s_.b_n != 1 || (s_.m >= least_packing_rows && s_.k > kernel::short_sum); }
  std::int64_t most_terms() const { return packs() ? packed_terms : terms_together; }
  bool multiplies_columns() const {
    return are_floats && s_.m <= most_dot_rows && s_.a_k == 1 && s_.b_k == 1 && s_.b_n != 1 && s_.k >= 2 * kernel::float_width;
  }
  void multiply_columns(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t columns) {
    const auto block = [&]<std::int64_t of_rows, std::int64_t of_columns>(std::int64_t row, std::int64_t column) {
      if constexpr (are_floats)
        dot_block<of_rows, of_columns>(a_ + (i + row) * s_.a_m, s_.a_m, b_ + (j + column) * s_.b_n, s_.b_n, s_.k,
                                       sums_ + row * library_columns + column);
    };
    const std::int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
    for (std::int64_t column = 0; column < columns; column += column < whole_columns ? 4 : 1)
      for (std::int64_t row = 0; row < rows; row += row < whole_rows ? 4 : 1)
        if (column >= whole_columns)
          row < whole_rows ? block.template operator()<4, 1>(row, column) : block.template operator()<1, 1>(row, column);
        else row < whole_rows ? block.template operator()<4, 4>(row, column) : block.template operator()<1, 4>(row, column);
  }
  template <class End>
  void multiply_strips(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t columns, SumsAt sums, const End& end) {
    if (s_.k == 0) std::fill_n(sums_, rows * library_columns, 0.f);
    for (std::int64_t k = 0; k < s_.k; k += most_terms(), sums.adds = true) {
      const std::int64_t terms = (std::min)(most_terms(), s_.k - k);
      const T* a = a_ + i * s_.a_m + k * s_.a_k;
      const auto prefetch = [&](std::int64_t strip, std::int64_t count) {
        if (k + terms == s_.k) end.prefetch(i, rows, j + strip, count);
      };
      if constexpr (are_floats) multiply_panels(a, s_.a_m, s_.a_k, rows, j, columns, k, terms, sums, prefetch);
      else multiply_panels(converted(a, rows, terms), terms, 1, rows, j, columns, k, terms, sums, prefetch);
    }
  }
  /// Calls prefetch(column, count) before each strip.
  template <class Prefetch>
  void multiply_panels(const float* a, std::int64_t a_m, std::int64_t a_k, std::int64_t rows, std::int64_t j,
                       std::int64_t columns, std::int64_t k, std::int64_t terms, SumsAt sums, const Prefetch& prefetch) {
    for (std::int64_t strip = 0; strip < columns; strip += strip_columns) {
      const std::int64_t count = (std::min)(strip_columns, columns - strip);
      const std::int64_t vectors = (count + kernel::float_width - 1) / kernel::float_width, width = vectors * kernel::float_width;
      prefetch(strip, count);
      const T* const from = b_ + k * s_.b_k + (j + strip) * s_.b_n;
      const float* b = nullptr;
      std::int64_t b_k = width;
      if constexpr (are_floats)
        if (!packs() && count == width) b = from, b_k = s_.b_k;
      if (b == nullptr) pack(from, terms, count, width), b = panel_;
      if (vectors == 3) multiply_rows<3>(a, a_m, a_k, rows, b, b_k, terms, sums);
      else if (vectors == 2) multiply_rows<2>(a, a_m, a_k, rows, b, b_k, terms, sums);
      else multiply_rows<1>(a, a_m, a_k, rows, b, b_k, terms, sums);
      sums.to += count;
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

/// Finishes the rows of one of several products. `first`: the number of its first row among all.
template <class End>
struct RowsOfMatrix {
  End& end;
  std::int64_t first;
  void operator()(std::int64_t i, std::int64_t j, std::int64_t count, float* sums) const { end(first + i, j, count, sums); }
  void prefetch(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t count) const {
    for (std::int64_t row = i; row < i + rows; ++row) end.prefetch(first + row, j, count);
  }
};

/// Computes the products of a vertex. (A template: sources that do not call it do not compile it.)
template <class End>
void run_product(const LibraryCall& call, std::byte* const* locations, std::byte* scratch, End& end,
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
  SumsAt update{.adds = true};
  if (call.updates) {
    const auto factors = unpack<ScaledAddLhsInplace::Attributes>(*call.formulas[0].attributes);
    const RowOperand& to = call.formulas[0].operands[0];
    update.to = reinterpret_cast<float*>(to.base(locations, scratch));
    update.row = to.rows[0] / size_of(float32);
    update.keep = static_cast<float>(factors.a), update.factor = static_cast<float>(factors.b);
  }
  with_float_type(a.dtype, [&]<class T>(T*) {
    static_assert(sizeof(LibraryProduct<T>) + sizeof(End) + 16 * 1024 <= library_stack_bytes);
    const auto* const from_a = reinterpret_cast<const T*>(call.address(0).base(locations, scratch));
    const auto* const from_b = reinterpret_cast<const T*>(call.address(1).base(locations, scratch));
    for (std::int64_t number = begin; number < last; ++number) {
      LibraryProduct<T> product(s, from_a + of_a.offset_of_row(batch, number), from_b + of_b.offset_of_row(batch, number));
      product.compute(is_one ? pieces : kernel::Pieces{}, call.updates ? &update : nullptr, RowsOfMatrix<End>{end, number * s.m});
    }
  });
}

}  // namespace tilewright::internal
