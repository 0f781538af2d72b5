#pragma once
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/matmul/doubles.hpp"
#include "tilewright/kernel/matmul/epilogue.hpp"
#include "tilewright/kernel/matmul/inner.hpp"
#include "tilewright/kernel/matmul/outer.hpp"
#include "tilewright/kernel/matmul/rounded_sums.hpp"
#include "tilewright/kernel/matmul/row.hpp"
#include "tilewright/kernel/reduce/long_sums.hpp"
#include "tilewright/operand/matmul_shape.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

enum class MatMulKernel {
  loop,
  inner,
  outer,
  outer_transposed,
  row_by_row,
  column_by_column,
  rounded,
  doubles,
  doubles_transposed
};

/// Selects the kernel for a product of floats, of 32 or 16 bits. If b is contiguous along k, `outer` transposes b, and `inner`
/// adds up the elements of a register for each sum. Transposing takes about 70 instructions for each of the k n / float_width^2
/// squares of vectors. Adding up takes 45 instructions for each of the m n / float_width vectors of sums. So `inner` is chosen
/// from k = 10 m on. But `inner` reads all of a for every two columns of b, so a must fit in a cache. One row times a large
/// matrix reads the matrix in the order of memory.
constexpr MatMulKernel matmul_kernel_of(const MatMulShape& s) {
  if (s.float16_sums) return MatMulKernel::rounded;
  if (streams_rows(s)) return MatMulKernel::row_by_row;
  if (streams_columns(s)) return MatMulKernel::column_by_column;
  const bool dot = float_width > 1 && s.a_k == 1 && s.b_k == 1 && s.k >= 2 * float_width && !s.half_a && !s.half_b;
  if (s.n < 4) return dot ? MatMulKernel::inner : s.m < 4 ? MatMulKernel::loop : MatMulKernel::outer_transposed;
  return dot && s.b_n != 1 && s.k >= 10 * s.m && s.m * s.k <= l2_floats ? MatMulKernel::inner : MatMulKernel::outer;
}

/// Selects the kernel for a product of other elements.
template <class A, class B>
constexpr MatMulKernel plain_kernel_of(const MatMulShape& s) {
  if (!std::is_same_v<A, double> || !std::is_same_v<B, double>) return MatMulKernel::loop;
  return transposes_doubles(s) ? MatMulKernel::doubles_transposed : takes_doubles(s) ? MatMulKernel::doubles : MatMulKernel::loop;
}

template <class T>
inline constexpr bool is_float_or_half = std::is_same_v<T, float> || is_half_type<T>;

/// The shape with the types of its operands.
template <class A, class B>
constexpr MatMulShape with_types(MatMulShape s) {
  s.half_a = is_half_type<A>;
  s.half_b = is_half_type<B>;
  return s;
}
/// Sets the stride of extents of 1 to 1, which suits every kernel.
constexpr MatMulShape with_unit_strides(MatMulShape s) {
  if (s.m == 1) s.a_m = s.c_m = 1;
  if (s.n == 1) s.b_n = s.c_n = 1;
  if (s.k == 1) s.a_k = s.b_k = 1;
  return s;
}

/// The kernel for a product of a, of type A, and b, of type B, and the shape that it gets.
template <MatMulShape shape, class A, class B>
struct MatMulChoice {
  static constexpr MatMulShape s = with_types<A, B>(with_unit_strides(shape));
  static constexpr MatMulKernel kernel = is_float_or_half<A> && is_float_or_half<B> ? matmul_kernel_of(s)
                                                                                    : plain_kernel_of<A, B>(s);
  /// Bytes of the kernel's arrays on the stack; the other kernels have only small arrays, or none.
  static constexpr std::int64_t stack_bytes = kernel == MatMulKernel::outer                ? outer_stack_bytes(s)
                                              : kernel == MatMulKernel::outer_transposed   ? outer_stack_bytes(s.transposed())
                                              : kernel == MatMulKernel::row_by_row         ? rows_stack_bytes(s)
                                              : kernel == MatMulKernel::column_by_column   ? columns_stack_bytes(s)
                                              : kernel == MatMulKernel::rounded            ? rounded_stack_bytes
                                              : kernel == MatMulKernel::doubles            ? doubles_stack_bytes(s)
                                              : kernel == MatMulKernel::doubles_transposed ? doubles_stack_bytes(s.transposed())
                                                                                           : 0;
};
/// Whether the product of b^T and a^T is computed, because elements of a column of c are contiguous.
template <MatMulShape s, class A, class B, class C>
inline constexpr bool gives_transposed = is_float_or_half<A> && is_float_or_half<B> && is_float_or_half<C> && s.c_n != 1 &&
                                         s.c_m == 1;

