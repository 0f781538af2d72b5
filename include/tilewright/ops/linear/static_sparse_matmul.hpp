#pragma once
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/index/scatter.hpp"
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright {

/// Places of a sparse matrix that have values, known when the program is compiled, in coordinate form: value i is in row
/// `rows[i]` and column `columns[i]`.
struct SparsePattern {
  std::int64_t row_count = 0;  ///< rows of the matrix
  std::int64_t column_count = 0;  ///< columns of the matrix
  List<std::int64_t> rows{};     ///< row of each value, from 0
  List<std::int64_t> columns{};  ///< column of each value, from 0
};

namespace detail {
/// Returns whether all indices are of at least 0 and below `count`.
constexpr bool are_below(const List<std::int64_t>& indices, std::int64_t count) {
  for (const std::int64_t index : indices)
    if (index < 0 || index >= count) return false;
  return true;
}
}  // namespace detail

namespace ops {
/// Multiplies a sparse matrix, whose places are constants of the program, with a dense one. values: (count of places,); dense:
/// (column_count, n), of the same dtype: float16, bfloat16 or float32. Result: (row_count, n) of that dtype, rounded once from
/// products and sums in float32; values of one place add up. The gradients are those of gather and scatter_reduce. The op gathers
/// a row of `dense` for each value, so it needs memory for count n elements in float32. Errors: places outside of the matrix, no
/// places, and other shapes or dtypes.
///
///     tw::SparsePattern diagonal{.row_count = 3, .column_count = 3, .rows = {0, 1, 2}, .columns = {0, 1, 2}};
///     const Tensor scaled = ops::static_sparse_matmul(factors, diagonal, x);  // factors: (3,), x: (3, n)
template <class...>
[[nodiscard]] constexpr Tensor static_sparse_matmul(Tensor values, const SparsePattern& pattern, Tensor dense) {
  if (!values.is_usable() || !dense.is_usable()) return values.valid() ? dense : values;
  Ir& ir = values.ir();
  const auto count = static_cast<std::int64_t>(pattern.rows.size());
  if (count == 0 || pattern.columns.size() != pattern.rows.size() || !detail::are_below(pattern.rows, pattern.row_count) ||
      !detail::are_below(pattern.columns, pattern.column_count))
    return ir.fail(text("static_sparse_matmul: ", count, " rows and ", pattern.columns.size(), " columns of places in (",
                        pattern.row_count, ", ", pattern.column_count, "): as many of both, inside of the matrix, expected"));
  if (values.shape() != Shape{count} || dense.rank() != 2 || dense.shape(0) != pattern.column_count ||
      values.dtype() != dense.dtype() || !computes_in_float(values.dtype()))
    return ir.fail(text("static_sparse_matmul: values ", to_text(values.spec()), " by ", to_text(dense.spec()), ": (", count,
                        ",) by (", pattern.column_count, ", n), both float16, bfloat16 or float32, expected"));
  const auto indices = [&](const List<std::int64_t>& places) { return ir.constant(Numbers(places), {count}, int32); };
  const Tensor rows = gather(dense, indices(pattern.columns)).cast(float32);
  const Tensor terms = rows * values.cast(float32).reshape({count, 1});
  return scatter_reduce(terms, indices(pattern.rows), ScatterReduction::sum, {.axis_size = pattern.row_count})
      .cast(values.dtype());
}
}  // namespace ops

}  // namespace tilewright
