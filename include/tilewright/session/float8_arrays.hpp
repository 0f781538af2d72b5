#pragma once
#include <array>
#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "tilewright/core/text.hpp"
#include "tilewright/session/host_array.hpp"

namespace tilewright {

namespace detail {
/// 2^log2_scale; throws std::invalid_argument unless it is from -32 to 31.
constexpr double power_of_two(const char* function, int log2_scale) {
  if (log2_scale < -32 || log2_scale > 31)
    throw std::invalid_argument(text(function, ": log2_scale ", log2_scale, ": from -32 to 31 expected").string());
  double power = 1;
  for (int i = 0; i < log2_scale; ++i) power *= 2;
  for (int i = 0; i > log2_scale; --i) power /= 2;
  return power;
}
/// f(element) of all elements of a host array: of an xt::xtensor in one of its rank, of others in a std::vector.
template <class To, class Array, class F>
constexpr auto converted(const Array& array, const F& f) {
  const auto* const from = first_element(array);
  const auto convert = [&](auto result, std::size_t count) {
    To* const to = result.data();
    for (std::size_t i = 0; i < count; ++i) to[i] = f(from[i]);
    return result;
  };
  if constexpr (BuiltInArray<std::remove_const_t<Array>>) {
    constexpr auto count = static_cast<std::size_t>(static_shape<std::remove_const_t<Array>>()->nelms());
    return convert(std::vector<To>(count), count);
  } else if constexpr (requires { array.shape(); }) {
    const Shape shape = host_shape_of(array);
    if (!stands_dense(array, shape)) throw_not_dense("float8 conversion", "array");
    constexpr std::size_t rank = [] {
      if constexpr (constexpr auto fixed = static_shape<Array>(); fixed.has_value()) return static_cast<std::size_t>(fixed->rank);
      else return std::tuple_size_v<typename Array::shape_type>;
    }();
    std::array<std::size_t, rank> extents{};
    for (std::size_t axis = 0; axis < rank; ++axis) extents[axis] = static_cast<std::size_t>(shape.extents[axis]);
    return convert(xt::xtensor<To, rank>(extents), array.size());
  } else {
    return convert(std::vector<To>(array.size()), array.size());
  }
}
}  // namespace detail

/// array 2^log2_scale as float8, on the host: of a number, a number; of an xt::xtensor, one of its shape; of another array,
/// a std::vector. Elements: float16, float32 or float64. Rounds to the nearest, ties to even. Beyond the largest number is NaN,
/// or, without `nan_on_overflow`, the largest number; infinities and NaN are NaN. Throws std::invalid_argument for a log2_scale
/// that is not from -32 to 31.
///
///     session.write_variable_data("weight"_s, tw::host_pow2scale_then_cast<tw::float8_143>(weight, 4));
template <DType to, class Array>
  requires(detail::HostNumber<Array> || detail::HostArray<Array>)
constexpr auto host_pow2scale_then_cast(const Array& array, int log2_scale = 0, bool nan_on_overflow = true) {
  static_assert(is_float8(to), "host_pow2scale_then_cast: float8_143 or float8_152 expected");
  constexpr DType from = detail::host_dtype<Array>();
  static_assert(is_floating_point(from) && has_arithmetic(from),
                "host_pow2scale_then_cast: elements of float16, float32 or float64 expected");
  using Element = element_t<to>;
  const double power = detail::power_of_two("host_pow2scale_then_cast", log2_scale);
  const auto convert = [&](auto x) { return Element::nearest(static_cast<double>(x) * power, nan_on_overflow); };
  if constexpr (detail::HostNumber<Array>) return convert(array);
  else return detail::converted<Element>(array, convert);
}

/// The float8 array as float16, float32 or float64, times 2^log2_scale: host_pow2scale_then_cast the other way round.
template <DType to, class Array>
  requires(detail::HostNumber<Array> || detail::HostArray<Array>)
constexpr auto host_cast_then_pow2scale(const Array& array, int log2_scale = 0) {
  static_assert(is_floating_point(to) && has_arithmetic(to), "host_cast_then_pow2scale: float16, float32 or float64 expected");
  static_assert(is_float8(detail::host_dtype<Array>()), "host_cast_then_pow2scale: elements of float8 expected");
  using Element = element_t<to>;
  const double power = detail::power_of_two("host_cast_then_pow2scale", log2_scale);
  const auto convert = [&](auto x) { return static_cast<Element>(static_cast<double>(x) * power); };
  if constexpr (detail::HostNumber<Array>) return convert(array);
  else return detail::converted<Element>(array, convert);
}

}  // namespace tilewright
