#pragma once
#include "tilewright/kernel/reduce/rules.hpp"

namespace tilewright::kernel {

/// The integer type whose pack has the same number of elements as a pack of T.
template <class T>
using index_of_t = std::conditional_t<sizeof(wide_t<T>) == 8, std::int64_t, std::int32_t>;

/// Returns the first of n elements that has the value, or is NaN; n if there is none.
template <std::int64_t n, std::int64_t step, class T>
inline std::int64_t find_first(const T* from, wide_t<T> value) {
  using Index = index_of_t<T>;
  using P = Pack<wide_t<T>>;
  using Indices = Pack<Index>;
  constexpr std::int64_t width = pack_size<wide_t<T>>;
  constexpr bool vectors = step == 1 && n >= width && n <= (std::numeric_limits<Index>::max)() - width;
  if constexpr (vectors) {
    const P values = spread<P>(value);
    Indices first = spread<Indices>(static_cast<Index>(n)), index{};
    for (std::int64_t k = 0; k < width; ++k) index[k] = static_cast<Index>(k);
    for (std::int64_t i = 0; i + width <= n; i += width, index += static_cast<Index>(width)) {
      const P x = load_pack(from + i);
      const Indices found = pick((x == values) | is_nan(x), index, first);
      first = pick(found < first, found, first);
    }
    Index least = first[0];
    for (std::int64_t k = 1; k < width; ++k) least = (std::min)(least, Index{first[k]});
    if (least < n) return least;
  }
  for (std::int64_t i = vectors ? n / width * width : 0; i < n; ++i) {
    const auto x = static_cast<wide_t<T>>(from[i * step]);
    if (x == value || is_nan(x)) return i;
  }
  return n;
}

/// Computes out = the index along `axis` of in's largest or smallest element. It is that of the first of equal elements, or of
/// the first NaN if there is one.
template <bool largest, int axis, class In, class Out>
inline void assign_extreme_index(In in, Out out) {
  using Rule = ExtremeRule<largest>;
  using Kernel = Reduce<std::uint64_t{1} << axis, In>;
  using T = typename In::element;
  using C = wide_t<T>;
  using Index = index_of_t<T>;
  constexpr std::int64_t n = In::shape[axis], step = In::spec.stride(axis);
  const auto first = [&](const auto& at) { return in.data + MemoryNode<In::spec>::offset(at); };
  Kernel::template for_each_result<Index>(
      out,
      [&](const auto& at) {
        const auto extreme = Kernel::template line<Rule>(in, at, 0);
        return static_cast<Index>(find_first<n, step>(first(at), extreme));
      },
      [&](const auto& at, auto size, Index* indices) {
        const T* const from = first(at);
        constexpr std::int64_t width = pack_size<C>, count = size();
        alignas(64) C best[std::size_t(count)];
        load_wide<1>(from, count, best);
        std::fill_n(indices, count, Index(0));
        for (std::int64_t k = 1; k < n; ++k) {
          const T* row = from + k * step;
          std::int64_t i = 0;
          for (; i + width <= count; i += width) {
            const Pack<C> x = load_pack(row + i), a = load_pack(best + i);
            const auto better = Rule::beats(x, a) & ~is_nan(a);  // the first NaN stays
            store_pack(best + i, pick(better, x, a));
            store_pack(indices + i, pick(better, spread<Pack<Index>>(static_cast<Index>(k)), load_pack(indices + i)));
          }
          for (i = count / width * width; i < count; ++i) {
            const auto x = static_cast<C>(row[i]);
            if (!Rule::beats(x, best[i]) || is_nan(best[i])) continue;
            best[i] = x;
            indices[i] = static_cast<Index>(k);
          }
        }
      });
}

/// Bytes of assign_extreme_index's arrays on the stack: for each column an index and an element.
template <int axis, class In, class Out>
inline constexpr std::int64_t extreme_index_stack_bytes = [] {
  using Kernel = Reduce<std::uint64_t{1} << axis, In>;
  using T = typename In::element;
  if constexpr (!Kernel::columns) return std::int64_t{0};
  else return column_stack_bytes<index_of_t<T>, wide_t<T>>(Kernel::template loops_to<Out>.kept[-1]);
}();

/// Loops of assign_at_first, and whether it processes columns.
template <std::uint64_t reduced, class X, class Y, class DY, class DX>
inline constexpr auto at_first_loops = reduction_loops<reduced, true, X, Y, DY, DX>();
template <std::uint64_t reduced, class... V>
inline constexpr bool at_first_by_columns = [] {
  constexpr auto& loops = at_first_loops<reduced, V...>;
  return loops.has_contiguous_columns() && loops.last_stride(loops.kept, loops.kept_strides, 3) == 1;
}();
/// Bytes of assign_at_first's arrays on the stack: two numbers for each column.
template <std::uint64_t reduced, class X, class... V>
inline constexpr std::int64_t at_first_stack_bytes = [] {
  using C = wide_t<typename X::element>;
  if constexpr (!at_first_by_columns<reduced, X, V...>) return std::int64_t{0};
  else return column_stack_bytes<C, C>(at_first_loops<reduced, X, V...>.kept[-1]);
}();

/// Computes dx = dy at the first element of x, among those that were reduced to y, that equals y or is NaN; 0 elsewhere. y and dy
/// have x's axes, the reduced ones with extent 1.
template <std::uint64_t reduced, class X, class Y, class DY, class DX>
inline void assign_at_first(X x, Y y, DY dy, DX dx) {
  using T = typename X::element;
  using C = wide_t<T>;
  static constexpr auto loops = at_first_loops<reduced, X, Y, DY, DX>;
  const auto value = [](auto element) { return static_cast<C>(element); };
  if constexpr (at_first_by_columns<reduced, X, Y, DY, DX>) {
    constexpr std::int64_t extent = loops.kept[-1], width = pack_size<C>;
    constexpr std::int64_t y_step = loops.last_stride(loops.kept, loops.kept_strides, 1);
    constexpr std::int64_t dy_step = loops.last_stride(loops.kept, loops.kept_strides, 2);
    static constexpr Shape outer = loops.without_last(loops.kept);
    for_each_offset<4>(outer, loops.kept_strides, [&](const auto& at) {
      for_each_batch<extent, columns_at_once>([&](std::int64_t j, auto size) {
        constexpr std::int64_t count = size();
        alignas(64) C values[std::size_t(count)], left[std::size_t(count)];  // left: what no element has got yet
        load_wide<y_step>(y.data + at[1] + j * y_step, count, values);
        load_wide<dy_step>(dy.data + at[2] + j * dy_step, count, left);
        for_each_offset<4>(loops.reduced, loops.reduced_strides, [&](const auto& row) {
          const T* from = x.data + at[0] + row[0] + j;
          auto* to = dx.data + at[3] + row[3] + j;
          alignas(64) C given[pack_size<C>];
          std::int64_t i = 0;
          for (; i + width <= count; i += width) {
            const Pack<C> element = load_pack(from + i), rest = load_pack(left + i);
            const auto takes = (element == load_pack(values + i)) | is_nan(element);
            store_pack(given, pick(takes, rest, Pack<C>{}));
            store_wide<1>(given, width, to + i);
            store_pack(left + i, pick(takes, Pack<C>{}, rest));
          }
          for (i = count / width * width; i < count; ++i) {
            const C element = value(from[i]);
            const bool takes = element == values[i] || is_nan(element);
            to[i] = static_cast<T>(takes ? left[i] : C(0));
            if (takes) left[i] = 0;
          }
        });
      });
    });
  } else {
    constexpr std::int64_t run = loops.reduced.rank > 0 ? loops.reduced[-1] : 1;
    constexpr std::int64_t step = loops.last_stride(loops.reduced, loops.reduced_strides, 0);
    constexpr std::int64_t to_step = loops.last_stride(loops.reduced, loops.reduced_strides, 3);
    static constexpr Shape outer = loops.without_last(loops.reduced);
    for_each_offset<4>(loops.kept, loops.kept_strides, [&](const auto& at) {
      const C sought = value(y.data[at[1]]);
      bool found = false;
      for_each_offset<4>(outer, loops.reduced_strides, [&](const auto& row) {
        const T* from = x.data + at[0] + row[0];
        T* to = dx.data + at[3] + row[3];
        for (std::int64_t i = 0; i < run; ++i) to[i * to_step] = T(0);
        if (found) return;
        const std::int64_t first = find_first<run, step>(from, sought);
        if (first < run) to[first * to_step] = dy.data[at[2]], found = true;
      });
    });
  }
}

}  // namespace tilewright::kernel
