#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/matmul/packs.hpp"
#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/kernel/view.hpp"

namespace tilewright {

/// The axes of an input, kept and reduced ones apart, with the strides of all operands along them. Axes of extent 1 are left out
/// and those that can be one are merged. The kept ones stand in the order of the input's memory; so do the reduced ones, unless
/// their order counts.
template <int operands>
struct ReductionLoops {
  using Strides = std::array<std::array<std::int64_t, max_rank>, std::size_t(operands)>;
  Shape kept{}, reduced{};
  Strides kept_strides{}, reduced_strides{};

  /// `views` of one rank: of operands without an axis, its stride is 0.
  constexpr ReductionLoops(const Shape& shape, std::uint64_t reduced_axes, const Strides& strides, bool in_order) {
    for (int axis = 0; axis < shape.rank; ++axis) {
      if (shape[axis] == 1) continue;
      const bool is_reduced = (reduced_axes >> axis & 1) != 0;
      add(is_reduced ? reduced : kept, is_reduced ? reduced_strides : kept_strides, shape[axis], strides, axis,
          is_reduced && in_order);
    }
    merge(kept, kept_strides);
    merge(reduced, reduced_strides);
  }
  constexpr bool has_contiguous_rows() const { return reduced.rank > 0 && last_stride(reduced, reduced_strides) == 1; }
  constexpr bool has_contiguous_columns() const { return kept.rank > 0 && last_stride(kept, kept_strides) == 1; }
  static constexpr Shape without_last(Shape axes) {
    if (axes.rank > 0) axes.extents[--axes.rank] = 0;
    return axes;
  }
  static constexpr std::int64_t last_stride(const Shape& axes, const Strides& strides, int operand = 0) {
    return axes.rank == 0 ? 0 : strides[static_cast<std::size_t>(operand)][static_cast<std::size_t>(axes.rank - 1)];
  }

 private:
  static constexpr void add(Shape& axes, Strides& to, std::int64_t extent, const Strides& strides, int axis, bool last) {
    const auto a = static_cast<std::size_t>(axis);
    int at = axes.rank;
    while (!last && at > 0 && to[0][static_cast<std::size_t>(at - 1)] < strides[0][a]) --at;
    axes.push_back(extent);
    for (int i = axes.rank - 1; i > at; --i) axes[i] = axes[i - 1];
    axes[at] = extent;
    for (std::size_t o = 0; o < operands; ++o) {
      for (int i = axes.rank - 1; i > at; --i) to[o][static_cast<std::size_t>(i)] = to[o][static_cast<std::size_t>(i - 1)];
      to[o][static_cast<std::size_t>(at)] = strides[o][a];
    }
  }
  static constexpr void merge(Shape& axes, Strides& strides) {
    for (int axis = axes.rank - 2; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      bool fits = true;
      for (std::size_t o = 0; o < operands; ++o) fits = fits && strides[o][a] == strides[o][a + 1] * axes[axis + 1];
      if (!fits) continue;
      axes[axis] *= axes[axis + 1];
      for (std::size_t o = 0; o < operands; ++o) strides[o][a] = strides[o][a + 1];
      for (int i = axis + 1; i + 1 < axes.rank; ++i) {
        axes[i] = axes[i + 1];
        for (std::size_t o = 0; o < operands; ++o)
          strides[o][static_cast<std::size_t>(i)] = strides[o][static_cast<std::size_t>(i + 1)];
      }
      axes = without_last(axes);
    }
  }
};

/// The loops of an input of shape V0 and operands that have its axes, or all but the reduced ones.
template <std::uint64_t reduced, bool in_order, class V0, class... V>
constexpr auto reduction_loops() {
  constexpr int operands = 1 + sizeof...(V);
  typename ReductionLoops<operands>::Strides strides{};
  std::size_t operand = 0;
  const auto add = [&](const ViewSpec& view) {
    int from = 0;
    for (int axis = 0; axis < V0::shape.rank; ++axis) {
      const bool has_axis = view.shape.rank == V0::shape.rank || (reduced >> axis & 1) == 0;
      const bool moves = has_axis && view.shape[from] == V0::shape[axis];
      strides[operand][static_cast<std::size_t>(axis)] = moves ? view.stride(from) : 0;
      from += has_axis;
    }
    ++operand;
  };
  add(V0::spec);
  (add(V::spec), ...);
  return ReductionLoops<operands>(V0::shape, reduced, strides, in_order);
}

namespace detail {
template <class T>
struct WrappingOf : std::type_identity<T> {};
template <class T>
  requires std::is_integral_v<T>
struct WrappingOf<T> : std::make_unsigned<T> {};
}  // namespace detail
/// The type in which sums and products of elements wrap around without undefined behaviour.
template <class T>
using wrapping_t = typename detail::WrappingOf<wide_t<T>>::type;

/// Columns that a kernel reduces in one go: their accumulators, 4 to 8 KiB, stay in the first cache while rows stream by.
inline constexpr std::int64_t columns_at_once = 1024;
/// Bytes on the stack of a kernel that goes along columns of views, at most. A column has a result and another number of the type
/// that elements are computed in, such as the largest element so far, and a float64 into which a sum is emptied.
template <class... V>
inline constexpr std::int64_t column_stack_bytes = [] {
  constexpr std::int64_t columns = std::max({std::int64_t{1}, V::shape.rank > 0 ? V::shape[-1] : 1 ...});
  constexpr std::int64_t widest = std::max({sizeof(wide_t<typename V::element>)...});
  return std::min(columns, columns_at_once) * (2 * widest + static_cast<std::int64_t>(sizeof(double)));
}();

/// A reduction by rules. A rule R has, for elements of type T,
///  - `Compute<T>`: the type in which it computes, of wide_t<T>'s size;
///  - `start<T>()`: the reduction of nothing;
///  - `combine<T>(a, x, context)`: with one more element, of numbers or packs;
///  - `merge(a, b)`: of two reductions;
///  - `adds_up`: it is a sum. Its accumulators take terms_of_accumulator terms, and are then emptied into float64.
template <std::uint64_t reduced, class In, class Out>
struct Reduce {
  using T = typename In::element;
  static constexpr auto loops = reduction_loops<reduced, false, In, Out>();
  static constexpr bool rows = loops.has_contiguous_rows();
  static constexpr bool columns = !rows && loops.has_contiguous_columns();
  template <class R>
  using C = typename R::template Compute<T>;

