#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/array/array.hpp"

namespace tilewright {

namespace detail {

/// How elements are reduced: `start` is the reduction of none. Sums of floating point are added up in blocks of
/// terms_of_accumulator for each accumulator, and the blocks in float64.
struct ArraySum {
  static constexpr bool adds_up = true;
  template <class T>
  static constexpr T start = 0;
  template <class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x) {
    return math::add(a, x);
  }
};
/// The largest or smallest; NaN if there is one.
template <bool largest>
struct ArrayExtreme {
  static constexpr bool adds_up = false;
  template <class T>
  static constexpr T start = std::numeric_limits<T>::has_infinity
                                 ? (largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity())
                                 : (largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
  template <class X>
  [[gnu::always_inline]] static X combine(const X& a, const X& x) {
    // not x != x, which xsimd 8.1 finds false for NaN with AVX-512
    if constexpr (largest) return math::select((x > a) | !(x == x), x, a);
    else return math::select((x < a) | !(x == x), x, a);
  }
};

/// A row of an expression, as `line_sum` takes lines.
template <class T, class Row>
struct RowLine {
  using Compute = T;
  using Batch = xsimd::batch<T>;
  static constexpr auto width = static_cast<std::int64_t>(Batch::size);
  const Row& row;
  template <std::int64_t count = width>
  [[gnu::always_inline]] Batch load(std::int64_t k) const {
    return Batch(row.template load<count>(k));
  }
};

/// An expression E reduced over the axes of `mask`, counted from the first.
template <class Rule, std::uint64_t mask, bool keeps, class E>
struct ReducedSpace {
  using Node = ArrayNodeOf<E>;
  using T = typename Node::type;
  using Batch = xsimd::batch<T>;
  static constexpr auto width = static_cast<std::int64_t>(Batch::size);
  static constexpr Shape from = Node::shape;
  static constexpr bool is_reduced(int axis) { return (mask >> (axis < 0 ? from.rank + axis : axis) & 1) != 0; }
  static constexpr Shape shape = [] {
    Shape result;
    for (int axis = 0; axis < from.rank; ++axis)
      if (!is_reduced(axis)) result.push_back(from[axis]);
      else if (keeps) result.push_back(1);
    return result;
  }();
  /// The axis of E that an axis of the result is.
  static constexpr int axis_of(int result_axis) {
    if (keeps) return result_axis;
    int axis = -1;
    for (int left = -result_axis;; --axis)
      if (!is_reduced(axis) && --left == 0) return axis;
  }
  /// The reduced axis whose elements are reduced as vectors: the last along which they are contiguous, else the last.
  static constexpr int along = [] {
    int last = 0;
    for (int axis = -from.rank; axis < 0; ++axis)
      if (is_reduced(axis) && (last == 0 || from[axis] > 1)) last = axis;
    for (int axis = -1; axis >= -from.rank; --axis)
      if (is_reduced(axis) && from[axis] > 1 && Node::is_contiguous(axis) && !Node::is_constant(axis)) return axis;
    return last;
  }();
  static constexpr bool is_contiguous = along != 0 && Node::is_contiguous(along) && !Node::is_constant(along);
  /// How many of the last axes are reduced as one with `along`.
  static constexpr int run_axes = [] {
    int axes = 0;
    for (int n = 1; n <= from.rank && is_reduced(-n); ++n)
      if (Node::is_run(n, from)) axes = n;
    return -axes <= along ? axes : 0;
  }();
  static constexpr bool is_in_run(int axis) { return axis == along || -axis <= run_axes; }
  static constexpr std::int64_t run = [] {
    std::int64_t count = 1;
    for (int axis = -from.rank; axis < 0; ++axis)
      if (is_in_run(axis)) count *= from[axis];
    return count;
  }();
  static constexpr std::int64_t terms = [] {
    std::int64_t count = 1;
    for (int axis = -from.rank; axis < 0; ++axis)
      if (is_reduced(axis)) count *= from[axis];
    return count;
  }();
  static constexpr bool in_float64 = Rule::adds_up && std::is_floating_point_v<T>;
  static constexpr bool is_constant(int axis) { return -axis > shape.rank || shape[axis] == 1; }

