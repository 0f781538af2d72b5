#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "tilewright/kernel/copy/copy.hpp"
#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/operand/faults.hpp"
#include "tilewright/operand/indices.hpp"

namespace tilewright::kernel {

/// Axes of a loop, with steps of three operands: the table, which is indexed; the rows, one for each index; the indices. Axes of
/// extent 1 are omitted, and neighbours that are contiguous in all operands are merged.
struct IndexedAxes {
  Shape extents{};
  std::array<std::array<std::int64_t, max_rank>, 3> strides{};

  constexpr void add(std::int64_t extent, std::int64_t table, std::int64_t rows, std::int64_t indices) {
    if (extent == 1) return;
    const std::int64_t steps[] = {table, rows, indices};
    const auto last = static_cast<std::size_t>(extents.rank > 0 ? extents.rank - 1 : 0);
    bool merges = extents.rank > 0;
    for (std::size_t o = 0; merges && o < 3; ++o) merges = strides[o][last] == steps[o] * extent;
    if (merges) extents[-1] *= extent;
    else extents.push_back(extent);
    for (std::size_t o = 0; o < 3; ++o) strides[o][static_cast<std::size_t>(extents.rank - 1)] = steps[o];
  }
  constexpr std::int64_t step(std::size_t operand) const {
    return extents.rank == 0 ? 0 : strides[operand][static_cast<std::size_t>(extents.rank - 1)];
  }
  constexpr std::int64_t run() const { return extents.rank == 0 ? 1 : extents[-1]; }
  /// Returns all axes except the last, which is the run.
  constexpr Shape outer() const {
    Shape result;
    for (int axis = 0; axis + 1 < extents.rank; ++axis) result.push_back(extents[axis]);
    return result;
  }
};

struct IndexedSections {
  IndexedAxes places{};  ///< one for each index that is read, in the order of the indices
  IndexedAxes row{};  ///< elements that an index addresses
};
constexpr IndexedSections indexed_sections(int axis, IndexForm form, const ViewSpec& table, const ViewSpec& rows,
                                           const ViewSpec& indices) {
  IndexedSections result;
  const bool by_element = form == IndexForm::elements;
  const int groups = form == IndexForm::groups ? 1 : 0;
  const int index_axes = by_element ? 1 : indices.shape.rank - groups;
  for (int a = 0; a < axis; ++a)
    result.places.add(by_element ? indices.shape[a] : rows.shape[a], table.stride(a), rows.stride(a),
                      by_element || a < groups ? indices.stride(a) : 0);
  for (int i = 0; i < index_axes; ++i) {
    const int index_axis = by_element ? axis : i + groups;
    result.places.add(indices.shape[index_axis], 0, rows.stride(axis + i), indices.stride(index_axis));
  }
  for (int a = axis + 1; a < table.shape.rank; ++a) {
    const int rows_axis = a - 1 + index_axes;
    if (by_element) result.places.add(indices.shape[a], table.stride(a), rows.stride(a), indices.stride(a));
    else result.row.add(rows.shape[rows_axis], table.stride(a), rows.stride(rows_axis), 0);
  }
  return result;
}

/// Calls f(k, indices[k] - first) for each k in [0, run) whose difference is in [0, extent), in order. Fast if only a few of many
/// indices are in that range.
template <std::int64_t run, class J, class F>
inline void for_each_index_in(const J* indices, std::int64_t first, std::uint64_t extent, F&& f) {
#if defined(__AVX512F__)
  constexpr std::int64_t width = sizeof(J) == 4 ? 16 : 1;  // indices in a vector
#elif defined(__AVX2__)
  constexpr std::int64_t width = sizeof(J) == 4 ? 8 : 1;
#else
  constexpr std::int64_t width = 1;
#endif
  constexpr std::int64_t in_vectors = width == 1 ? 0 : run / width * width;
#if defined(__AVX512F__) || defined(__AVX2__)
  if constexpr (width > 1) {
    const auto base = static_cast<std::uint32_t>(first), count = static_cast<std::uint32_t>(extent);
    for (std::int64_t k = 0; k < in_vectors; k += width) {
#if defined(__AVX512F__)
      const __m512i offsets = _mm512_sub_epi32(_mm512_loadu_si512(indices + k), _mm512_set1_epi32(static_cast<int>(base)));
      unsigned hits = _mm512_cmplt_epu32_mask(offsets, _mm512_set1_epi32(static_cast<int>(count)));
#else
      const __m256i offsets = _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(indices + k)),
                                               _mm256_set1_epi32(static_cast<int>(base)));
      const __m256i last = _mm256_set1_epi32(static_cast<int>(count - 1));
      auto hits = static_cast<unsigned>(
          _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_min_epu32(offsets, last), offsets))));
#endif
      for (; hits != 0; hits &= hits - 1) {
        const std::int64_t hit = k + std::countr_zero(hits);
        f(hit, static_cast<std::int64_t>(indices[hit]) - first);
      }
    }
  }
#endif
  for (std::int64_t k = in_vectors; k < run; ++k)
    if (const auto offset = static_cast<std::int64_t>(indices[k]) - first; static_cast<std::uint64_t>(offset) < extent)
      f(k, offset);
}

