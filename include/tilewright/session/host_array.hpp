#pragma once
#include <array>
#include <concepts>
#include <cstring>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/execute/operand_address.hpp"
#include "tilewright/graph/op_info/layout.hpp"

namespace tilewright {

/// Returns a tensor's memory as an xtensor of static shape, without a copy.
template <DType dtype, Shape shape>
auto static_view(std::byte* data) {
  return [&]<std::size_t... axis>(std::index_sequence<axis...>) {
    return xt::adapt(reinterpret_cast<element_t<dtype>*>(data),
                     xt::fixed_shape<static_cast<std::size_t>(shape[static_cast<int>(axis)])...>());
  }(std::make_index_sequence<static_cast<std::size_t>(shape.rank)>{});
}

/// Returns a shape in the form for an xtensor of its rank.
template <Shape shape>
constexpr auto extents_of() {
  std::array<std::size_t, static_cast<std::size_t>(shape.rank)> extents{};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) extents[axis] = static_cast<std::size_t>(shape.extents[axis]);
  return extents;
}

/// Copies a tensor's memory to an xtensor of its rank.
template <DType dtype, Shape shape>
auto copy_of(const std::byte* data) {
  xt::xtensor<element_t<dtype>, static_cast<std::size_t>(shape.rank)> result(extents_of<shape>());
  std::memcpy(result.data(), data, static_cast<std::size_t>(TensorSpec{shape, dtype}.bytes()));
  return result;
}