  /// The index in E of a result's.
  static constexpr ArrayIndex index_of(const ArrayIndex& at) {
    ArrayIndex index;
    if constexpr (keeps) {
      for (int axis = -from.rank; axis < 0; ++axis)
        if (!is_reduced(axis)) index[axis] = at[axis];
    } else {
      int result_axis = -1;
      for (int axis = -1; axis >= -from.rank; --axis)
        if (!is_reduced(axis)) index[axis] = at[result_axis--];
    }
    return index;
  }
  /// Calls f(index) for each index of the reduced axes but those of the run.
  template <class F>
  static void for_each_run(ArrayIndex at, F&& f) {
    for (;;) {
      f(at);
      int moved = -1;
      for (; moved >= -from.rank; --moved) {
        if (is_in_run(moved) || !is_reduced(moved)) continue;
        if (++at[moved] < from[moved]) break;
        at[moved] = 0;
      }
      if (moved < -from.rank) return;
    }
  }

  /// The reduction of a vector's elements.
  static T reduce_lanes(const Batch& x) {
    if constexpr (in_float64) return math::sum(x);
    alignas(Batch) T elements[static_cast<std::size_t>(width)];
    x.store_aligned(elements);
    for (std::int64_t half = width / 2; half > 0; half /= 2)
      for (std::int64_t i = 0; i < half; ++i) elements[i] = Rule::combine(elements[i], elements[i + half]);
    return elements[0];
  }
  /// The reduction of a run.
  template <class Row>
  static T reduce_run(const Row& row) {
    if constexpr (in_float64) {
      return line_sum<run>([](const auto& x) { return x; }, RowLine<T, Row>{row});
    } else {
      constexpr std::int64_t count = 4, chunk = count * width;
      Batch partial[count];
      for (Batch& p : partial) p = Batch(Rule::template start<T>);
      std::int64_t k = 0;
      for (; k + chunk <= run; k += chunk)
        for (std::int64_t i = 0; i < count; ++i)
          partial[i] = Rule::combine(partial[i], Batch(row.template load<width>(k + i * width)));
      for (std::int64_t i = 0; i < run % chunk / width; ++i, k += width)
        partial[i] = Rule::combine(partial[i], Batch(row.template load<width>(k)));
      if constexpr (constexpr std::int64_t rest = run % width; rest != 0)
        partial[count - 1] = Rule::combine(partial[count - 1],
                                           first_elements<rest>(Batch(row.template load<rest>(k)), Rule::template start<T>));
      return reduce_lanes(Rule::combine(Rule::combine(partial[0], partial[1]), Rule::combine(partial[2], partial[3])));
    }
  }
};

template <class Rule, std::uint64_t mask, bool keeps, class E>
class ReducedArray;
}  // namespace detail

}  // namespace tilewright

namespace xt {
template <class Rule, std::uint64_t mask, bool keeps, class E>
struct xcontainer_inner_types<tilewright::detail::ReducedArray<Rule, mask, keeps, E>>
    : tilewright::detail::ArrayTypes<tilewright::detail::ReducedArray<Rule, mask, keeps, E>,
                                     typename tilewright::detail::ReducedSpace<Rule, mask, keeps, E>::T,
                                     tilewright::detail::ReducedSpace<Rule, mask, keeps, E>> {};
template <class Rule, std::uint64_t mask, bool keeps, class E>
struct xiterable_inner_types<tilewright::detail::ReducedArray<Rule, mask, keeps, E>>
    : xcontainer_inner_types<tilewright::detail::ReducedArray<Rule, mask, keeps, E>> {};
}  // namespace xt

namespace tilewright {

namespace detail {

/// The expression. E is a type or a reference to one.
template <class Rule, std::uint64_t mask, bool keeps, class E>
class ReducedArray : public ArrayExpression<ReducedArray<Rule, mask, keeps, E>> {
 public:
  using Space = ReducedSpace<Rule, mask, keeps, E>;
  using Node = typename Space::Node;
  using T = typename Space::T;
  using Batch = typename Space::Batch;

  explicit ReducedArray(E e) : e_(std::forward<E>(e)) {}
  T element_at(const ArrayIndex& at) const { return reduce(Space::index_of(at)); }

  /// The reduction of all elements from `index` on along the reduced axes.
  T reduce(const ArrayIndex& index) const {
    if constexpr (Space::along == 0) {
      return Node::template row<-1, Batch>(e_, index).template load<1>(0).get(0);
    } else {
      std::conditional_t<Space::in_float64, double, T> total = Rule::template start<T>;
      Space::for_each_run(index, [&](const ArrayIndex& at) {
        const T of_run = Space::reduce_run(Node::template row<Space::along, Batch>(e_, at));
        if constexpr (Space::in_float64) total += static_cast<double>(of_run);
        else total = Rule::combine(total, of_run);
      });
      return static_cast<T>(total);
    }
  }

