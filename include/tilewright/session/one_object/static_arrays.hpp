#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <span>
#include <type_traits>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/execute/operand_address.hpp"

namespace tilewright::detail {

/// Elements of a tensor as a span, whose size is a constant. `T` is an element, or a const one.
template <class T, TensorSpec spec>
using TensorSpan = std::span<T, static_cast<std::size_t>(spec.nelms())>;

/// Number of elements that an array's type fixes: of built-in arrays with any number of axes, std::array, spans of static size,
/// and 1 of a number; otherwise std::dynamic_extent.
template <class Array>
inline constexpr std::size_t fixed_size = [] {
  if constexpr (std::is_bounded_array_v<Array>) return sizeof(Array) / sizeof(std::remove_all_extents_t<Array>);
  else if constexpr (requires(Array& array) { std::span(array); }) return decltype(std::span(std::declval<Array&>()))::extent;
  else return std::size_t{1};
}();

/// Returns the first element of such an array.
template <class Array>
constexpr auto* first_of(Array& array) {
  if constexpr (std::rank_v<Array> > 1) return first_of(array[0]);
  else if constexpr (requires { std::span(array); }) return std::span(array).data();
  else return &array;
}

/// Returns the elements of a user's array. An array of another dtype or number of elements, or of a number that its type does not
/// fix, does not compile. `what`: the call; `name`: of the stream or variable. `is_written`: whether the call changes the array.
template <NameText what, NameText name, TensorSpec spec, bool is_written, class Array>
auto static_elements(Array& array) {
  using Element = std::remove_pointer_t<decltype(first_of(array))>;
  constexpr std::size_t size = fixed_size<std::remove_const_t<Array>>, expected = static_cast<std::size_t>(spec.nelms());
  constexpr bool has_dtype = std::is_same_v<std::remove_const_t<Element>, element_t<spec.dtype>>;
  if constexpr (!has_dtype || size != expected || (is_written && std::is_const_v<Element>)) {
    constexpr auto message = [] {
      Text given = "an array of constants";
      if (size == std::dynamic_extent) given = "an array without a constant size";
      else if (!has_dtype) given = "an array of another dtype";
      else if (size != expected) given = text(size, " elements");
      return text(what.view(), ": '", name.view(), "' with ", given, ": ", to_text(spec), ", as a span or array of ", expected,
                  " elements, expected");
    };
    return Report<message>(), static_cast<std::byte*>(nullptr);
  } else {
    return internal::bytes_at(first_of(array));
  }
}

}  // namespace tilewright::detail
