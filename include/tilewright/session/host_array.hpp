#pragma once
#include <array>
#include <concepts>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/graph/layout.hpp"
#include "tilewright/kernel/xtensor.hpp"

namespace tilewright {

/// A tensor's memory as an xtensor of static shape, without a copy.
template <DType dtype, Shape shape>
auto static_view(std::byte* data) {
  return [&]<std::size_t... axis>(std::index_sequence<axis...>) {
    return xt::adapt(reinterpret_cast<element_t<dtype>*>(data),
                     xt::fixed_shape<static_cast<std::size_t>(shape[static_cast<int>(axis)])...>());
  }(std::make_index_sequence<static_cast<std::size_t>(shape.rank)>{});
}

/// A copy of a tensor's memory as an xtensor of its rank.
template <DType dtype, Shape shape>
auto copy_of(const std::byte* data) {
  constexpr auto rank = static_cast<std::size_t>(shape.rank);
  std::array<std::size_t, rank> extents{};
  for (std::size_t axis = 0; axis < rank; ++axis) extents[axis] = static_cast<std::size_t>(shape[static_cast<int>(axis)]);
  xt::xtensor<element_t<dtype>, rank> result(extents);
  std::memcpy(result.data(), data, static_cast<std::size_t>(TensorSpec{shape, dtype}.bytes()));
  return result;
}

namespace detail {

template <class T>
concept HostNumber = std::integral<T> || std::same_as<T, float16_t> || std::same_as<T, float> || std::same_as<T, double>;
/// Numbers, one after the other.
template <class T>
concept HostArray = requires(const T& array) {
  { std::remove_cvref_t<decltype(*array.data())>() } -> HostNumber;
  array.size();
};

template <class T>
constexpr DType host_dtype() {
  if constexpr (HostNumber<T>) return dtype_of<T>;
  else return dtype_of<decltype(*std::declval<const T&>().data())>;
}

/// The shape that a host array's type fixes, such as that of an xt::xtensor_fixed.
template <class ShapeType>
inline constexpr std::optional<Shape> fixed_extents = std::nullopt;
template <std::size_t... extents>
inline constexpr std::optional<Shape> fixed_extents<xt::fixed_shape<extents...>> = Shape{static_cast<std::int64_t>(extents)...};
template <class T>
constexpr std::optional<Shape> static_shape() {
  if constexpr (HostNumber<T>) return Shape{};
  else if constexpr (requires { typename T::shape_type; }) return fixed_extents<typename T::shape_type>;
  else return std::nullopt;
}

template <class T>
Shape host_shape(const T& array) {
  Shape shape;
  if constexpr (HostNumber<T>) return shape;
  else if constexpr (requires { array.shape(); })
    for (auto extent : array.shape()) shape.push_back(static_cast<std::int64_t>(extent));
  else shape.push_back(static_cast<std::int64_t>(array.size()));
  return shape;
}

/// The elements of a host array, one after the other; throws for a wrong shape or elements that do not stand so.
template <class T>
const std::byte* host_data(const T& array, const Shape& expected, std::string_view what, std::string_view name) {
  if (const Shape shape = host_shape(array); shape != expected)
    throw std::invalid_argument(
        text(what, ": '", name, "' has shape ", to_text(shape), ": ", to_text(expected), " expected").string());
  if constexpr (HostNumber<T>) {
    return reinterpret_cast<const std::byte*>(&array);
  } else {
    if constexpr (requires { array.strides(); }) {
      Layout layout;
      for (int axis = 0; axis < expected.rank; ++axis)
        layout.strides[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(
            array.strides()[static_cast<std::size_t>(axis)]);
      if (!is_dense(expected, layout))
        throw std::invalid_argument(text(what, ": '", name, "' has strides: a row-major array without gaps expected").string());
    }
    return reinterpret_cast<const std::byte*>(array.data());
  }
}

/// What is wrong with a C++ type for a tensor's values; empty if nothing is.
template <class T>
constexpr Text host_type_problem(const TensorSpec& expected, std::string_view what, std::string_view name) {
  if constexpr (HostNumber<T> || HostArray<T>) {
    const auto shape = static_shape<T>();
    if (host_dtype<T>() != expected.dtype)
      return text(what, ": '", name, "' is ", to_text(host_dtype<T>()), ": ", to_text(expected), " expected");
    if (shape && *shape != expected.shape)
      return text(what, ": '", name, "' has shape ", to_text(*shape), ": ", to_text(expected), " expected");
    return {};
  } else {
    return text(what, ": '", name, "' is no number or array of numbers: ", to_text(expected), " expected");
  }
}
/// As host_data; a type that does not fit does not compile. `name()` is the tensor's name.
template <TensorSpec expected, NameText what, auto name, class T>
const std::byte* checked_host_data(const T& array) {
  constexpr auto problem = [] { return host_type_problem<T>(expected, what.view(), name()); };
  constexpr bool fits = problem().empty();
  if constexpr (fits) return host_data(array, expected.shape, what.view(), name());
  else return report<problem>(), nullptr;
}

}  // namespace detail

}  // namespace tilewright
