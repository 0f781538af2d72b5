#pragma once
#include "tilewright/kernel/indexed.hpp"
#include "tilewright/ops/index/scatter.hpp"

namespace tilewright {

template <PackedAttributes A, class T, class J, class Y>
inline void GatherElements::compute(T t, J indices, Y y) {
  using Loops = kernel::IndexedLoops<static_cast<int>(unpack<Attributes>(A).axis), kernel::IndexForm::elements, T, Y, J>;
  if constexpr (J::shape != Y::shape) kernel::fill_zero(y);
  Loops::for_each(t, y, indices, [](const auto* from, auto* to) { *to = *from; }, [](auto* missed) { Loops::zero(missed); });
}

template <class D>
template <PackedAttributes A, class X, class J, class P, class Y>
inline void ScatterOp<D>::compute(X data, J indices, P positions, Y y) {
  kernel::fill_zero(y);
  scatter<A, false>(data, indices, positions, y);
}

template <class D>
template <PackedAttributes A, class X, class J, class Initial, class P, class Y>
inline void ScatterOp<D>::compute(X data, J indices, Initial initial, P positions, Y y) {
  kernel::copy_elements(y, initial);
  scatter<A, true>(data, indices, positions, y);
}

template <class D>
template <PackedAttributes A, class X, class J, class... Rest>
inline void ScatterOp<D>::compute_checked(Faults faults, X data, J indices, Rest... rest) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr auto positions = sizeof...(Rest) - 2;
  if (D::template is_first_reader<D::axes_without_indices(attributes, X::shape.rank)>(std::get<positions>(std::tie(rest...))))
    kernel::check_indices(faults, indices, attributes.extent);
  compute<A>(data, indices, rest...);
}

template <class D>
template <PackedAttributes A, bool has_initial, class X, class J, class P, class Y>
inline void ScatterOp<D>::scatter(X data, J indices, P positions, Y y) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr int axis = attributes.axis_of(X::shape.rank);
  constexpr ScatterReduction reduction = attributes.reduction;
  using Loops = kernel::IndexedLoops<axis, attributes.form, Y, X, J>;
  const std::int64_t first = kernel::block_begin(positions, axis);
  const auto write = [](auto* to, const auto* from) { Loops::template copy<0, 1>(to, from); };
  const auto meet = [](auto* to, const auto* from) { Loops::combine(to, from, detail::Meet<reduction>()); };
  // without initial values, extremes begin with any of the elements that come to a place, not with the 0 of the others
  if constexpr (reduction == ScatterReduction::none || (!has_initial && reduction != ScatterReduction::sum))
    Loops::template for_each_hit<attributes.extent>(y, data, indices, first, write);
  if constexpr (reduction != ScatterReduction::none)
    Loops::template for_each_hit<attributes.extent>(y, data, indices, first, meet);
}

template <PackedAttributes A, class T, class X, class J, class... Rest>
inline void SparseAccumulate::compute(T, X x, J indices, Rest... rest) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr int axis = attributes.axis_of(T::shape.rank);
  using Number = compute_t<typename T::element>;
  const auto others = std::tie(rest...);
  const auto out = std::get<sizeof...(Rest) - 1>(others);
  using Loops = kernel::IndexedLoops<axis, kernel::IndexForm::rows, T, X, J>;
  auto factor = static_cast<Number>(attributes.factor);
  if constexpr (sizeof...(Rest) == 3) factor = static_cast<Number>(*std::get<0>(others).data);
  const auto add = [factor](auto* to, const auto* from) {
    Loops::combine(to, from, [factor](const auto& old, const auto& next) {
      return math::fma(std::remove_cvref_t<decltype(old)>(factor), next, old);
    });
  };
  Loops::template for_each_hit<attributes.extent>(out, x, indices,
                                                  kernel::block_begin(std::get<sizeof...(Rest) - 2>(others), axis), add);
}

template <PackedAttributes A, class T, class X, class J, class... Rest>
inline void SparseAccumulate::compute_checked(Faults faults, T t, X x, J indices, Rest... rest) {
  constexpr auto attributes = unpack<Attributes>(A);
  const auto positions = std::get<sizeof...(Rest) - 2>(std::tie(rest...));
  if (is_first_reader<axes_without_indices(attributes, T::shape.rank)>(positions))
    kernel::check_indices(faults, indices, attributes.extent);
  compute<A>(t, x, indices, rest...);
}

}  // namespace tilewright
