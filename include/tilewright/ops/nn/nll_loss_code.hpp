#pragma once
#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/ops/nn/nll_loss.hpp"

namespace tilewright {

template <std::int64_t classes, PackedAttributes A, class P, class DP>
inline void NllGrad::row_gradient(P probs, std::int64_t label, double factor, DP dprobs) {
  std::fill_n(dprobs.data, classes, typename DP::Element(0));
  const double p = unpack<Attributes>(A).log_prob != 0
                       ? 1
                       : (std::max)(static_cast<double>(probs.data[label]), detail::smallest_divisor<typename P::Element>);
  dprobs.data[label] = static_cast<typename DP::Element>(-factor / p);
}

template <std::int64_t, PackedAttributes A, class P>
inline double Nll::row_loss(P probs, std::int64_t label) {
  const auto p = static_cast<double>(probs.data[label]);
  return unpack<Attributes>(A).log_prob != 0 ? -p : -math::log((std::max)(p, detail::smallest_probability<typename P::Element>));
}

template <std::int64_t classes, PackedAttributes A, class P, class DX>
inline double NllWithSoftmaxGrad::row_loss_and_gradient(P probs, std::int64_t label, double factor, DX dx) {
  using T = typename P::Compute;
  const auto scale = static_cast<T>(factor), p = static_cast<T>(probs.data[label]);
  const double loss = Nll::row_loss<classes, A>(probs, label);  // before dx, which may lie where the probabilities do
  kernel::line_assign<classes>([&](const auto& probability) { return probability * scale; }, dx, probs);
  dx.data[label] = static_cast<typename DX::Element>((p - 1) * scale);
  return loss;
}

}  // namespace tilewright
