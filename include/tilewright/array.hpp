#pragma once
// Kernels of ops as expressions of xtensor: `array()` of the views that `compute` gets, and what namespace authoring has for
// them. tilewright.hpp does not include it.
#include "tilewright/kernel/array_reductions.hpp"

namespace tilewright {

namespace detail {

/// Arrays that xtensor holds, of static shape.
template <class T>
constexpr DType dtype_of_array = std::is_same_v<T, float>    ? float32
                                 : std::is_same_v<T, double> ? float64
                                                             : int32;
template <class T, std::size_t... n, xt::layout_type layout, bool sharable>
struct ArrayNode<xt::xtensor_fixed<T, xt::fixed_shape<n...>, layout, sharable>>
    : MemoryNode<ViewSpec{dtype_of_array<T>, Shape{static_cast<std::int64_t>(n)...},
                          dense_strides(Shape{static_cast<std::int64_t>(n)...})}> {
  using Base = MemoryNode<ViewSpec{dtype_of_array<T>, Shape{static_cast<std::int64_t>(n)...},
                                   dense_strides(Shape{static_cast<std::int64_t>(n)...})}>;
  template <int axis, class V, class E>
  static auto row(const E& e, const ArrayIndex& at) {
    return Base::template row_at<axis, V>(e.data(), at);
  }
};

template <class E, int... axes>
constexpr std::uint64_t axes_mask() {
  constexpr int rank = ArrayNodeOf<E>::shape.rank;
  if constexpr (sizeof...(axes) == 0) {
    return (std::uint64_t{1} << rank) - 1;
  } else {
    if constexpr (((axes < -rank || axes >= rank) || ...))
      report<[] {
        return text("an array of ", to_text(ArrayNodeOf<E>::shape), ": axes from ", -rank, " to ", rank - 1, " expected");
      }>();
    return ((std::uint64_t{1} << (axes < 0 ? axes + rank : axes)) | ...);
  }
}
template <class Rule, int... axes, class E, class... Keep>
auto reduced(E&& e, Keep...) {
  static_assert((std::is_same_v<Keep, xt::keep_dims_type> && ...), "the array, or the array and xt::keep_dims expected");
  using R = Reduction<Rule, axes_mask<E, axes...>(), sizeof...(Keep) != 0, xt::const_xclosure_t<E>>;
  return R(std::forward<E>(e));
}

}  // namespace detail

namespace authoring {

/// The sum of an array's elements over `axes`, or over all: of x (2, 3, 4), sum<0, 2>(x) is (3,), and sum<0, 2>(x, xt::keep_dims)
/// is (1, 3, 1). Negative axes are counted from the last. float16, bfloat16 and float32 are added in float, in blocks whose sums
/// are added in double (docs/numerics.md); int32 wraps around. An element does not depend on its place in a tensor, nor on
/// how the kept axes are cut for threads and tiles.
template <int... axes>
auto sum(auto&& array, auto... keep_dims) {
  return detail::reduced<detail::ArraySum, axes...>(std::forward<decltype(array)>(array), keep_dims...);
}
/// The largest element over `axes`, or over all; NaN where there is one.
template <int... axes>
auto max(auto&& array, auto... keep_dims) {
  return detail::reduced<detail::ArrayExtreme<true>, axes...>(std::forward<decltype(array)>(array), keep_dims...);
}
/// The smallest element over `axes`, or over all; NaN where there is one.
template <int... axes>
auto min(auto&& array, auto... keep_dims) {
  return detail::reduced<detail::ArrayExtreme<false>, axes...>(std::forward<decltype(array)>(array), keep_dims...);
}
/// The mean over `axes`, or over all: the sum times the reciprocal of the number of terms, for floating point.
template <int... axes>
auto mean(auto&& array, auto... keep_dims) {
  auto total = authoring::sum<axes...>(std::forward<decltype(array)>(array), keep_dims...);
  return std::move(total) * (1.0 / static_cast<double>(decltype(total)::Space::terms));
}

/// An expression's elements in memory of the kernel, on its stack: for what several expressions read. `stack_bytes` of the op
/// counts it, if it is more than some hundred bytes.
template <class E>
auto hold(const E& e) {
  using Node = detail::ArrayNodeOf<E>;
  xt::xtensor_fixed<typename Node::type, detail::FixedShape<Node>> result;
  constexpr ViewSpec spec{detail::dtype_of_array<typename Node::type>, Node::shape, dense_strides(Node::shape)};
  View<spec>{result.data()}.array() = e;
  return result;
}

}  // namespace authoring

}  // namespace tilewright
