#pragma once
#include <tuple>

#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/ops/nn/class_loss.hpp"

namespace tilewright {

template <class D>
template <PackedAttributes A, class X, class L, class... Rest>
inline void ClassLoss<D>::compute_checked(Faults faults, X x, L labels, Rest... rest) {
  D::template check_labels<A>(faults, x, labels);
  compute<A>(x, labels, rest...);
}

template <class D>
template <PackedAttributes A, class X, class L, class Loss>
inline void ClassLoss<D>::compute(X x, L labels, Loss loss) {
  compute<A>(x, labels, labels, loss);
}

template <class D>
template <PackedAttributes A, class X, class L, class All, class Loss>
inline void ClassLoss<D>::compute(X x, L labels, All all_labels, Loss loss) {
  constexpr auto attributes = unpack<NllAttributes>(A);
  constexpr std::int64_t classes = X::shape[-1];
  double total = 0;
  D::template for_each_row<X, L, Loss>([&](const auto& at) {
    const auto label = D::class_of(labels.data[at[1]], classes, attributes);
    const double value = label < 0
                             ? 0
                             : D::template row_loss<classes, A>(kernel::Line<typename X::element, 1>{x.data + at[0]}, label);
    if constexpr (attributes.reduction == Reduction::none) loss.data[at[2]] = static_cast<typename Loss::element>(value);
    total += value;
  });
  if constexpr (attributes.reduction != Reduction::none)
    loss.data[0] = static_cast<typename Loss::element>(total / D::divisor(all_labels, classes, attributes));
}

template <class D>
template <PackedAttributes A, class X, class L, class DLoss, class DX>
inline void ClassLossGrad<D>::compute(X x, L labels, DLoss dloss, DX dx) {
  compute<A>(x, labels, dloss, labels, dx);
}

template <class D>
template <PackedAttributes A, class X, class L, class DLoss, class All, class DX>
inline void ClassLossGrad<D>::compute(X x, L labels, DLoss dloss, All all_labels, DX dx) {
  constexpr auto attributes = unpack<NllAttributes>(A);
  constexpr std::int64_t classes = X::shape[-1];
  const double scale = 1 / D::divisor(all_labels, classes, attributes);
  D::template for_each_row<X, L, DLoss, DX>([&](const auto& at) {
    const kernel::Line<typename DX::element, 1> dx_row{dx.data + at[3]};
    const auto label = D::class_of(labels.data[at[1]], classes, attributes);
    if (label < 0) std::fill_n(dx_row.data, classes, typename DX::element(0));
    else
      D::template row_gradient<classes, A>(kernel::Line<typename X::element, 1>{x.data + at[0]}, label,
                                           static_cast<double>(dloss.data[at[2]]) * scale, dx_row);
  });
}

template <class D>
template <PackedAttributes A, class X, class L, class... Rest>
inline void ClassLossWithGrad<D>::compute_checked(Faults faults, X x, L labels, Rest... rest) {
  D::template check_labels<A>(faults, x, labels);
  compute<A>(x, labels, rest...);
}

template <class D>
template <PackedAttributes A, class X, class L, class... Rest>
inline void ClassLossWithGrad<D>::compute(X x, L labels, Rest... rest) {
  constexpr auto attributes = unpack<NllAttributes>(A);
  constexpr std::size_t count = sizeof...(Rest);
  constexpr std::int64_t classes = X::shape[-1];
  const std::tuple<L, Rest...> operands(labels, rest...);
  constexpr bool has_all_labels = count > 2 && is_int(std::tuple_element_t<count - 2, std::tuple<L, Rest...>>::spec.dtype);
  const auto loss = std::get<count - 1>(operands);
  const auto dx = std::get<count>(operands);
  double loss_grad = attributes.loss_grad;
  if constexpr (count == (has_all_labels ? 4 : 3)) loss_grad = static_cast<double>(std::get<1>(operands).data[0]);
  const double divisor = D::divisor(std::get<has_all_labels ? count - 2 : 0>(operands), classes, attributes);
  using Loss = std::tuple_element_t<count - 1, std::tuple<L, Rest...>>;
  using DX = std::tuple_element_t<count, std::tuple<L, Rest...>>;
  double total = 0;
  D::template for_each_row<X, L, Loss, DX>([&](const auto& at) {
    const auto label = D::class_of(labels.data[at[1]], classes, attributes);
    const kernel::Line<typename DX::element, 1> dx_row{dx.data + at[3]};
    double value = 0;
    if (label < 0) std::fill_n(dx_row.data, classes, typename DX::element(0));
    else
      value = D::template row_loss_and_gradient<classes, A>(kernel::Line<typename X::element, 1>{x.data + at[0]}, label,
                                                            loss_grad / divisor, dx_row);
    if constexpr (attributes.reduction == Reduction::none) loss.data[at[2]] = static_cast<typename Loss::element>(value);
    total += value;
  });
  if constexpr (attributes.reduction != Reduction::none) loss.data[0] = static_cast<typename Loss::element>(total / divisor);
}

}  // namespace tilewright