/// Computes a product element by element; integers wrap around.
template <MatMulShape s, class A, class B, class Epilogue>
inline void loop_matmul(const A* a, const B* b, const Epilogue& epilogue) {
  using Sum = std::common_type_t<compute_t<A>, compute_t<B>>;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      product_sum_t<Sum, s.k> sum{};
      for (std::int64_t k = 0; k < s.k; ++k)
        sum = math::add(sum, decltype(sum)(math::multiply(static_cast<Sum>(a[i * s.a_m + k * s.a_k]),
                                                          static_cast<Sum>(b[k * s.b_k + j * s.b_n]))));
      epilogue(i, j, static_cast<Sum>(sum));
    }
}

/// Calls epilogue(i, j, x) for every element of c = a b exactly once, when its sum over k is complete: x is a float (compute_t),
/// or a batch of the elements (i, j), (i, j + 1), ... of one row. Register-blocked vector kernels compute float and half
/// precision, both with sums of float; products of float64 have vectors, too. An epilogue that reads memory may also have a
/// member prefetch(i, j), which is called for some vectors before their sums are complete. With pieces, computes some pieces of
/// c; a sum does not depend on the other pieces. Kernels other than `outer` compute all of c with the first piece.
template <MatMulShape shape, class A, class B, class Epilogue>
inline void matmul_kernel(const A* a, const B* b, const Epilogue& epilogue, const Pieces& pieces = {}) {
  constexpr MatMulShape s = MatMulChoice<shape, A, B>::s;
  constexpr MatMulKernel kernel = MatMulChoice<shape, A, B>::kernel;
  if constexpr (kernel != MatMulKernel::outer && kernel != MatMulKernel::outer_transposed)
    if (pieces.first > 0) return;
  if constexpr (kernel == MatMulKernel::inner) inner_matmul<s>(a, b, epilogue);
  else if constexpr (kernel == MatMulKernel::outer) outer_matmul<s>(a, b, epilogue, pieces);
  else if constexpr (kernel == MatMulKernel::outer_transposed)
    outer_matmul<s.transposed()>(b, a, TransposedEpilogue<Epilogue>{epilogue}, pieces);
  else if constexpr (kernel == MatMulKernel::row_by_row) stream_rows<s>(a, b, epilogue);
  else if constexpr (kernel == MatMulKernel::column_by_column) stream_columns<s>(a, b, epilogue);
  else if constexpr (kernel == MatMulKernel::rounded) RoundedProduct<s>::compute(a, b, epilogue);
  else if constexpr (kernel == MatMulKernel::doubles) multiply_doubles<s>(a, b, epilogue);
  else if constexpr (kernel == MatMulKernel::doubles_transposed)
    multiply_doubles<s.transposed()>(b, a, [&epilogue](std::int64_t j, std::int64_t i, double x) { epilogue(i, j, x); });
  else loop_matmul<s>(a, b, epilogue);
}

/// Computes c = a b for one matrix.
template <MatMulShape shape, class A, class B, class C>
inline void matmul_kernel(const A* a, const B* b, C* c, const Pieces& pieces = {}) {
  constexpr MatMulShape s = with_unit_strides(shape);
  if constexpr (gives_transposed<s, A, B, C>) matmul_kernel<s.transposed()>(b, a, c, pieces);
  else matmul_kernel<s>(a, b, StoreSums<s.c_m, s.c_n, C>{c}, pieces);
}

/// Bytes of matmul_kernel's arrays on the stack, for c. For an epilogue, they are MatMulChoice's.
template <MatMulShape shape, class A, class B, class C>
inline constexpr std::int64_t matmul_stack_bytes = [] {
  constexpr MatMulShape s = with_unit_strides(shape);
  if constexpr (gives_transposed<s, A, B, C>) return MatMulChoice<s.transposed(), B, A>::stack_bytes;
  else return MatMulChoice<s, A, B>::stack_bytes;
}();

}  // namespace tilewright::kernel