  /// Whether a rule's accumulators are emptied: there are more terms than they take.
  template <class R>
  static constexpr bool in_parts = R::adds_up && std::is_floating_point_v<C<R>> && (loops.reduced.nelms() > terms_of_accumulator);

  /// The reduction of the elements that belong to one result.
  template <class R>
  static C<R> line(const T* from, C<R> context) {
    C<R> total = R::template start<T>();
    [[maybe_unused]] double emptied = 0;
    [[maybe_unused]] std::int64_t terms = 0;
    if constexpr (rows) {
      constexpr std::int64_t run = loops.reduced[-1], width = pack_size<C<R>>, chunk = 4 * width;
      constexpr std::int64_t at_once = chunk * terms_of_accumulator;
      using P = Pack<C<R>>;
      static constexpr Shape outer = loops.without_last(loops.reduced);
      const P contexts = spread<P>(context);
      P sums[4];
      for (P& sum : sums) sum = spread<P>(total);
      const auto add_up_to = [&](const T* row, std::int64_t& i, std::int64_t end) {
        for (; i + chunk <= end; i += chunk)
          for (std::int64_t k = 0; k < 4; ++k)
            sums[k] = R::template combine<T>(sums[k], (P)load_pack(row + i + k * width), contexts);
      };
      const auto merge_sums = [&] {
        if constexpr (run < width) return;
        const P sum = R::merge(R::merge(sums[0], sums[1]), R::merge(sums[2], sums[3]));
        for (std::int64_t i = 0; i < width; ++i) total = R::merge(total, sum[i]);
      };
      [[maybe_unused]] const auto empty = [&] {
        merge_sums();
        emptied += static_cast<double>(total);
        total = R::template start<T>();
        for (P& sum : sums) sum = spread<P>(total);
        terms = 0;
      };
      constexpr std::int64_t rest_terms = run % at_once / chunk + run % chunk / width + run % width;
      for_each_offset<2>(outer, loops.reduced_strides, [&](const auto& at) {
        const T* row = from + at[0];
        std::int64_t i = 0;
        if constexpr (in_parts<R>)
          if (terms > 0 && terms + (run >= at_once ? terms_of_accumulator : rest_terms) > terms_of_accumulator) empty();
        if constexpr (in_parts<R> && run >= at_once) {
          while (i + at_once <= run) {
            add_up_to(row, i, i + at_once);
            empty();
          }
        }
        add_up_to(row, i, run);
        if constexpr (run % chunk >= width)
          for (; i + width <= run; i += width) sums[0] = R::template combine<T>(sums[0], (P)load_pack(row + i), contexts);
        for (i = run / width * width; i < run; ++i) total = R::template combine<T>(total, static_cast<C<R>>(row[i]), context);
        terms += rest_terms;
      });
      merge_sums();
    } else {
      for_each_offset<2>(loops.reduced, loops.reduced_strides, [&](const auto& at) {
        total = R::template combine<T>(total, static_cast<C<R>>(from[at[0]]), context);
        if constexpr (in_parts<R>)
          if (++terms == terms_of_accumulator) {
            emptied += static_cast<double>(std::exchange(total, R::template start<T>()));
            terms = 0;
          }
      });
    }
    if constexpr (in_parts<R>) return static_cast<C<R>>(emptied + static_cast<double>(total));
    return total;
  }
  /// Those of `count` neighbouring columns. `contexts`: theirs, or nullptr for rules that need none.
  template <class R, std::int64_t count, class Contexts>
  static void block(const T* from, Contexts contexts, C<R>* totals) {
    constexpr std::int64_t width = pack_size<C<R>>;
    using P = Pack<C<R>>;
    std::fill_n(totals, count, R::template start<T>());
    [[maybe_unused]] double emptied[static_cast<std::size_t>(in_parts<R> ? count : 1)]{};
    [[maybe_unused]] std::int64_t terms = 0;
    for_each_offset<2>(loops.reduced, loops.reduced_strides, [&](const auto& at) {
      const T* row = from + at[0];
      for (std::int64_t i = 0; i + width <= count; i += width) {
        P context{};
        if constexpr (!std::is_null_pointer_v<Contexts>) context = load_pack(contexts + i);
        store_pack(totals + i, R::template combine<T>(load_pack(totals + i), (P)load_pack(row + i), context));
      }
      for (std::int64_t i = count / width * width; i < count; ++i) {
        C<R> context{};
        if constexpr (!std::is_null_pointer_v<Contexts>) context = contexts[i];
        totals[i] = R::template combine<T>(totals[i], static_cast<C<R>>(row[i]), context);
      }
      if constexpr (in_parts<R>)
        if (++terms == terms_of_accumulator) {
          for (std::int64_t i = 0; i < count; ++i) emptied[i] += static_cast<double>(totals[i]);
          std::fill_n(totals, count, R::template start<T>());
          terms = 0;
        }
    });
    if constexpr (in_parts<R>)
      for (std::int64_t i = 0; i < count; ++i) totals[i] = static_cast<C<R>>(emptied[i] + static_cast<double>(totals[i]));
  }