/// Loops of a kernel in which indices map rows, or elements, of a table along an axis to those of another tensor. The table may
/// be a block along the axis.
template <int axis, IndexForm form, class Table, class Rows, class Indices>
struct IndexedLoops {
  using T = typename Table::element;
  using R = typename Rows::element;
  using J = typename Indices::element;
  static constexpr auto sections = indexed_sections(axis, form, Table::spec, Rows::spec, Indices::spec);
  static constexpr const auto& places = sections.places;
  static constexpr const auto& row = sections.row;
  static constexpr Shape outer = places.outer();
  static constexpr std::int64_t run = places.run(), length = row.extents.nelms(), step = Table::spec.stride(axis);
  static constexpr auto extent = static_cast<std::uint64_t>(Table::shape[axis]);
  static constexpr bool is_run = row.extents.rank == 0 || (row.extents.rank == 1 && row.step(0) == 1 && row.step(1) == 1);
  /// Whether rows are long enough for a prefetch of the one after next.
  static constexpr bool is_long = is_run && length * static_cast<std::int64_t>(sizeof(T)) >= 256;

  /// Calls f(position in the table, row) for each index in [first, first + extent), and `missed(row)` for each other one.
  template <class F, class G>
  static void for_each(Table table, Rows rows, Indices indices, F&& f, G&& missed) {
    for_each_offset<3>(outer, places.strides, [&](const auto& at) {
      T* const t = table.data + at[0];
      R* const r = rows.data + at[1];
      const J* const i = indices.data + at[2];
      for (std::int64_t k = 0; k < run; ++k) {
        const std::uint64_t n = index_number(i[k * places.step(2)]);
        if constexpr (is_long)
          if (const auto next = index_number(i[(k + 2 < run ? k + 2 : k) * places.step(2)]); next < extent)
            prefetch(t + k * places.step(0) + static_cast<std::int64_t>(next) * step);
        if (n < extent) f(t + k * places.step(0) + static_cast<std::int64_t>(n) * step, r + k * places.step(1));
        else missed(r + k * places.step(1));
      }
    });
  }
  /// Calls f(position in the table, row) for each index in a block of a table of `whole` rows, the rows from `first` on. Fast if
  /// most indices miss the block.
  template <std::int64_t whole, class F>
  static void for_each_hit(Table table, Rows rows, Indices indices, std::int64_t first, F&& f) {
    if constexpr (whole == Table::shape[axis]) return for_each(table, rows, indices, f, [](auto*) {});
    for_each_offset<3>(outer, places.strides, [&](const auto& at) {
      T* const t = table.data + at[0];
      R* const r = rows.data + at[1];
      const J* const i = indices.data + at[2];
      const auto hit = [&](std::int64_t k, std::int64_t n) { f(t + k * places.step(0) + n * step, r + k * places.step(1)); };
      if constexpr (places.step(2) == 1) {
        for_each_index_in<run>(i, first, extent, hit);
      } else {
        for (std::int64_t k = 0; k < run; ++k)
          if (const auto n = static_cast<std::int64_t>(i[k * places.step(2)]) - first; static_cast<std::uint64_t>(n) < extent)
            hit(k, n);
      }
    });
  }

  /// Copies the row of the table to the other, or back; `to` and `from` are the numbers of the operands.
  template <std::size_t to, std::size_t from, class X>
  [[gnu::always_inline]] static void copy(X* target, const X* source) {
    if constexpr (is_run) copy_run<length>(target, source);
    else for_each_offset<3>(row.extents, row.strides, [&](const auto& at) { target[at[to]] = source[at[from]]; });
  }
  [[gnu::always_inline]] static void zero(R* target) {
    if constexpr (is_run) std::fill_n(target, length, R(0));
    else for_each_offset<3>(row.extents, row.strides, [&](const auto& at) { target[at[1]] = R(0); });
  }
  /// target = f(target, source) for a row of the table and another row. f takes numbers and batches; both are rounded to the
  /// table's dtype first.
  template <class F>
  [[gnu::always_inline]] static void combine(T* target, const R* source, const F& f) {
    using X = compute_t<T>;
    if constexpr (is_run && length > 1 && std::is_floating_point_v<X> && std::is_same_v<X, compute_t<R>>) {
      line_assign<length>([&f](const auto& t, const auto& r) { return f(t, rounded_to<T>(r)); }, Line<T, 1>{target},
                          Line<T, 1>{target}, Line<const R, 1>{source});
    } else {
      for_each_offset<3>(row.extents, row.strides, [&](const auto& at) {
        const auto x = static_cast<X>(static_cast<T>(static_cast<compute_t<R>>(source[at[1]])));
        target[at[0]] = static_cast<T>(f(static_cast<X>(target[at[0]]), x));
      });
    }
  }

 private:
  static void prefetch(const T* data) {
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t k = 0; k < std::min<std::int64_t>(length, 8 * line); k += line) __builtin_prefetch(data + k);
  }
};

/// Reports the indices that are not in [0, extent).
template <class Indices>
inline void check_indices(Faults faults, Indices indices, std::int64_t extent) {
  static constexpr auto loops = elementwise_loops<1>({Indices::spec});
  for_each_offset<1>(loops.outer, loops.strides, [&](const auto& at) {
    const auto* const run = indices.data + at[0];
    const auto is_wrong = [&](std::int64_t k) {
      return index_number(run[k * loops.run_strides[0]]) >= static_cast<std::uint64_t>(extent);
    };
    bool wrong = false;
    for (std::int64_t k = 0; k < loops.run; ++k) wrong |= is_wrong(k);
    for (std::int64_t k = 0; wrong && k < loops.run; ++k)
      if (is_wrong(k)) faults.report(static_cast<std::int64_t>(run[k * loops.run_strides[0]]));
  });
}

}  // namespace tilewright::kernel
