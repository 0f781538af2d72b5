#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/array/functions.hpp"
#include "tilewright/kernel/matmul/packs.hpp"
#include "tilewright/kernel/vector/line.hpp"

/// Rows of xtensor expressions whose shapes and strides are in their types. An array is computed from rows, batch by batch. Axes
/// are counted from the last, which is -1, so that broadcast operands have the same numbers.
namespace tilewright::kernel {

/// The index of an element: that of axis -1 is the last.
struct ArrayIndex {
  std::int64_t at[max_rank]{};
  constexpr std::int64_t operator[](int axis) const { return at[max_rank + axis]; }
  constexpr std::int64_t& operator[](int axis) { return at[max_rank + axis]; }
};

/// The type of the numbers that an array of elements of type T has: float for half precision, integers of 32 bits for smaller
/// ones.
template <class T>
using array_t = std::conditional_t<std::is_integral_v<T>, wide_t<T>, compute_t<T>>;

/// Elements of a tensor at equal steps, as batches of array_t<T>.
template <class T, std::int64_t step>
struct ArrayLine : Line<T, step> {};
template <class T, std::int64_t step>
  requires(!std::is_same_v<array_t<std::remove_const_t<T>>, compute_t<std::remove_const_t<T>>>)
struct ArrayLine<T, step> {
  using Number = array_t<std::remove_const_t<T>>;
  using Batch = simd::batch<Number>;
  static constexpr auto width = static_cast<std::int64_t>(Batch::size);
  T* data;
  template <std::int64_t count>
  Batch load(std::int64_t k) const {
    if constexpr (step == 1 && count == width) return std::bit_cast<Batch>(load_pack(data + k));
    alignas(Batch) Number elements[static_cast<std::size_t>(width)]{};
    for (std::int64_t i = 0; i < count; ++i) elements[i] = data[(k + i) * step];
    return Batch::load_aligned(elements);
  }
  template <std::int64_t count>
  void store(std::int64_t k, const Batch& batch) const {
    alignas(Batch) Number elements[static_cast<std::size_t>(width)];
    batch.store_aligned(elements);
    for (std::int64_t i = 0; i < count; ++i) data[(k + i) * step] = static_cast<T>(elements[i]);
  }
};

/// Calls f(index) for each index below `extents` along the axes with the numbers `axes`. Along other axes, the index is that of
/// `at`. `at` is 0 along `axes`.
template <class F>
inline void for_each_index(const Shape& extents, const std::array<int, max_rank>& axes, ArrayIndex at, F&& f) {
  for (;;) {
    f(std::as_const(at));
    int moved = extents.rank - 1;
    for (; moved >= 0; --moved) {
      std::int64_t& index = at[axes[static_cast<std::size_t>(moved)]];
      if (++index < extents[moved]) break;
      index = 0;
    }
    if (moved < 0) return;
  }
}

/// Placeholders for the type of arrays: AnyType for numbers, which take the type of arrays beside them; AnyFraction for
/// fractions, which require a floating-point type; and MixedTypes for arrays of several types.
struct AnyType {};
struct AnyFraction {};
struct MixedTypes {};
template <class T>
constexpr bool takes_fractions = std::is_floating_point_v<T> || std::is_same_v<T, AnyFraction>;
template <class A, class B>
using JoinedType = std::conditional_t<
    std::is_same_v<A, B> || std::is_same_v<B, AnyType> || (std::is_same_v<B, AnyFraction> && takes_fractions<A>), A,
    std::conditional_t<std::is_same_v<A, AnyType> || (std::is_same_v<A, AnyFraction> && takes_fractions<B>), B, MixedTypes>>;
template <class... T>
struct JoinedTypes : std::type_identity<AnyType> {};
template <class T, class... Rest>
struct JoinedTypes<T, Rest...> : std::type_identity<JoinedType<T, typename JoinedTypes<Rest...>::type>> {};

/// Properties of an expression E, as `ArrayNode<E>`:
///  - `shape`;
///  - `type`: the type in which its arrays are computed; or AnyType, AnyFraction or MixedTypes;
///  - `steps`: for each of its arrays, the distance of neighbours along each axis, or 0 if all elements along the axis are equal.
///    The last number is that of axis -1;
///  - `same_as_numbers`: whether an element of a vector has the bits that it would have as a number;
///  - `row<axis, V>(e, at)`: its elements along an axis from the index `at` on, as an object with `load<count>(k)`: `count`
///    elements from the k-th on, in a V, which is a vector; if V is a number or OneByOne, one element.
template <class E>
struct ArrayNode {
  static constexpr bool is_array = false;
};
template <class E>
using ArrayNodeOf = ArrayNode<std::remove_cvref_t<E>>;

/// Replaces a vector for mixed types: elements are computed one by one, each in its own type.
struct OneByOne {};
template <class V>
constexpr bool is_one_by_one = std::is_same_v<V, OneByOne> || std::is_arithmetic_v<V>;

/// Steps between the neighbours of `arrays` arrays along all axes.
template <std::size_t arrays>
using ArraySteps = std::array<std::array<std::int64_t, max_rank>, arrays>;

/// Returns whether an expression has equal elements along an axis.
template <class Node>
constexpr bool is_constant(int axis) {
  for (const auto& steps : Node::steps)
    if (steps[static_cast<std::size_t>(max_rank + axis)] != 0) return false;
  return true;
}
/// Returns whether all axes of `all`, to which an expression is broadcast, can be merged to one, along which elements of each of
/// its arrays are evenly spaced.
template <class Node>
constexpr bool is_run(const Shape& all) {
  for (const auto& steps : Node::steps) {
    std::int64_t expected = 0;
    bool is_first = true;
    for (int axis = -1; axis >= -all.rank; --axis) {
      if (all[axis] == 1) continue;
      const std::int64_t step = steps[static_cast<std::size_t>(max_rank + axis)];
      if (!is_first && step != expected) return false;
      expected = step * all[axis];
      is_first = false;
    }
  }
  return true;
}

template <class V>
struct ConstantRow {
  V value;
  template <std::int64_t>
  [[gnu::always_inline]] V load(std::int64_t) const {
    return value;
  }
};
template <class T, class A>
struct ConstantRow<simd::batch<T, A>> {
  T value;
  template <std::int64_t>
  [[gnu::always_inline]] simd::batch<T, A> load(std::int64_t) const {
    return simd::batch<T, A>(value);
  }
};
template <class T, std::int64_t step>
struct OneByOneRow {
  const T* data;
  template <std::int64_t>
  [[gnu::always_inline]] array_t<T> load(std::int64_t k) const {
    return static_cast<array_t<T>>(data[k * step]);
  }
};
template <class F>
struct FunctionRow {
  F function;
  template <std::int64_t count>
  [[gnu::always_inline]] auto load(std::int64_t k) const {
    return function(std::integral_constant<std::int64_t, count>(), k);
  }
};

/// Returns the axis along which a run of a tensor's axes is computed: the last one with several elements.
constexpr int run_axis(const Shape& shape) {
  for (int axis = -1; axis >= -shape.rank; --axis)
    if (shape[axis] > 1) return axis;
  return -1;
}

/// Returns the distance of a view's elements along an axis from which it may be broadcast.
constexpr std::int64_t stride_along(const ViewSpec& view, int axis) { return broadcast_stride(view, axis); }

/// The node of arrays in memory that have the shape and strides of a ViewSpec.
template <ViewSpec spec>
struct MemoryNode {
  static constexpr bool is_array = true;
  static constexpr Shape shape = spec.shape;
  using element = element_t<spec.dtype>;
  using type = array_t<element>;
  static constexpr auto steps = [] {
    ArraySteps<1> result{};
    for (int axis = -shape.rank; axis < 0; ++axis)
      result[0][static_cast<std::size_t>(max_rank + axis)] = stride_along(spec, axis);
    return result;
  }();
  static constexpr bool same_as_numbers = true;