  /// Calls of_line(first element) for each result, of which it gives the value; or of_block(first element, count, results) for
  /// neighbouring ones, with a constant for the count.
  template <class Value, class OfLine, class OfBlock>
  static void for_each_result(In in, Out out, OfLine&& of_line, OfBlock&& of_block) {
    using O = typename Out::element;
    if constexpr (columns) {
      constexpr std::int64_t extent = loops.kept[-1], step = loops.last_stride(loops.kept, loops.kept_strides, 1);
      static constexpr Shape outer = loops.without_last(loops.kept);
      alignas(64) Value values[std::min(extent, columns_at_once)];
      for_each_offset<2>(outer, loops.kept_strides, [&](const auto& at) {
        detail::for_each_batch<extent, columns_at_once>([&](std::int64_t j, auto count) {
          of_block(in.data + at[0] + j, count, values);
          O* to = out.data + at[1] + j * step;
          if constexpr (std::is_same_v<Value, wide_t<O>>) {
            store_wide<step>(values, count, to);
          } else {
            for (std::int64_t i = 0; i < count; ++i) to[i * step] = static_cast<O>(values[i]);
          }
        });
      });
    } else {
      for_each_offset<2>(loops.kept, loops.kept_strides,
                         [&](const auto& at) { out.data[at[1]] = static_cast<O>(of_line(in.data + at[0])); });
    }
  }
  template <class R>
  static void run(In in, Out out) {
    for_each_result<C<R>>(
        in, out, [](const T* from) { return line<R>(from, C<R>{}); },
        [](const T* from, auto count, C<R>* totals) { block<R, count()>(from, nullptr, totals); });
  }
};

/// The largest or smallest element; NaN, if there is one.
template <bool largest>
struct ExtremeRule {
  static constexpr bool adds_up = false;
  template <class T>
  using Compute = wide_t<T>;
  template <class T>
  static constexpr wide_t<T> start() {
    using Limits = std::numeric_limits<wide_t<T>>;
    if constexpr (Limits::has_infinity) return largest ? -Limits::infinity() : Limits::infinity();
    else return largest ? Limits::lowest() : Limits::max();
  }
  /// Whether x takes the place of a.
  template <class X>
  [[gnu::always_inline]] static auto beats(const X& x, const X& a) {
    if constexpr (largest) return (x > a) | is_nan(x);
    else return (x < a) | is_nan(x);
  }
  template <class, class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X&) {
    return pick(beats(x, a), x, a);
  }
  template <class X>
  [[gnu::always_inline]] static X merge(const X& a, const X& b) {
    return pick(beats(b, a), b, a);
  }
};