namespace detail {

template <class T>
concept HostNumber = std::integral<T> || is_half_type<T> || std::same_as<T, float> || std::same_as<T, double> ||
                     std::same_as<T, float8_143_t> || std::same_as<T, float8_152_t>;
/// A built-in array of any number of axes, except a string literal.
template <class T>
concept BuiltInArray = std::is_bounded_array_v<T> && HostNumber<std::remove_cv_t<std::remove_all_extents_t<T>>> &&
                       !std::same_as<std::remove_cv_t<std::remove_all_extents_t<T>>, char>;
/// A range of numbers.
template <class T>
concept HostArray = BuiltInArray<std::remove_const_t<T>> || requires(const T& array) {
  { std::remove_cvref_t<decltype(*array.data())>() } -> HostNumber;
  array.size();
};
/// Whether arrays of a type own their elements. Others are views.
template <class T>
inline constexpr bool owns_elements = false;
template <class T, class A>
inline constexpr bool owns_elements<std::vector<T, A>> = true;
template <class T, std::size_t n>
inline constexpr bool owns_elements<std::array<T, n>> = true;
template <class Elements, xt::layout_type layout, class Extents, class Tag>
inline constexpr bool owns_elements<xt::xarray_container<Elements, layout, Extents, Tag>> = true;
template <class Elements, std::size_t rank, xt::layout_type layout, class Tag>
inline constexpr bool owns_elements<xt::xtensor_container<Elements, rank, layout, Tag>> = true;
template <class Element, class Extents, xt::layout_type layout, bool sharable, class Tag>
inline constexpr bool owns_elements<xt::xfixed_container<Element, Extents, layout, sharable, Tag>> = true;

/// Returns the address of an array's first element. For a view, it can be far from the address of its container's first element.
template <HostArray T>
constexpr auto* first_element(T& array) {
  if constexpr (BuiltInArray<std::remove_const_t<T>>) {
    if constexpr (std::rank_v<T> > 1) return first_element(array[0]);
    else return &array[0];
  } else if constexpr (requires { array.data_offset(); }) {
    return array.data() + array.data_offset();
  } else {
    return array.data();
  }
}

template <class T>
constexpr DType host_dtype() {
  if constexpr (HostNumber<T>) return dtype_of<T>;
  else return dtype_of<decltype(*first_element(std::declval<const T&>()))>;
}

/// Shape that a host array's type fixes, for example the shape of an xt::xtensor_fixed.
template <class ShapeType>
inline constexpr std::optional<Shape> fixed_extents = std::nullopt;
template <std::size_t... extents>
inline constexpr std::optional<Shape> fixed_extents<xt::fixed_shape<extents...>> = Shape{static_cast<std::int64_t>(extents)...};
template <class T>
constexpr std::optional<Shape> static_shape() {
  if constexpr (HostNumber<T>) return Shape{};
  else if constexpr (BuiltInArray<T>)
    return []<std::size_t... axis>(std::index_sequence<axis...>) {
      return Shape{static_cast<std::int64_t>(std::extent_v<T, axis>)...};
    }(std::make_index_sequence<std::rank_v<T>>{});
  else if constexpr (requires { typename T::shape_type; }) return fixed_extents<typename T::shape_type>;
  else return std::nullopt;
}

template <class T>
Shape host_shape_of([[maybe_unused]] const T& array) {
  constexpr auto fixed = static_shape<T>();
  if constexpr (fixed) {
    return *fixed;
  } else {
    Shape shape;
    if constexpr (requires { array.shape(); })
      for (auto extent : array.shape()) shape.push_back(static_cast<std::int64_t>(extent));
    else shape.push_back(static_cast<std::int64_t>(array.size()));
    return shape;
  }
}

/// Returns whether an array's elements are row-major without gaps.
template <class T>
bool stands_dense(const T& array, const Shape& shape) {
  if constexpr (requires { array.strides(); }) {
    Layout layout;
    for (int axis = 0; axis < shape.rank; ++axis)
      layout.strides[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(array.strides()[static_cast<std::size_t>(axis)]);
    return is_dense(shape, layout);
  } else return true;
}

/// Use of an array: a tensor with its spec, its name, and a remark about the spec for errors.
template <class T>
concept HostArrayUse = requires {
  { T::spec } -> std::convertible_to<TensorSpec>;
  { T::name() } -> std::convertible_to<std::string_view>;
  { T::note() } -> std::convertible_to<Text>;
};

/// Returns what is wrong with a C++ type for a tensor's values; empty if nothing is.
template <class T, HostArrayUse Use>
constexpr Text host_type_problem(std::string_view what) {
  constexpr TensorSpec expected = Use::spec;
  if constexpr (HostNumber<T> || HostArray<T>) {
    constexpr DType given = host_dtype<T>();
    constexpr auto shape = static_shape<T>();
    if (given != expected.dtype && !(given == uint8 && is_float8(expected.dtype)))  // bytes may be the codes of float8
      return text(what, ": '", Use::name(), "' is ", to_text(given), ": ", to_text(expected), " expected", Use::note(),
                  size_of(given) == 8 ? "; 64-bit numbers are not narrowed: convert the array first" : "");
    if (shape && *shape != expected.shape)
      return text(what, ": '", Use::name(), "' has shape ", to_text(*shape), ": ", to_text(expected), " expected", Use::note());
    return {};
  } else {
    return text(
        what, ": '", Use::name(), "' is no number or array of numbers: ", to_text(expected), " expected", Use::note(),
        requires(const T& array) { array.shape(); } ? "; an expression has no elements in memory, an xt::xtensor made of it has"
                                                    : "");
  }
}

/// Throws the error of host_data, outside of its callers' code.
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_wrong_shape(std::string_view what, std::string_view name,
                                                                     const Shape& given, const TensorSpec& expected,
                                                                     const Text& note) {
  const bool is_list = given == Shape{1} && expected.shape.rank == 1;
  throw std::invalid_argument(text(what, ": '", name, "' has shape ", to_text(given), ": ", to_text(expected.shape), " expected",
                                   note, is_list ? "; xt::xtensor<T, 1> a({n}) has one element, n: from_shape({n}) has n" : "")
                                  .string());
}
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_not_dense(std::string_view what, std::string_view name) {
  throw std::invalid_argument(text(what, ": '", name, "' has strides: a row-major array without gaps expected").string());
}

/// Returns the elements of a contiguous host array, const ones of an array that must not change. A wrong type does not compile.
/// Throws std::invalid_argument for another shape than the expected one, or elements that are not contiguous.
template <HostArrayUse Use, NameText what, class T>
auto host_data(T& array, const Shape& expected = Use::spec.shape) {
  using Array = std::remove_const_t<T>;
  constexpr auto problem = [] { return host_type_problem<Array, Use>(what.view()); };
  constexpr bool fits = problem().empty();
  if constexpr (!fits) {
    return Report<problem>(), static_cast<std::byte*>(nullptr);
  } else {
    if (const Shape shape = host_shape_of(array); shape != expected)
      throw_wrong_shape(what.view(), Use::name(), shape, {expected, Use::spec.dtype}, Use::note());
    if constexpr (HostNumber<Array>) return internal::bytes_at(&array);
    else {
      if (!stands_dense(array, expected)) throw_not_dense(what.view(), Use::name());
      return internal::bytes_at(first_element(array));
    }
  }
}

/// Returns whether a session may write to a T&& argument, because the caller can read it afterwards.
template <class T>
constexpr bool is_writable() {
  using Array = std::remove_reference_t<T>;
  if constexpr (HostNumber<std::remove_const_t<Array>>) return std::is_lvalue_reference_v<T> && !std::is_const_v<Array>;
  else
    return (std::is_lvalue_reference_v<T> || !owns_elements<std::remove_const_t<Array>>) &&
           !std::is_const_v<std::remove_pointer_t<decltype(first_element(std::declval<Array&>()))>>;
}
/// Returns the elements of an array that a session fills. Requirements are those of host_data; an array that must not change does
/// not compile.
template <HostArrayUse Use, NameText what, class T>
std::byte* host_memory(std::remove_reference_t<T>& array, const Shape& expected = Use::spec.shape) {
  using Array = std::remove_cvref_t<T>;
  if constexpr ((HostNumber<Array> || HostArray<Array>) && !is_writable<T>()) {
    constexpr auto message = [] {
      return text(what.view(), ": '", Use::name(), "' is const or temporary: an array to fill expected");
    };
    return Report<message>(), nullptr;
  } else {
    return host_data<Use, what>(array, expected);
  }
}

}  // namespace detail

}  // namespace tilewright