  /// The same of neighbours along a kept axis of E, `count` of them in a vector.
  template <int axis, std::int64_t count>
  Batch reduce_neighbours(ArrayIndex index) const {
    constexpr std::int64_t sums = 4;
    Batch partial[sums];
    const auto clear = [&] {
      for (Batch& p : partial) p = Batch(Rule::template start<T>);
    };
    const auto joined = [&] {
      return Rule::combine(Rule::combine(partial[0], partial[1]), Rule::combine(partial[2], partial[3]));
    };
    constexpr bool in_parts = Space::in_float64 && Space::terms > sums * terms_of_accumulator;
    [[maybe_unused]] double totals[static_cast<std::size_t>(in_parts ? Space::width : 1)]{};
    [[maybe_unused]] const auto empty = [&] {
      alignas(Batch) T elements[static_cast<std::size_t>(Space::width)];
      joined().store_aligned(elements);
      for (std::int64_t i = 0; i < Space::width; ++i) totals[i] += static_cast<double>(elements[i]);
      clear();
    };
    clear();
    std::int64_t term = 0;
    Space::for_each_run(index, [&](ArrayIndex at) {
      for (std::int64_t i = 0; i < Space::run; ++i, ++term) {
        at[Space::along] = i;
        Batch& sum = partial[term % sums];
        sum = Rule::combine(sum, Batch(Node::template row<axis, Batch>(e_, at).template load<count>(0)));
        if constexpr (in_parts)
          if (term % (sums * terms_of_accumulator) == sums * terms_of_accumulator - 1) empty();
      }
    });
    if constexpr (in_parts) {
      empty();
      alignas(Batch) T elements[static_cast<std::size_t>(Space::width)];
      for (std::int64_t i = 0; i < Space::width; ++i) elements[i] = static_cast<T>(totals[i]);
      return Batch::load_aligned(elements);
    } else {
      return joined();
    }
  }

  /// The results along an axis of the result.
  template <int result_axis, class V>
  auto row(const ArrayIndex& at) const {
    const ArrayIndex index = Space::index_of(at);
    if constexpr (std::is_same_v<V, OneByOne>) {
      auto element = [this, index](auto, std::int64_t k) {
        ArrayIndex moved = index;
        if constexpr (!Space::is_constant(result_axis)) moved[Space::axis_of(result_axis)] = k;
        return this->reduce(moved);
      };
      return FunctionRow<decltype(element)>{element};
    } else if constexpr (Space::is_constant(result_axis)) {
      return ConstantRow<V>{reduce(index)};
    } else {
      constexpr int axis = Space::axis_of(result_axis);
      auto elements = [this, index](auto count, std::int64_t k) {
        ArrayIndex moved = index;
        moved[axis] += k;
        if constexpr (Space::is_contiguous || Space::along == 0) {
          alignas(Batch) T values[static_cast<std::size_t>(Space::width)]{};
          for (std::int64_t i = 0; i < count; ++i, ++moved[axis]) values[i] = this->reduce(moved);
          return Batch::load_aligned(values);
        } else {
          return this->template reduce_neighbours<axis, count()>(moved);
        }
      };
      return FunctionRow<decltype(elements)>{elements};
    }
  }

 private:
  E e_;
};

template <class Rule, std::uint64_t mask, bool keeps, class E>
struct ArrayNode<ReducedArray<Rule, mask, keeps, E>> {
  using Space = ReducedSpace<Rule, mask, keeps, E>;
  static constexpr bool is_array = Space::Node::is_array;
  static constexpr Shape shape = Space::shape;
  using type = typename Space::T;
  static constexpr bool is_constant(int axis) { return Space::is_constant(axis); }
  static constexpr bool is_contiguous(int axis) { return Space::is_constant(axis); }
  static constexpr bool is_run(int axes, const Shape& all) {
    for (int axis = -1; axis >= -axes; --axis)
      if (all[axis] > 1 && !is_constant(axis)) return false;
    return true;
  }
  template <int axis, class V>
  static auto row(const ReducedArray<Rule, mask, keeps, E>& e, const ArrayIndex& at) {
    return e.template row<axis, V>(at);
  }
};

}  // namespace detail

}  // namespace tilewright
