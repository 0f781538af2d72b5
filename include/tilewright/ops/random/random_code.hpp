#pragma once
#include "tilewright/kernel/random/random.hpp"
#include "tilewright/ops/random/random.hpp"

namespace tilewright {

namespace detail {
template <class Seed>
inline kernel::PhiloxVectors<kernel::WideVector> philox_of(Seed seed) {
  return kernel::PhiloxVectors<kernel::WideVector>({seed.data[0], seed.data[Seed::spec.stride(0)]});
}
}  // namespace detail

template <PackedAttributes A, class Seed, class Positions, class Y>
inline void RandomUniform::compute(Seed seed, Positions positions, Y y) {
  using T = compute_t<typename Y::element>;
  constexpr auto attributes = unpack<Attributes>(A);
  constexpr auto bounds = detail::uniform_bounds(attributes.first, attributes.second, attributes.type());
  const kernel::UniformNumbers<T, typename Y::element> numbers{detail::philox_of(seed), static_cast<T>(bounds.low),
                                                               static_cast<T>(bounds.scale), static_cast<T>(bounds.most)};
  kernel::assign_random(numbers, [](const auto& number) { return number; }, y, positions);
}

template <PackedAttributes A, class Seed, class Positions, class Y>
inline void RandomNormal::compute(Seed seed, Positions positions, Y y) {
  using T = compute_t<typename Y::element>;
  constexpr auto attributes = unpack<Attributes>(A);
  const kernel::NormalNumbers<T> numbers{detail::philox_of(seed), static_cast<T>(attributes.first),
                                         static_cast<T>(attributes.second)};
  kernel::assign_random(numbers, [](const auto& number) { return number; }, y, positions);
}

template <PackedAttributes A, class X, class Seed, class Positions, class Y>
inline void Dropout::compute(X x, Seed seed, Positions positions, Y y) {
  using T = compute_t<typename Y::element>;
  constexpr double p = unpack<Attributes>(A).p;
  if constexpr (p == 0) return kernel::assign_elementwise<detail::SameElement>(y, x);
  const kernel::DropoutFactors<T> factors{detail::philox_of(seed), detail::dropout_threshold(p), static_cast<T>(1 / (1 - p))};
  kernel::assign_random(factors, [](const auto& factor, const auto& element) { return element * factor; }, y, positions, x);
}

template <PackedAttributes A, class Seed, class Positions, class Y>
inline void DropoutMask::compute(Seed seed, Positions positions, Y y) {
  using T = typename Y::element;
  constexpr double p = unpack<Attributes>(A).first;
  const kernel::DropoutFactors<T> factors{detail::philox_of(seed), detail::dropout_threshold(p), static_cast<T>(1 / (1 - p))};
  kernel::assign_random(factors, [](const auto& factor) { return factor; }, y, positions);
}

}  // namespace tilewright
