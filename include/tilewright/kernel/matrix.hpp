#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/core/pair.hpp"
#include "tilewright/kernel/math.hpp"
#include "tilewright/operand/faults.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// One of the matrices that the last two axes of a view are.
template <class V>
struct MatrixOf {
  typename V::element* data;

  typename V::element& operator()(std::int64_t i, std::int64_t j) const {
    return data[i * V::spec.stride(-2) + j * V::spec.stride(-1)];
  }
};

/// Sets all elements to f(row, column).
template <class V, class F>
inline void set_elements(const MatrixOf<V>& to, F&& f) {
  for (std::int64_t i = 0; i < V::shape[-2]; ++i)
    for (std::int64_t j = 0; j < V::shape[-1]; ++j) to(i, j) = f(i, j);
}

/// Calls f(a matrix of each view) for all matrices; the views have equal leading axes.
template <class F, class... V>
inline void for_each_matrix(F&& f, V... views) {
  constexpr int count = sizeof...(V);
  constexpr ViewSpec specs[]{V::spec...};
  constexpr auto batch = [&] {
    Pair<Shape, std::array<std::array<std::int64_t, max_rank>, std::size_t(count)>> result{};
    for (int axis = 0; axis < specs[0].shape.rank - 2; ++axis) {
      result.first.push_back(specs[0].shape[axis]);
      for (int o = 0; o < count; ++o)
        result.second[static_cast<std::size_t>(o)][static_cast<std::size_t>(axis)] = specs[o].stride(axis);
    }
    return result;
  }();
  for_each_offset<count>(batch.first, batch.second, [&](const auto& at) {
    std::size_t next = 0;
    const std::tuple matrices{MatrixOf<V>{views.data + at[next++]}...};
    std::apply(f, matrices);
  });
}

/// Subtracts `factor` times row k of a matrix from row i, from column `first` up to `last`.
inline void subtract_row(const auto& x, std::int64_t i, std::int64_t k, auto factor, std::int64_t first, std::int64_t last) {
  for (std::int64_t j = first; j < last; ++j) x(i, j) = math::fma(-factor, x(k, j), x(i, j));
}

/// Solves a y = x in place of x, for a triangle a and some columns. Calls report(row) for each 0 on the diagonal.
template <bool is_upper, bool has_ones>
inline void solve_triangle(std::int64_t rows, std::int64_t columns, const auto& a, const auto& x, auto&& report) {
  using T = std::remove_reference_t<decltype(x(0, 0))>;
  for (std::int64_t next = 0; next < rows; ++next) {
    const std::int64_t k = is_upper ? rows - 1 - next : next;
    if constexpr (!has_ones) {
      const auto pivot = static_cast<T>(a(k, k));
      if (pivot == 0) report(k);
      for (std::int64_t j = 0; j < columns; ++j) x(k, j) /= pivot;
    }
    for (std::int64_t i = is_upper ? 0 : k + 1; i < (is_upper ? k : rows); ++i)
      subtract_row(x, i, k, static_cast<T>(a(i, k)), 0, columns);
  }
}

/// Computes the triangle L of a = L L^T. The upper half of `l` has the rows of L^T until the end, because rows are contiguous.
template <class A, class L>
inline void factor_cholesky(Faults faults, const MatrixOf<A>& a, const MatrixOf<L>& l) {
  constexpr std::int64_t rows = L::shape[-1];
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i; j < rows; ++j) l(i, j) = a(j, i);
  for (std::int64_t k = 0; k < rows; ++k) {
    if (!(l(k, k) > 0)) {
      faults.report(k);
      return set_elements(l, [](std::int64_t, std::int64_t) { return typename L::element{}; });
    }
    const auto pivot = math::sqrt(l(k, k));
    for (std::int64_t j = k; j < rows; ++j) l(k, j) = j == k ? pivot : l(k, j) / pivot;
    for (std::int64_t i = k + 1; i < rows; ++i) subtract_row(l, i, k, l(k, i), i, rows);
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i + 1; j < rows; ++j) l(j, i) = std::exchange(l(i, j), {});
}

/// Columns of x that solve_matrix computes together.
inline constexpr std::int64_t columns_together = 8;
/// Bytes of solve_matrix on the stack.
constexpr std::int64_t solve_stack_bytes(std::int64_t rows) {
  return rows * (rows + columns_together + 1) * 8 + 3 * static_cast<std::int64_t>(line_bytes);
}
/// Solves a x = b by elimination with partial pivoting, in float64.
template <class A, class B, class X>
inline void solve_matrix(Faults faults, const MatrixOf<A>& a, const MatrixOf<B>& b, const MatrixOf<X>& x) {
  constexpr std::int64_t rows = X::shape[-2], columns = X::shape[-1];
  alignas(line_bytes) double factors[rows * rows], part[rows * columns_together];
  std::int64_t order[rows];
  const auto lu = [&factors](std::int64_t i, std::int64_t j) -> double& { return factors[i * rows + j]; };
  const auto y = [&part](std::int64_t i, std::int64_t j) -> double& { return part[i * columns_together + j]; };
  for (std::int64_t i = 0; i < rows; ++i) {
    order[i] = i;
    for (std::int64_t j = 0; j < rows; ++j) lu(i, j) = static_cast<double>(a(i, j));
  }
  for (std::int64_t k = 0; k < rows; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < rows; ++i)
      if (std::abs(lu(i, k)) > std::abs(lu(pivot, k))) pivot = i;
    if (lu(pivot, k) == 0) {
      faults.report(k);
      continue;
    }
    std::swap(order[k], order[pivot]);
    for (std::int64_t j = 0; j < rows; ++j) std::swap(lu(k, j), lu(pivot, j));
    for (std::int64_t i = k + 1; i < rows; ++i) {
      lu(i, k) /= lu(k, k);
      subtract_row(lu, i, k, lu(i, k), k + 1, rows);
    }
  }
  const auto ignore = [](std::int64_t) {};
  for (std::int64_t first = 0; first < columns; first += columns_together) {
    const std::int64_t count = columns - first < columns_together ? columns - first : columns_together;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < count; ++j) y(i, j) = static_cast<double>(b(order[i], first + j));
    solve_triangle<false, true>(rows, count, lu, y, ignore);
    solve_triangle<true, false>(rows, count, lu, y, ignore);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < count; ++j) x(i, first + j) = static_cast<typename X::element>(y(i, j));
  }
}

}  // namespace tilewright::kernel