struct ProductRule {
  static constexpr bool adds_up = false;
  template <class T>
  using Compute = wrapping_t<T>;
  template <class T>
  static constexpr wrapping_t<T> start() {
    return 1;
  }
  template <class, class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X&) {
    return a * x;
  }
  template <class X>
  [[gnu::always_inline]] static X merge(const X& a, const X& b) {
    return a * b;
  }
};

/// Base of sums of functions of the elements.
struct SumRule {
  static constexpr bool adds_up = true;
  template <class T>
  using Compute = wrapping_t<T>;
  template <class T>
  static constexpr wrapping_t<T> start() {
    return 0;
  }
  template <class X>
  [[gnu::always_inline]] static X merge(const X& a, const X& b) {
    return a + b;
  }
};
struct SquareSumRule : SumRule {
  template <class, class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X&) {
    return a + x * x;
  }
};
struct AbsoluteSumRule : SumRule {
  template <class T, class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X&) {
    using Element = typename PackElement<X>::type;
    if constexpr (std::is_floating_point_v<Element>) return a + pick(x < Element(0), -x, x);
    else if constexpr (std::is_signed_v<T>) return a + pick(x > static_cast<Element>(Element(-1) / 2), X{} - x, x);
    else return a + x;
  }
};
/// The sum of exp(x - context).
struct ExponentialSumRule : SumRule {
  template <class, class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x, const X& context) {
    if constexpr (std::is_arithmetic_v<X>) {
      return a + math::exp(x - context);
    } else {
      using Batch = xsimd::batch<typename PackElement<X>::type>;
      const X power = x - context;
      Batch batch;
      std::memcpy(&batch, &power, sizeof(power));
      batch = math::exp(batch);
      X result;
      std::memcpy(&result, &batch, sizeof(result));
      return a + result;
    }
  }
};

/// The mean of integers, truncated; their sum has 64 bits.
template <std::uint64_t reduced, class In, class Out>
inline void assign_integer_mean(In in, Out out) {
  using Sum = std::conditional_t<std::is_signed_v<typename In::element>, std::int64_t, std::uint64_t>;
  static constexpr auto loops = reduction_loops<reduced, false, In, Out>();
  for_each_offset<2>(loops.kept, loops.kept_strides, [&](const auto& at) {
    std::uint64_t sum = 0;
    for_each_offset<2>(loops.reduced, loops.reduced_strides,
                       [&](const auto& row) { sum += static_cast<std::uint64_t>(in.data[at[0] + row[0]]); });
    out.data[at[1]] = static_cast<typename Out::element>(static_cast<Sum>(sum) / static_cast<Sum>(loops.reduced.nelms()));
  });
}

}  // namespace tilewright
