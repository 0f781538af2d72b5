#pragma once
#include <cmath>

#include "tilewright/array.hpp"
#include "tilewright/ops/update/lamb.hpp"

namespace tilewright {

template <PackedAttributes, class X, class Sum>
inline void LambSquare::compute(X x, Sum sum) {
  sum.array() = authoring::sum(xt::square(x.array()));
}

template <PackedAttributes A, class R1, class R2, class... V>
inline void TrustRatio::compute(R1 r1, R2 r2, V... views) {
  constexpr auto attributes = unpack<Attributes>(A);
  const auto operands = std::tie(views...);
  double learning_rate = attributes.learning_rate, max_weight_norm = attributes.max_weight_norm;
  if constexpr ((attributes.inputs & 1) != 0) learning_rate = static_cast<double>(std::get<0>(operands).data[0]);
  if constexpr ((attributes.inputs & 2) != 0)
    max_weight_norm = static_cast<double>(std::get < attributes.inputs & 1 > (operands).data[0]);
  const auto weight_square = static_cast<double>(r1.data[0]), step_square = static_cast<double>(r2.data[0]);
  double trust = 1;
  if (weight_square != 0 && step_square != 0)
    trust = (std::min)(std::sqrt(weight_square), max_weight_norm) / std::sqrt(step_square);
  std::get<sizeof...(V) - 1>(operands).data[0] = static_cast<float>(learning_rate * trust);
}

}  // namespace tilewright
