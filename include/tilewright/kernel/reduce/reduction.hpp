#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/array/rows.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// The axes of an input, with kept and reduced ones separate, and the strides of all operands along them. Axes of extent 1 are
/// omitted, and mergeable ones are merged. The kept axes are in the order of the input's memory. The reduced axes are in this
/// order too, unless their order matters.
template <int operands>
struct ReductionLoops {
  using Strides = std::array<std::array<std::int64_t, max_rank>, std::size_t(operands)>;
  Shape kept{}, reduced{};
  Strides kept_strides{}, reduced_strides{};
  /// For each merged axis its last one, counted from the last axis of the input
  std::array<int, max_rank> kept_axes{}, reduced_axes{};

  /// `views` have one rank; an operand without an axis has stride 0 there.
  constexpr ReductionLoops(const Shape& shape, std::uint64_t reduced_bits, const Strides& strides, bool in_order) {
    for (int axis = 0; axis < shape.rank; ++axis) {
      if (shape[axis] == 1) continue;
      const bool is_reduced = (reduced_bits >> axis & 1) != 0;
      if (is_reduced) add(reduced, reduced_strides, reduced_axes, shape, strides, axis, in_order);
      else add(kept, kept_strides, kept_axes, shape, strides, axis, false);
    }
    merge(kept, kept_strides, kept_axes);
    merge(reduced, reduced_strides, reduced_axes);
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
  static constexpr void add(Shape& axes, Strides& to, std::array<int, max_rank>& numbers, const Shape& shape,
                            const Strides& strides, int axis, bool last) {
    const auto a = static_cast<std::size_t>(axis);
    int at = axes.rank;
    while (!last && at > 0 && to[0][static_cast<std::size_t>(at - 1)] < strides[0][a]) --at;
    axes.push_back(shape[axis]);
    for (int i = axes.rank - 1; i > at; --i) {
      axes[i] = axes[i - 1];
      numbers[static_cast<std::size_t>(i)] = numbers[static_cast<std::size_t>(i - 1)];
    }
    axes[at] = shape[axis];
    numbers[static_cast<std::size_t>(at)] = axis - shape.rank;
    for (std::size_t o = 0; o < operands; ++o) {
      for (int i = axes.rank - 1; i > at; --i) to[o][static_cast<std::size_t>(i)] = to[o][static_cast<std::size_t>(i - 1)];
      to[o][static_cast<std::size_t>(at)] = strides[o][a];
    }
  }
  static constexpr void merge(Shape& axes, Strides& strides, std::array<int, max_rank>& numbers) {
    for (int axis = axes.rank - 2; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      bool fits = true;
      for (std::size_t o = 0; o < operands; ++o) fits = fits && strides[o][a] == strides[o][a + 1] * axes[axis + 1];
      if (!fits) continue;
      axes[axis] *= axes[axis + 1];
      for (std::size_t o = 0; o < operands; ++o) strides[o][a] = strides[o][a + 1];
      numbers[a] = numbers[a + 1];
      for (int i = axis + 1; i + 1 < axes.rank; ++i) {
        axes[i] = axes[i + 1];
        numbers[static_cast<std::size_t>(i)] = numbers[static_cast<std::size_t>(i + 1)];
        for (std::size_t o = 0; o < operands; ++o)
          strides[o][static_cast<std::size_t>(i)] = strides[o][static_cast<std::size_t>(i + 1)];
      }
      axes = without_last(axes);
    }
  }
};

/// Returns a view's strides along the axes of an input of `shape`. The view has all of them, or all except those that are
/// `reduced`.
constexpr std::array<std::int64_t, max_rank> strides_along(const ViewSpec& view, const Shape& shape, std::uint64_t reduced) {
  std::array<std::int64_t, max_rank> result{};
  int from = 0;
  for (int axis = 0; axis < shape.rank; ++axis) {
    const bool has_axis = view.shape.rank == shape.rank || (reduced >> axis & 1) == 0;
    const bool moves = has_axis && view.shape[from] == shape[axis];
    result[static_cast<std::size_t>(axis)] = moves ? view.stride(from) : 0;
    from += has_axis;
  }
  return result;
}
/// Returns the loops of an input of shape V0 and operands that have its axes, or all except the reduced ones.
template <std::uint64_t reduced, bool in_order, class V0, class... V>
constexpr auto reduction_loops() {
  return ReductionLoops<1 + sizeof...(V)>(
      V0::shape, reduced, {strides_along(V0::spec, V0::shape, reduced), strides_along(V::spec, V0::shape, reduced)...}, in_order);
}

template <class T>
struct WrappingOf : std::type_identity<T> {};
template <class T>
  requires std::is_integral_v<T>
struct WrappingOf<T> : std::make_unsigned<T> {};
/// The type in which sums and products of elements wrap around without undefined behaviour.
template <class T>
using wrapping_t = typename WrappingOf<wide_t<T>>::type;

/// Number of columns that a kernel reduces together: their accumulators, 4 to 8 KiB, stay in the first-level cache while rows are
/// streamed.
inline constexpr std::int64_t columns_at_once = 1024;
/// Returns the bytes of the arrays of a kernel that reduces `extent` columns and has numbers of these types for each of them.
template <class... T>
constexpr std::int64_t column_stack_bytes(std::int64_t extent) {
  return (std::min)(extent, columns_at_once) * (static_cast<std::int64_t>(sizeof(T)) + ...);
}

/// A reduction of an expression by rules. A rule R has, for elements of type T,
///  - `Compute<T>`: the type in which it computes, of T's size;
///  - `start<T>()`: the reduction of nothing;
///  - `combine(a, x, context)`: the reduction a with one more element x; numbers or packs;
///  - `merge(a, b)`: one reduction of two;
///  - `adds_up`: whether it is a sum. Its accumulators hold terms_of_accumulator terms, and are then moved to float64;
///  - `First`: void, or the rule of a reduction that is computed first; `context(reduction)` is the context for this one;
///  - `finish(total, context, for_each)`: the result; for_each(f) calls f for each element.
template <std::uint64_t reduced, class E>
struct Reduce {
  using Node = ArrayNodeOf<E>;
  using T = typename Node::type;
  using Index = ArrayIndex;
  /// The loops of the reduction. They have the largest stride of all arrays of the expression, then the strides of each array,
  /// and of an output if there is one.
  template <class... Out>
  static constexpr auto loops_to = [] {
    constexpr std::size_t arrays = Node::steps.size();
    typename ReductionLoops<1 + arrays + sizeof...(Out)>::Strides strides{};
    for (int axis = 0; axis < Node::shape.rank; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      for (std::size_t array = 0; array < arrays; ++array) {
        const std::int64_t step = Node::steps[array][static_cast<std::size_t>(max_rank - Node::shape.rank) + a];
        strides[0][a] = array == 0 ? step : (std::max)(strides[0][a], step);
        strides[1 + array][a] = step;
      }
    }
    ((strides.back() = strides_along(Out::spec, Node::shape, reduced)), ...);
    return ReductionLoops<1 + arrays + sizeof...(Out)>(Node::shape, reduced, strides, false);
  }();
  static constexpr auto loops = loops_to<>;
  static constexpr bool rows = loops.has_contiguous_rows();
  static constexpr bool columns = !rows && loops.has_contiguous_columns();
  static constexpr int reduced_axis = loops.reduced.rank > 0 ? loops.reduced_axes[std::size_t(loops.reduced.rank - 1)] : -1;
  static constexpr int column_axis = columns ? loops.kept_axes[std::size_t(loops.kept.rank - 1)] : -1;
  template <class R>
  using C = typename R::template Compute<T>;

