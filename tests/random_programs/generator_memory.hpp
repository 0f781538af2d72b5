#pragma once
// Steps of the generator: tensors that are read again, or change, after others were computed of them.
#include "generator.hpp"

namespace random_programs {

/// A tensor of x's shape and dtype of which each element depends on several elements of x: mostly a product, which the planner
/// computes in a step of its own.
constexpr Known Generator::mixed(const Known& x) {
  const Tensor t = x.tensor;
  int axis = axis_of(x);
  if (x.rank() == 2) axis = t.shape(0) > t.shape(1) ? 0 : 1;
  const std::int64_t extent = t.shape(axis);
  if (random_.one_in(4)) {
    if (random_.one_in(3)) return limited(ops::softmax(t, axis), {0, 1});
    const Known y = random_.one_in(2) ? x : partner(x);
    if (y.tensor.shape() != t.shape()) return limited(ops::cumsum(t, axis), hull(x.elements, times(x.elements, extent)));
    return limited(t + ops::flip(y.tensor, axis), x.elements + y.elements);
  }
  const bool from_left = x.rank() == 2 && axis == 0;
  const std::int64_t inner = from_left ? extent : t.shape(-1);
  const Known weight = tensor_of({inner, inner}, t.dtype());
  const Tensor y = from_left ? ops::matmul(weight.tensor, t) : ops::matmul(t, weight.tensor);
  const Elements sums = times(x.elements * weight.elements, inner);
  double factor = 1;
  while (factor * sums.bound() > 16) factor /= 2;
  if (factor == 1) return limited(y, sums);
  return limited(y * factor, sums * Elements{factor, factor, 10, 0});
}

/// One of both in each place, or of each some.
constexpr Known Generator::combined(const Known& x, const Known& y) {
  switch (random_.below(4)) {
    case 0: return limited(x.tensor + y.tensor, x.elements + y.elements);
    case 1: return limited(x.tensor - y.tensor, x.elements - y.elements);
    case 2:
      return limited(ops::scaled_add(x.tensor, y.tensor, {.a = 0.5, .b = 2}),
                     x.elements * number_elements(0.5) + y.elements * number_elements(2));
    default: return limited(x.tensor * y.tensor, x.elements * y.elements);
  }
}

/// A connection past other ops: a tensor is read, or a view of it, when others were computed after its first use. Between both it
/// may change.
constexpr void Generator::skip() {
  const auto found = find([](const Known& k) {
    return k.is_real() && k.rank() > 1 && k.tensor.nelms() >= 9 && k.tensor.nelms() <= 600 && k.bound() <= 16;
  });
  const Known x = found ? *found : constant({3, 5}, tw::float32);
  known_.push_back(mixed(x));
  const Known first = known_.back();
  Known seen = first;
  if (random_.one_in(3)) seen.tensor = ops::flip(first.tensor, axis_of(first));
  Known y = like(first);
  if (y.memory == first.memory && !random_.one_in(4)) y = x;  // so that an op of the same step does not read it, too
  const Known sum = combined(first, mixed(y));
  known_.push_back(sum);
  Known after = mixed(sum);
  if (!features_.gradients && random_.one_in(3)) {
    change(first, first.elements + after.elements, false);
    ops::add_(first.tensor, after.tensor);
    if (seen.tensor == first.tensor) seen.elements = known_[known_.size() - 2].elements;
  }
  known_.push_back(combined(after, seen));
}

}  // namespace random_programs
