#pragma once
// Steps of the generator: reductions, and ops on lines along an axis.
#include "generator.hpp"

namespace random_programs {

/// Sums and the like.
constexpr void Generator::reduction() {
  if (!op_in_file(Input::numbers)) selection();
}
/// One of the elements over axes.
constexpr void Generator::selection() {
  if (!op_in_file(Input::distinct)) line();
}

constexpr void Generator::line() {
  const int kind = random_.below(7);
  const bool is_exact = kind >= 3;
  const auto found = find([&](const Known& k) {
    return k.rank() > 0 && (is_exact ? k.exact() && !k.is_bool() : k.is_real()) &&
           (!features_.gradients || (k.is_real() && (!is_exact || k.elements.slope <= 8)));
  });
  const Known x = found ? *found : constant({3, 4}, tw::float32);
  const int axis = axis_of(x), given = signed_axis(axis, x.rank());
  const std::int64_t extent = x.tensor.shape(axis);
  const auto chosen = is_exact ? distinct(x, axis) : x;
  if (!chosen) return unary();
  const Tensor t = chosen->tensor;
  const Elements place{0, static_cast<double>(extent - 1), 0, 0};
  switch (kind) {
    case 0: return push(ops::softmax(t, given), {0, 1});
    case 1:
    case 2: {
      const Elements most = times(x.elements, extent);
      return push(ops::cumsum(t, given),
                  {smaller(x.elements.low, most.low), larger(x.elements.high, most.high), most.grain, most.slope});
    }
    case 3: {
      const bool keep = random_.one_in(2);
      return push(random_.one_in(2) ? ops::argmax(t, given, keep) : ops::argmin(t, given, keep), place);
    }
    case 4: {
      if (features_.gradients || !x.is_real()) return push(ops::argmax(t, given), place);
      tw::List<double> levels;
      double level = -2;
      for (int i = 2 + random_.below(4); i > 0; --i) levels.push_back(level += 0.25 * (1 + random_.below(6)));
      return push(ops::histogram(t, levels, random_.one_in(2)), {0, static_cast<double>(x.tensor.nelms()), 0, 0});
    }
    default: {
      const std::int64_t count = 1 + random_.below(extent);
      const auto top = ops::topk(t, count, given, random_.one_in(2));
      push(top.values, chosen->elements);
      if (random_.one_in(2)) push(top.indices, place);
    }
  }
}

}  // namespace random_programs
