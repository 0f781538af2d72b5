#pragma once
#include "tilewright/kernel/functions/power.hpp"
#include "tilewright/ops/update/adam.hpp"

namespace tilewright {

template <PackedAttributes A, class Step, class... V>
inline void AdamFactors::compute(Step step, V... views) {
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr bool first = (attributes.inputs & 1) != 0, second = (attributes.inputs & 2) != 0;
  const auto operands = std::tie(views...);
  const auto value = [&]<bool is_input, std::size_t i>(double number) {
    if constexpr (is_input) return static_cast<double>(std::get<i>(operands).data[0]);
    else return number;
  };
  const auto beta1 = value.template operator()<first, 0>(attributes.beta1);
  const auto beta2 = value.template operator()<second, first ? 1 : 0>(attributes.beta2);
  step.data[0] = static_cast<typename Step::element>(static_cast<double>(step.data[0]) + 1);
  // in double precision: for the first steps beta^t is close to 1
  const auto count = static_cast<double>(step.data[0]);
  using Factor = std::conditional_t<attributes.factor_dtype() == float64, double, float>;
  std::get<sizeof...(V) - 2>(operands).data[0] = static_cast<Factor>(1 / (1 - math::pow(beta1, count)));
  std::get<sizeof...(V) - 1>(operands).data[0] = static_cast<Factor>(1 / (1 - math::pow(beta2, count)));
}

}  // namespace tilewright