  /// Whether a rule's accumulators are moved to float64: there are more terms than they can hold.
  template <class R>
  static constexpr bool in_parts = R::adds_up && std::is_floating_point_v<C<R>> && (loops.reduced.nelms() > terms_of_accumulator);

  /// Calls f(numbers, count) for each run of elements along the last reduced axis, from the index `first` on. `numbers` gives the
  /// elements of the run, and `count` is their number.
  template <class F>
  static void for_each_run(const E& e, const Index& first, F&& f) {
    static constexpr Shape outer = loops.without_last(loops.reduced);
    for_each_index(outer, loops.reduced_axes, first,
                   [&](const Index& at) { f(numbers<reduced_axis>(e, at), loops.reduced.rank > 0 ? loops.reduced[-1] : 1); });
  }

  /// Returns the reduction of the elements of one result, from the index `first` on, before `finish` is applied.
  template <class R>
  static C<R> line(const E& e, const Index& first, C<R> context) {
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
      for_each_index(outer, loops.reduced_axes, first, [&](const Index& at) {
        const auto row = Node::template row<reduced_axis, Batch>(e, at);
        const auto add_up_to = [&](std::int64_t& i, std::int64_t end) {
          for (; i + chunk <= end; i += chunk)
            for (std::int64_t k = 0; k < 4; ++k) sums[k] = R::combine(sums[k], load<P>(row, i + k * width), contexts);
        };
        std::int64_t i = 0;
        if constexpr (in_parts<R>)
          if (terms > 0 && terms + (run >= at_once ? terms_of_accumulator : rest_terms) > terms_of_accumulator) empty();
        if constexpr (in_parts<R> && run >= at_once) {
          while (i + at_once <= run) {
            add_up_to(i, i + at_once);
            empty();
          }
        }
        add_up_to(i, run);
        if constexpr (run % chunk >= width)
          for (; i + width <= run; i += width) sums[0] = R::combine(sums[0], load<P>(row, i), contexts);
        if constexpr (run % width != 0) {
          const auto rest = numbers<reduced_axis>(e, at);
          for (i = run / width * width; i < run; ++i) total = R::combine(total, number<R>(rest, i), context);
        }
        terms += rest_terms;
      });
      merge_sums();
    } else {
      for_each_run(e, first, [&](const auto& run, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) {
          total = R::combine(total, number<R>(run, k), context);
          if constexpr (in_parts<R>)
            if (++terms == terms_of_accumulator) {
              emptied += static_cast<double>(std::exchange(total, R::template start<T>()));
              terms = 0;
            }
        }
      });
    }
    if constexpr (in_parts<R>) return static_cast<C<R>>(emptied + static_cast<double>(total));
    return total;
  }
  /// Reduces `count` neighbouring columns. `contexts`: the contexts of the columns, or nullptr for rules without a context.
  template <class R, std::int64_t count, class Contexts>
  static void block(const E& e, const Index& first, Contexts contexts, C<R>* totals) {
    constexpr std::int64_t width = pack_size<C<R>>;
    using P = Pack<C<R>>;
    std::fill_n(totals, count, R::template start<T>());
    [[maybe_unused]] double emptied[static_cast<std::size_t>(in_parts<R> ? count : 1)]{};
    [[maybe_unused]] std::int64_t terms = 0;
    const auto add_row = [=](const E& from, const Index& at) {
      const auto row = Node::template row<column_axis, Batch>(from, at);
      for (std::int64_t i = 0; i + width <= count; i += width) {
        P context{};
        if constexpr (!std::is_null_pointer_v<Contexts>) context = load_pack(contexts + i);
        const P x = load<P>(row, i);
        store_pack(totals + i, R::combine(load_pack(totals + i), x, context));
      }
      if constexpr (count % width != 0) {
        const auto rest = numbers<column_axis>(from, at);
        for (std::int64_t i = count / width * width; i < count; ++i) {
          C<R> context{};
          if constexpr (!std::is_null_pointer_v<Contexts>) context = contexts[i];
          totals[i] = R::combine(totals[i], number<R>(rest, i), context);
        }
      }
    };
    for_each_index(loops.reduced, loops.reduced_axes, first, [&](const Index& at) {
      if constexpr (sizeof(C<R>) * std::size_t(count) >= (in_parts<R> ? 1024 : 4096)) apart(add_row, e, at);
      else add_row(e, at);
      if constexpr (in_parts<R>)
        if (++terms == terms_of_accumulator) {
          for (std::int64_t i = 0; i < count; ++i)
            emptied[i] += static_cast<double>(std::exchange(totals[i], R::template start<T>()));
          terms = 0;
        }
    });
    if constexpr (in_parts<R>)
      for (std::int64_t i = 0; i < count; ++i) totals[i] = static_cast<C<R>>(emptied[i] + static_cast<double>(totals[i]));
  }

  /// Return a rule's result from the index `first` on, and the results of `count` neighbouring columns.
  template <class R>
  static C<R> result(const E& e, const Index& first) {
    C<R> context{};
    if constexpr (!std::is_void_v<typename R::First>) context = R::context(line<typename R::First>(e, first, context));
    return finished<R>(e, first, line<R>(e, first, context), context);
  }
  template <class R, std::int64_t count>
  static void results(const E& e, const Index& first, C<R>* totals) {
    const auto finish = [&](const auto& context) {
      Index at = first;
      for (std::int64_t i = 0; i < count; ++i, ++at[column_axis]) totals[i] = finished<R>(e, at, totals[i], context(i));
    };
    if constexpr (std::is_void_v<typename R::First>) {
      block<R, count>(e, first, nullptr, totals);
      finish([](std::int64_t) { return C<R>{}; });
    } else {
      alignas(64) C<R> contexts[std::size_t(count)];
      block<typename R::First, count>(e, first, nullptr, contexts);
      for (C<R>& context : contexts) context = R::context(context);
      block<R, count>(e, first, contexts, totals);
      finish([&](std::int64_t i) { return contexts[i]; });
    }
  }

  /// Calls of_line(index) for each result, which returns its value; or of_block(index, count, results) for neighbouring ones,
  /// with a constant count.
  template <class Value, class Out, class OfLine, class OfBlock>
  static void for_each_result(Out out, OfLine&& of_line, OfBlock&& of_block) {
    using O = typename Out::element;
    static constexpr auto to = loops_to<Out>;
    const auto first = [&](const Index& at) {
      O* result = out.data;
      for (std::size_t axis = 0; axis < std::size_t(to.kept.rank); ++axis)
        result += at[to.kept_axes[axis]] * to.kept_strides.back()[axis];
      return result;
    };
    if constexpr (columns) {
      constexpr std::int64_t extent = to.kept[-1], step = to.kept_strides.back()[std::size_t(to.kept.rank - 1)];
      static constexpr Shape outer = to.without_last(to.kept);
      alignas(64) Value values[(std::min)(extent, columns_at_once)];
      for_each_index(outer, to.kept_axes, Index(), [&](Index at) {
        for_each_batch<extent, columns_at_once>([&](std::int64_t j, auto count) {
          at[column_axis] = j;
          of_block(at, count, values);
          O* const results = first(at);
          if constexpr (std::is_same_v<Value, wide_t<O>>) {
            store_wide<step>(values, count, results);
          } else {
            for (std::int64_t i = 0; i < count; ++i) results[i * step] = static_cast<O>(values[i]);
          }
        });
      });
    } else {
      for_each_index(to.kept, to.kept_axes, Index(), [&](const Index& at) { *first(at) = static_cast<O>(of_line(at)); });
    }
  }
  /// Returns the bytes of arrays on the stack of run: for each column the result, the context if the rule has one, and a float64
  /// to which accumulators are moved.
  template <class R, class Out>
  static constexpr std::int64_t stack_bytes() {
    if constexpr (!columns) {
      return 0;
    } else {
      constexpr std::int64_t extent = loops_to<Out>.kept[-1];
      constexpr bool moves = in_parts<R>;
      std::int64_t bytes = column_stack_bytes<C<R>>(extent);
      if constexpr (!std::is_void_v<typename R::First>) bytes += column_stack_bytes<C<R>>(extent);
      return moves ? bytes + column_stack_bytes<double>(extent) : bytes;
    }
  }
  template <class R, class Out>
  static void run(const E& e, Out out) {
    for_each_result<C<R>>(
        out, [&](const Index& at) { return result<R>(e, at); },
        [&](const Index& at, auto count, C<R>* totals) { results<R, count()>(e, at, totals); });
  }

 private:
  using Batch = simd::batch<T>;
  /// Returns the elements along an axis as numbers. If elements of vectors have other bits, they are extracted from vectors.
  template <int axis>
  static auto numbers(const E& e, const Index& at) {
    if constexpr (Node::same_as_numbers) {
      return Node::template row<axis, T>(e, at);
    } else {
      const auto one = [row = Node::template row<axis, Batch>(e, at)](auto, std::int64_t k) {
        return Batch(row.template load<1>(k)).get(0);
      };
      return FunctionRow<std::remove_const_t<decltype(one)>>{one};
    }
  }
  template <class R, class Row>
  [[gnu::always_inline]] static C<R> number(const Row& row, std::int64_t k) {
    return static_cast<C<R>>(row.template load<1>(k));
  }
  /// Makes a call that is not inlined. Next to another call, in which accumulators are cleared, constants do not stay in
  /// registers; and rows of many columns, which come from memory, took up to 1.5 times as long inlined (measured with GCC 12,
  /// AVX-512).
  template <class F>
  [[gnu::noinline]] static void apart(const F& f, const E& e, const Index& at) {
    f(e, at);
  }
  template <class P, class Row>
  [[gnu::always_inline]] static P load(const Row& row, std::int64_t k) {
    return std::bit_cast<P>(Batch(row.template load<pack_size<T>>(k)));
  }
  template <class R>
  static C<R> finished(const E& e, const Index& first, C<R> total, C<R> context) {
    return R::finish(total, context, [&](auto&& f) {
      for_each_run(e, first, [&](const auto& run, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) f(number<R>(run, k));
      });
    });
  }
};

}  // namespace tilewright::kernel