  static constexpr std::int64_t offset(const ArrayIndex& at) {
    std::int64_t result = 0;
    for (int axis = -shape.rank; axis < 0; ++axis) result += at[axis] * stride_along(spec, axis);
    return result;
  }
  template <int axis, class V>
  static auto row_at(const element* data, const ArrayIndex& at) {
    constexpr std::int64_t step = stride_along(spec, axis);
    const element* const first = data + offset(at);
    if constexpr (is_one_by_one<V>) return OneByOneRow<element, step>{first};
    else if constexpr (step == 0) return ConstantRow<V>{static_cast<type>(*first)};
    else return ArrayLine<const element, step>{first};
  }
};
/// A view is an expression of its elements, too.
template <ViewSpec spec, bool is_input>
struct ArrayNode<View<spec, is_input>> : MemoryNode<spec> {
  template <int axis, class V, class E>
  static auto row(const E& e, const ArrayIndex& at) {
    return MemoryNode<spec>::template row_at<axis, V>(e.data, at);
  }
};

/// The shape to which all operands are broadcast; `fits` is false if there is none.
struct BroadcastShape {
  Shape shape;
  bool fits = true;
  constexpr void add(const Shape& other) {
    while (shape.rank < other.rank) {
      for (int axis = shape.rank++; axis > 0; --axis) shape.extents[axis] = shape.extents[axis - 1];
      shape.extents[0] = 1;
    }
    for (int axis = -other.rank; axis < 0; ++axis) {
      if (shape[axis] == 1) shape[axis] = other[axis];
      else if (other[axis] != 1 && other[axis] != shape[axis]) fits = false;
    }
  }
};

template <class T>
struct ArrayNode<xt::xscalar<T>> {
  static constexpr bool is_array = true;
  static constexpr Shape shape{};
  using type = std::conditional_t<std::is_integral_v<std::decay_t<T>>, AnyType, AnyFraction>;
  static constexpr ArraySteps<0> steps{};
  static constexpr bool same_as_numbers = true;
  template <int, class V, class E>
  static auto row(const E& e, const ArrayIndex&) {
    if constexpr (std::is_same_v<V, OneByOne>) return ConstantRow<std::decay_t<T>>{e()};
    else if constexpr (std::is_arithmetic_v<V>) return ConstantRow<V>{math::number<V>(static_cast<double>(e()))};
    else return ConstantRow<V>{math::number<typename V::value_type>(static_cast<double>(e()))};
  }
};

template <class F, class... C>
struct ArrayNode<xt::xfunction<F, C...>> {
  static constexpr bool is_array = (ArrayNodeOf<C>::is_array && ...);
  static constexpr Shape shape = [] {
    BroadcastShape result;
    if constexpr (is_array) (result.add(ArrayNodeOf<C>::shape), ...);
    return result.shape;
  }();
  using type = typename JoinedTypes<typename ArrayNodeOf<C>::type...>::type;

