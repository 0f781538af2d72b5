#pragma once
// Steps of the generator: reductions, and ops on lines along an axis.
#include "generator.hpp"

namespace random_programs {

/// Axes to reduce, and how many elements of a tensor come together in one.
struct ReducedAxes {
  tw::Axes axes{};
  std::int64_t count = 1;

  constexpr ReducedAxes(Random& random, const Known& x) {
    const int rank = x.rank();
    if (rank == 0 || random.one_in(4)) {
      count = x.tensor.nelms();
      return;
    }
    axes.all = false;
    const int first = random.below(rank), second = random.below(rank);
    for (int axis : {first, second}) {
      if (axis == second && (axis == first || !random.one_in(3)) && !axes.list.empty()) continue;
      axes.list.push_back(random.one_in(3) ? axis - rank : axis);
      count *= x.tensor.shape(axis);
    }
  }
};

/// Sums and the like.
constexpr void Generator::reduction() {
  const bool keep = random_.one_in(2);
  const int kind = random_.below(12);
  if (kind >= 9 && !features_.gradients) return selection();
  const Known x = kind < 5 ? numbers() : real();
  const ReducedAxes reduced(random_, x);
  const auto& [axes, count] = reduced;
  const Elements total = times(x.elements, count);
  const Elements square = x.elements * x.elements;
  switch (kind) {
    case 0:
    case 1: return push(random_.one_in(3) ? x.tensor.sum(axes, keep) : ops::sum(x.tensor, axes, keep), total);
    case 2:
      if (total.bound() > most_whole) return;
      return push(ops::mean(x.tensor, axes, keep), x.elements.rounded());
    case 3: {
      double most = 1;
      for (std::int64_t i = 0; i < count && most <= 1e6; ++i) most *= larger(x.bound(), 1);
      if (most > 1e4) return push(ops::sum(x.tensor, axes, keep), total);
      return push(ops::prod(x.tensor, axes, keep), {-most, most});
    }
    case 4:
      if (square.bound() * static_cast<double>(count) > most_whole) return;
      return push(ops::sumsquare(x.tensor, axes, keep), times({0, square.bound(), square.grain, square.slope}, count));
    case 5: {
      const auto moved = apart(features_.gradients ? exact_real() : x);
      if (!moved) return;
      const ReducedAxes of_moved(random_, *moved);
      const Elements& e = moved->elements;
      return push(ops::l1(moved->tensor, of_moved.axes, keep), times({0, e.bound(), e.grain, e.slope}, of_moved.count));
    }
    case 6: {
      const Known y = features_.gradients ? positive_real() : x;  // the root of 0 has no derivative
      const ReducedAxes of_y(random_, y);
      return push(ops::l2(y.tensor, of_y.axes, keep), {0, y.bound() * static_cast<double>(of_y.count)});
    }
    case 7: {
      const Known p = positive_real();
      const ReducedAxes of_p(random_, p);
      const auto n = static_cast<double>(of_p.count);
      return push(ops::logsum(p.tensor, of_p.axes, keep), {-2.8, larger(p.elements.high, 0) + 0.4 * n});
    }
    case 8:
      return push(ops::logsumexp(x.tensor, axes, keep), {x.elements.low, x.elements.high + 0.4 * static_cast<double>(count) + 1});
    default: return selection();
  }
}

/// One of the elements over axes.
constexpr void Generator::selection() {
  const Known x = features_.gradients ? exact_real() : numbers();
  const ReducedAxes reduced(random_, x);
  const auto& [axes, count] = reduced;
  const auto chosen = count <= 64 ? distinct(x) : std::nullopt;
  if (!chosen) return line();
  const bool keep = random_.one_in(2);
  switch (random_.below(3)) {
    case 0: return push(ops::max(chosen->tensor, axes, keep), chosen->elements);
    case 1: return push(ops::min(chosen->tensor, axes, keep), chosen->elements);
    default: return push(ops::median(chosen->tensor, axes, keep), chosen->elements);
  }
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
