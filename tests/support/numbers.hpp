#pragma once
#include <cstddef>

#include "tilewright/tilewright.hpp"

/// An array of numbers from -1 to 1 in no order, others for another seed.
template <std::size_t... extents>
auto numbers(int seed) {
  xt::xtensor<float, sizeof...(extents)> x({extents...});
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<float>((static_cast<int>(i) + seed) * 7919 % 1000) / 500 - 1;
  return x;
}