  static constexpr auto steps = [] {
    ArraySteps<(ArrayNodeOf<C>::steps.size() + ...)> result{};
    std::size_t array = 0;
    const auto add = [&](const auto& of_argument) {
      for (const auto& one : of_argument) result[array++] = one;
    };
    (add(ArrayNodeOf<C>::steps), ...);
    return result;
  }();
  static constexpr bool same_as_numbers = is_exact<F, type> && (ArrayNodeOf<C>::same_as_numbers && ...);

  template <int axis, class V>
  static auto row(const xt::xfunction<F, C...>& e, const ArrayIndex& at) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto& arguments = e.arguments();
      auto function = [&f = e.functor(), rows = std::tuple(ArrayNodeOf<C>::template row<axis, V>(std::get<i>(arguments), at)...)](
                          auto count, std::int64_t k) {
        return array_function(f, std::get<i>(rows).template load<count()>(k)...);
      };
      if constexpr (is_constant<ArrayNode>(axis) && !is_one_by_one<V>) {
        const auto value = function(std::integral_constant<std::int64_t, 1>(), std::int64_t{0});
        if constexpr (std::is_same_v<decltype(value), const V>) return ConstantRow<V>{value.get(0)};
        else return ConstantRow<std::remove_const_t<decltype(value)>>{value};
      } else {
        return FunctionRow<decltype(function)>{function};
      }
    }(std::index_sequence_for<C...>());
  }
};

}  // namespace tilewright::kernel
