#pragma once
// Steps of the generator: random numbers and dropout.
#include "generator.hpp"

namespace random_programs {

constexpr Tensor Generator::seed() {
  const auto word = [&] { return static_cast<double>(random_.next() >> 32); };
  const Tensor first = ir_.constant({word(), word()}, {2}, tw::uint32);
  switch (random_.below(4)) {
    case 0: return ops::create_random_seed(first, random_.below(100));
    case 1: {
      const DType dtype = random_.one_in(2) ? tw::int32 : tw::uint64;
      return ops::create_random_seed(first, ir_.constant(random_.below(100), dtype));
    }
    case 2: return ops::split_random_seed(first, 2)[1];
    default: return first;
  }
}

constexpr void Generator::random() {
  const Tensor from = seed();
  const Known x = real();
  const double p = 0.25 * random_.below(4);
  const Elements scaled = hull(x.elements * number_elements(4), {0, 0, 0, 0}).rounded();
  const DType dtype = features_.gradients ? tw::float32 : x.tensor.dtype();
  switch (random_.below(5)) {
    case 0: return push(ops::random_uniform(from, x.tensor.shape(), -1, 1.5, dtype), {-1, 1.5});
    case 1: return push(ops::random_normal(from, x.tensor.shape(), 0.5, 0.75, dtype), {-7, 8});
    case 2: {
      Shape shape = x.tensor.shape();
      for (int axis = 0; axis < shape.rank; ++axis)
        if (random_.one_in(2)) shape[axis] = 1;
      return push(ops::shaped_dropout(x.tensor, from, shape, p), scaled);
    }
    default: return push(ops::dropout(x.tensor, from, p), scaled);
  }
}

}  // namespace random_programs
