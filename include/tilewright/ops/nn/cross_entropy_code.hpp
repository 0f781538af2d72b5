#pragma once
#include "tilewright/kernel/softmax.hpp"
#include "tilewright/ops/nn/cross_entropy.hpp"

namespace tilewright {

namespace detail {
/// Returns the loss of a row. No probability is stored: with s = sum(exp(x)), the loss of a row is log(s) - x[label], and its
/// gradient is exp(x) / s - onehot(label).
template <class T>
inline double cross_entropy_of(const kernel::ExponentialSum<T>& exponentials, T logit) {
  return math::log(static_cast<double>(exponentials.sum)) +
         (static_cast<double>(exponentials.largest) - static_cast<double>(logit));
}
}  // namespace detail

template <PackedAttributes, class X, class... V>
constexpr std::int64_t CrossEntropyWithGrad::stack_bytes() {
  return kernel::softmax_stack_bytes<X::shape[-1], typename X::element>;
}

template <std::int64_t classes, PackedAttributes, class X, class DX>
inline double CrossEntropyWithGrad::row_loss_and_gradient(X logits, std::int64_t label, double factor, DX dx) {
  using T = typename X::Compute;
  const auto scale = static_cast<T>(factor), logit = static_cast<T>(logits.data[label]);  // dx may lie where the logits do
  const auto exponentials = kernel::softmax_line<classes>(logits, dx, scale);
  const T p = math::exp(logit - exponentials.largest) / exponentials.sum;
  dx.data[label] = static_cast<typename DX::Element>((p - 1) * scale);
  return detail::cross_entropy_of(exponentials, logit);
}

template <PackedAttributes, class X, class... V>
constexpr std::int64_t CrossEntropyGrad::stack_bytes() {
  return kernel::softmax_stack_bytes<X::shape[-1], typename X::element>;
}

template <std::int64_t classes, PackedAttributes A, class X, class DX>
inline void CrossEntropyGrad::row_gradient(X logits, std::int64_t label, double factor, DX dx) {
  CrossEntropyWithGrad::row_loss_and_gradient<classes, A>(logits, label, factor, dx);
}

template <std::int64_t classes, PackedAttributes, class X>
inline double CrossEntropy::row_loss(X logits, std::int64_t label) {
  return detail::cross_entropy_of(kernel::exponential_sum<classes>(logits), static_cast<typename X::Compute>(logits.data[label]));
}

}  // namespace tilewright
