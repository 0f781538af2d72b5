#pragma once
#include <array>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include "tilewright/core/number.hpp"
#include "tilewright/session/host_array.hpp"

namespace tilewright {

namespace detail {
/// Applies f to all elements of a host array. For an xt::xtensor, returns an xt::xtensor of the same rank; for other arrays, a
/// std::vector.
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

/// Converts array 2^log2_scale to float8 on the host. For a number, returns a number; for an xt::xtensor, an xt::xtensor of the
/// same shape; for another array, a std::vector. Elements: float16, float32 or float64. Rounds to nearest, ties to even. Numbers
/// beyond the largest become NaN, or the largest number without `nan_on_overflow`; infinities and NaN become NaN. Throws
/// std::invalid_argument for a log2_scale outside of -32 to 31.
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

/// Converts a float8 array to float16, float32 or float64, times 2^log2_scale: the reverse of host_pow2scale_then_cast.
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

/// Result of host_fp8_mse_scale.
struct Float8Scale {
  double error = 0;  ///< mean square of the rounding errors
  int log2_scale = 0;  ///< from -31 to 31
};
/// Finds the log2_scale for which host_pow2scale_then_cast to this float8, and host_cast_then_pow2scale back, have the smallest
/// mean square error on an array. If several have the same error, it is the one nearest to 0. Elements: float16, float32 or
/// float64; infinities and NaN do not count. With `nan_on_overflow`, prefers scales for which no number becomes NaN; without it,
/// a number beyond the largest becomes the largest.
///
///     const auto [error, log2_scale] = tw::host_fp8_mse_scale<tw::float8_143>(weights);
template <DType to, class Array>
  requires(detail::HostNumber<Array> || detail::HostArray<Array>)
constexpr Float8Scale host_fp8_mse_scale(const Array& array, bool nan_on_overflow = true) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Float8Scale best{.error = infinity};
  for (int i = 0; i <= 62; ++i) {
    const int log2_scale = i % 2 == 0 ? i / 2 : -i / 2 - 1;  // 0, -1, 1, -2 ...
    const double back = detail::power_of_two("host_fp8_mse_scale", -log2_scale);
    const auto codes = host_pow2scale_then_cast<to>(array, log2_scale, nan_on_overflow);
    double sum = 0;
    std::size_t count = 0;
    const auto add = [&](auto element, auto code) {
      const auto number = static_cast<double>(element);
      if (number != number || number == infinity || number == -infinity) return;
      const double change = static_cast<double>(code) * back - number;
      sum += change == change ? change * change : infinity;
      ++count;
    };
    if constexpr (detail::HostNumber<Array>) {
      add(array, codes);
    } else {
      const auto* const from = detail::first_element(array);
      const auto* const code = codes.data();
      for (std::size_t e = 0; e < codes.size(); ++e) add(from[e], code[e]);
    }
    const double error = count == 0 ? 0 : sum / static_cast<double>(count);
    if (error < best.error) best = {error, log2_scale};
  }
  return best;
}

}  // namespace tilewright
