#pragma once
// Kernels of ops as expressions of xtensor: `array()` of the views that `compute` gets, and what namespace authoring has for
// them.
#include "tilewright/core/requirements.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tilewright/kernel/array/reductions.hpp"

namespace tilewright {

namespace kernel {

/// Arrays that xtensor holds, of static shape.
template <class T>
constexpr DType dtype_of_array = dtype_of<T>;
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
    if constexpr (((axes < -rank || axes >= rank) || ...)) {
      constexpr auto message = [] {
        return text("an array of ", to_text(ArrayNodeOf<E>::shape), ": axes from ", -rank, " to ", rank - 1, " expected");
      };
      Report<message>();
    }
    return ((std::uint64_t{1} << (axes < 0 ? axes + rank : axes)) | ...);
  }
}
/// Returns E reduced over the axes of `mask`, counted from the first.
template <class Rule, std::uint64_t mask, bool keeps, class E>
auto reduced_over(E&& e) {
  return ReducedArray<Rule, mask, keeps, xt::const_xclosure_t<E>>(std::forward<E>(e));
}
template <class Rule, int... axes, class E, class... Keep>
auto reduced(E&& e, Keep...) {
  static_assert((std::is_same_v<Keep, std::remove_const_t<decltype(xt::keep_dims)>> && ...),
                "an array, or an array and xt::keep_dims expected");
  constexpr bool keeps = sizeof...(Keep) != 0;
  return reduced_over<Rule, axes_mask<E, axes...>(), keeps>(std::forward<E>(e));
}

/// Returns the line of a view along an axis, from the offset of its first element.
template <int axis, ViewSpec spec, bool is_input>
auto line_view(View<spec, is_input> view, std::int64_t offset) {
  constexpr ViewSpec line = written_out({spec.dtype, {spec.shape[axis]}, {spec.stride(axis)}});
  return View<line, is_input>{view.data + offset};
}

}  // namespace kernel

namespace authoring {

/// Returns the sum of an array's elements over `axes`, or over all: for x (2, 3, 4), sum<0, 2>(x) is (3,), and sum<0, 2>(x,
/// xt::keep_dims) is (1, 3, 1). Negative axes count from the last. float16, bfloat16 and float32 are added in float, in blocks
/// whose sums are added in double (docs/reference/numerics.md); integers wrap around. An element does not depend on its position
/// in a tensor, nor on the division of the kept axes among threads and tiles.
template <int... axes>
auto sum(auto&& array, auto... keep_dims) {
  return kernel::reduced<kernel::SumRule, axes...>(std::forward<decltype(array)>(array), keep_dims...);
}
/// Returns the product over `axes`, or over all; integers wrap around.
template <int... axes>
auto prod(auto&& array, auto... keep_dims) {
  return kernel::reduced<kernel::ProductRule, axes...>(std::forward<decltype(array)>(array), keep_dims...);
}
/// Returns the largest element over `axes`, or over all; NaN if there is one.
template <int... axes>
auto(max)(auto&& array, auto... keep_dims) {
  return kernel::reduced<kernel::ExtremeRule<true>, axes...>(std::forward<decltype(array)>(array), keep_dims...);
}
/// Returns the smallest element over `axes`, or over all; NaN if there is one.
template <int... axes>
auto(min)(auto&& array, auto... keep_dims) {
  return kernel::reduced<kernel::ExtremeRule<false>, axes...>(std::forward<decltype(array)>(array), keep_dims...);
}
/// Returns the mean over `axes`, or over all: the sum times the reciprocal of the number of terms, for floating point.
template <int... axes>
auto mean(auto&& array, auto... keep_dims) {
  using T = typename kernel::ArrayNodeOf<decltype(array)>::type;
  static_assert(!std::is_integral_v<T>, "mean of integers: an array of floating point expected");
  auto total = authoring::sum<axes...>(std::forward<decltype(array)>(array), keep_dims...);
  return std::move(total) * (1.0 / static_cast<double>(decltype(total)::Space::terms));
}

/// Bytes of arrays on the stack of `y.array() = reduction`, for `stack_bytes` of an op. Reduction is the type of a sum, product,
/// maximum or minimum, and Y that of the view y. Reductions of columns have up to 16 bytes for each of 1,024 columns, others
/// none; in a larger expression, such as a mean, they have none either.
template <class Reduction, class Y>
inline constexpr std::int64_t reduction_stack_bytes = std::remove_cvref_t<Reduction>::template stack_bytes<Y>();

/// Calls f(lines...) for each line along an axis of views of one shape. Each line is a view of one axis.
template <int axis, class F, class V, class... Rest>
void for_each_line(F&& f, V view, Rest... rest) {
  static_assert(((V::shape == Rest::shape) && ...), "for_each_line: views of one shape expected");
  static_assert(axis >= -V::shape.rank && axis < V::shape.rank, "for_each_line: an axis of the views expected");
  constexpr auto strides = [] {
    std::array<std::array<std::int64_t, max_rank>, 1 + sizeof...(Rest)> result{V::spec.strides, Rest::spec.strides...};
    return result;
  }();
  constexpr Shape first_elements = [] {
    Shape shape = V::shape;
    shape[axis] = 1;
    return shape;
  }();
  for_each_offset<1 + sizeof...(Rest)>(first_elements, strides, [&](const auto& at) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      f(kernel::line_view<axis>(view, at[0]), kernel::line_view<axis>(rest, at[i + 1])...);
    }(std::index_sequence_for<Rest...>());
  });
}

/// Stores an expression's elements on the kernel's stack, for several expressions that read them. `stack_bytes` of the op must
/// count more than some hundred bytes. (Clang 19 copies a result whose type it deduces in a template: the array would be there
/// twice.)
template <class E, class Given = kernel::ArrayNodeOf<E>,
          class Held = xt::xtensor_fixed<typename Given::type, kernel::FixedShape<Given>>>
Held hold(const E& e) {
  Held result;
  constexpr ViewSpec spec{kernel::dtype_of_array<typename Given::type>, Given::shape, dense_strides(Given::shape)};
  View<spec>{result.data()}.array() = e;
  return result;
}

}  // namespace authoring

}  // namespace tilewright
