#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/dtype.hpp"
#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/matmul/epilogue.hpp"
#include "tilewright/kernel/vector/half.hpp"
#include "tilewright/operand/matmul_shape.hpp"

// Sums of float16, as an IPU's unit for products adds them. Graphcore's white paper on AI-Float (docs.graphcore.ai) says that
// partial sums of float16 are expanded to float32, added to, and rounded back before they are stored: here to nearest, ties to
// even, the mode that the paper names beside stochastic rounding. The unit adds 16 products of float16 between a load and a store
// of a partial sum (target/amp.hpp). The order of these 16 additions is not published: here they follow each other in float32.

namespace tilewright::kernel {

/// Number of products that are added in float32 between two roundings of a partial sum to float16.
inline constexpr std::int64_t terms_of_rounded_sum = 16;

/// One sum of float16: `add` each product, then `close`. An empty group of terms changes nothing.
class RoundedSum {
 public:
  void add(float product) {
    terms_ += product;
    if (++count_ == terms_of_rounded_sum) close();
  }
  /// Ends a group of terms before it is full.
  void close() {
    sum_ = rounded_to<element_t<float16>>(sum_ + terms_);
    terms_ = 0, count_ = 0;
  }
  float sum() const { return sum_; }

 private:
  float sum_ = 0, terms_ = 0;
  std::int64_t count_ = 0;
};

/// Rows and columns of the block whose partial sums are on the stack.
inline constexpr std::int64_t rounded_rows = 32, rounded_columns = 2 * float_width;
/// Bytes of the stack: the partial sums, and the terms of a, for `rounded_rows`; the terms of b.
inline constexpr std::int64_t rounded_stack_bytes = 4 * (rounded_rows * (rounded_columns + terms_of_rounded_sum) +
                                                         terms_of_rounded_sum * rounded_columns) +
                                                    2 * static_cast<std::int64_t>(line_bytes);

/// Computes the product of matrices of float16 with sums of float16. Calls the epilogue as matmul_kernel does.
template <MatMulShape s>
struct RoundedProduct {
  template <class A, class B, class Epilogue>
  static void compute(const A* a, const B* b, const Epilogue& epilogue) {
    constexpr std::int64_t rest = s.n % rounded_columns;
    for (std::int64_t j = 0; j < s.n - rest; j += rounded_columns) compute_columns<rounded_columns>(a, b, j, epilogue);
    if constexpr (rest > 0) compute_columns<rest>(a, b, s.n - rest, epilogue);
  }

 private:
  template <std::int64_t columns, class A, class B, class Epilogue>
  static void compute_columns(const A* a, const B* b, std::int64_t j, const Epilogue& epilogue) {
    alignas(line_bytes) float sums[rounded_rows][rounded_columns];
    for (std::int64_t i = 0; i < s.m; i += rounded_rows) {
      const std::int64_t rows = (std::min)(rounded_rows, s.m - i);
      std::fill_n(&sums[0][0], rounded_rows * rounded_columns, 0.f);
      for (std::int64_t k = 0; k < s.k; k += terms_of_rounded_sum)
        add_terms<columns>(a + i * s.a_m + k * s.a_k, b + k * s.b_k + j * s.b_n, (std::min)(terms_of_rounded_sum, s.k - k), rows,
                           sums);
      for (std::int64_t row = 0; row < rows; ++row) finish_row<columns>(sums[row], i + row, j, epilogue);
    }
  }
  /// Adds a group of terms to the sums of a block, and rounds them.
  template <std::int64_t columns, class A, class B>
  [[gnu::noinline]] static void add_terms(const A* a, const B* b, std::int64_t terms, std::int64_t rows,
                                          float (&sums)[rounded_rows][rounded_columns]) {
    alignas(line_bytes) float a_terms[rounded_rows][terms_of_rounded_sum] = {};
    alignas(line_bytes) float b_terms[terms_of_rounded_sum][rounded_columns] = {};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < terms; ++k) a_terms[i][k] = static_cast<float>(a[i * s.a_m + k * s.a_k]);
    for (std::int64_t k = 0; k < terms; ++k)
      for (std::int64_t j = 0; j < columns; ++j) b_terms[k][j] = static_cast<float>(b[k * s.b_k + j * s.b_n]);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; j += float_width) {
        FloatBatch sum(0.f);
        for (std::int64_t k = 0; k < terms_of_rounded_sum; ++k)
          sum = math::fma(FloatBatch(a_terms[i][k]), FloatBatch::load_aligned(b_terms[k] + j), sum);
        rounded_to<element_t<float16>>(FloatBatch::load_aligned(sums[i] + j) + sum).store_aligned(sums[i] + j);
      }
  }
};

}  // namespace tilewright::kernel
