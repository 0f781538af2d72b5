#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/array/array.hpp"
#include "tilewright/kernel/reduce/rules.hpp"

namespace tilewright::kernel {

/// An expression E reduced over the axes of `mask`, counted from the first.
template <class Rule, std::uint64_t mask, bool keeps, class E>
struct ReducedSpace {
  using Node = ArrayNodeOf<E>;
  using T = typename Node::type;
  static constexpr Shape from = Node::shape;
  static constexpr bool is_reduced(int axis) { return (mask >> (from.rank + axis) & 1) != 0; }
  static constexpr Shape shape = [] {
    Shape result;
    for (int axis = -from.rank; axis < 0; ++axis)
      if (!is_reduced(axis)) result.push_back(from[axis]);
      else if (keeps) result.push_back(1);
    return result;
  }();
  static constexpr std::int64_t terms = from.nelms() / (std::max)(shape.nelms(), std::int64_t{1});
  /// Returns the axis of E that becomes an axis of the result.
  static constexpr int axis_of(int result_axis) {
    if (keeps) return result_axis;
    int axis = -1;
    for (int left = -result_axis;; --axis)
      if (!is_reduced(axis) && --left == 0) return axis;
  }
  static constexpr bool is_one(int axis) { return -axis > shape.rank || shape[axis] == 1; }
  /// Returns the index in E of the first element that is reduced to the result at `at`.
  static constexpr ArrayIndex index_of(const ArrayIndex& at) {
    ArrayIndex index;
    for (int axis = -1, result_axis = -1; axis >= -from.rank; --axis) {
      if (!is_reduced(axis)) index[axis] = at[result_axis];
      if (keeps || !is_reduced(axis)) --result_axis;
    }
    return index;
  }
};

template <class Rule, std::uint64_t mask, bool keeps, class E>
class ReducedArray;

}  // namespace tilewright::kernel

namespace xt {
template <class Rule, std::uint64_t mask, bool keeps, class E>
struct xcontainer_inner_types<tilewright::kernel::ReducedArray<Rule, mask, keeps, E>>
    : tilewright::kernel::ArrayTypes<tilewright::kernel::ReducedArray<Rule, mask, keeps, E>,
                                     typename tilewright::kernel::ReducedSpace<Rule, mask, keeps, E>::T,
                                     tilewright::kernel::ReducedSpace<Rule, mask, keeps, E>> {};
template <class Rule, std::uint64_t mask, bool keeps, class E>
struct xiterable_inner_types<tilewright::kernel::ReducedArray<Rule, mask, keeps, E>>
    : xcontainer_inner_types<tilewright::kernel::ReducedArray<Rule, mask, keeps, E>> {};
}  // namespace xt

namespace tilewright::kernel {

/// The expression. E is a type or a reference to one.
template <class Rule, std::uint64_t mask, bool keeps, class E>
class ReducedArray : public ArrayExpression<ReducedArray<Rule, mask, keeps, E>> {
 public:
  using Space = ReducedSpace<Rule, mask, keeps, E>;
  using Kernel = Reduce<mask, std::remove_cvref_t<E>>;
  using T = typename Space::T;

  explicit ReducedArray(E e) : e_(std::forward<E>(e)) {}
  T element_at(const ArrayIndex& at) const { return reduce(Space::index_of(at)); }

  /// Returns the results along an axis of the result.
  template <int result_axis, class V>
  auto row(const ArrayIndex& at) const {
    const ArrayIndex index = Space::index_of(at);
    if constexpr (Space::is_one(result_axis)) {
      return ConstantRow<std::conditional_t<std::is_same_v<V, OneByOne>, T, V>>{reduce(index)};
    } else {
      constexpr int axis = Space::axis_of(result_axis);
      auto elements = [this, index](auto count, std::int64_t k) {
        ArrayIndex moved = index;
        moved[axis] += k;
        if constexpr (is_one_by_one<V>) {
          return this->reduce(moved);
        } else {
          alignas(V) T values[V::size]{};
          if constexpr (Kernel::columns && axis == Kernel::column_axis) {
            typename Kernel::template C<Rule> totals[V::size];
            Kernel::template results<Rule, count()>(e_, moved, totals);
            std::copy_n(totals, count(), values);
          } else {
            for (std::int64_t i = 0; i < count; ++i, ++moved[axis]) values[i] = this->reduce(moved);
          }
          return V::load_aligned(values);
        }
      };
      return FunctionRow<decltype(elements)>{elements};
    }
  }
  /// Writes the results to a view of their shape.
  template <class Out>
  void assign_to(Out out) const {
    Kernel::template run<Rule>(e_, out);
  }
  /// Returns the bytes of assign_to's arrays on the stack.
  template <class Out>
  static constexpr std::int64_t stack_bytes() {
    return Kernel::template stack_bytes<Rule, Out>();
  }

 private:
  /// Returns the reduction of all elements from `index` on along the reduced axes.
  T reduce(const ArrayIndex& index) const { return static_cast<T>(Kernel::template result<Rule>(e_, index)); }

  E e_;
};

template <class Rule, std::uint64_t mask, bool keeps, class E>
struct ArrayNode<ReducedArray<Rule, mask, keeps, E>> {
  using Space = ReducedSpace<Rule, mask, keeps, E>;
  static constexpr bool is_array = Space::Node::is_array, is_reduction = true;
  static constexpr Shape shape = Space::shape;
  using type = typename Space::T;
  /// Results are not in memory: they are not contiguous, and axes cannot be merged.
  static constexpr auto steps = [] {
    ArraySteps<1> result{};
    for (int axis = -shape.rank; axis < 0; ++axis)
      result[0][static_cast<std::size_t>(max_rank + axis)] = Space::is_one(axis) ? 0 : 3;
    return result;
  }();
  static constexpr bool same_as_numbers = true;
  template <int axis, class V>
  static auto row(const ReducedArray<Rule, mask, keeps, E>& e, const ArrayIndex& at) {
    return e.template row<axis, V>(at);
  }
};

}  // namespace tilewright::kernel
