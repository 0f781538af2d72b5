#pragma once
// Steps of the generator: elementwise ops.
#include "generator.hpp"

namespace random_programs {

/// step_of(test) of one of the tests of ops that are meant.
constexpr std::optional<op_tests::Step> Generator::step_of_op(auto is_meant, auto step_of) {
  int count = 0;
  op_tests::for_each([&](auto test) { count += is_meant(test); });
  std::optional<op_tests::Step> step;
  int before = random_.below(count);
  op_tests::for_each([&](auto test) {
    if (is_meant(test) && before-- == 0) step = step_of(test);
  });
  return step;
}
/// An op of tests/ops that takes such an input; false if it does not take the one that is there.
constexpr bool Generator::op_in_file(Input input) {
  const auto find_input = [&]() -> std::optional<Known> {
    switch (input) {
      case Input::positive: return positive_real();
      case Input::numbers: return numbers();
      case Input::kinked: return apart(features_.gradients ? exact_real() : numbers());
      case Input::distinct: return distinct(features_.gradients ? exact_real() : numbers());
      default: return real();
    }
  };
  const auto x = find_input();
  if (!x) return false;
  const auto step = step_of_op([&](auto test) { return test.input == input; },
                               [&](auto test) { return test.random(*x, random_, features_.gradients); });
  if (step) push(step->tensor, step->elements);
  return step.has_value();
}

/// A smooth function of one tensor.
constexpr void Generator::unary() {
  const int kind = random_.below(20);
  if (kind < 18 && op_in_file(kind < 14 ? Input::real : Input::positive)) return;
  const Known x = real();
  if (features_.gradients || random_.one_in(2)) return push(x.tensor * number(), x.elements * Elements{-1.875, 1.875, 3, 0});
  push_view(ops::detach(x.tensor), x);
}

/// A function of one tensor that bends or jumps.
constexpr void Generator::kinked() {
  if (!op_in_file(Input::kinked)) unary();
}

constexpr void Generator::binary() {
  const Known x = real(), y = partner(x);
  const Elements& a = x.elements;
  const auto give = [&](Input input, const Known& left, const Known& right) {
    return step_of_op([&](auto test) { return test.input == input; },
                      [&](auto test) { return test.random_of_two(left, right, random_, features_.gradients); });
  };
  const int kind = random_.below(10);
  std::optional<op_tests::Step> step;
  if (kind == 0) {
    const double by = number();
    if (random_.one_in(2)) return push(by + x.tensor, a + number_elements(by));
    return push(by - x.tensor, number_elements(by) - a);
  }
  if (kind == 1 && !features_.gradients && x.tensor.dtype() == features_.half) {  // by a number of float32
    const Known factor = constant({}, tw::float32);
    return push(random_.one_in(2) ? x.tensor * factor.tensor : factor.tensor * x.tensor, a * factor.elements);
  }
  if (kind < 4) {  // the larger, the smaller, and what division leaves
    const Known left = features_.gradients ? exact_real() : x;
    const Known right = partner(left,
                                [&](const Known& k) { return !features_.gradients || (k.exact() && k.elements.slope <= 8); });
    const auto moved = apart(left, right.elements);
    if (moved && moved->tensor.dtype() == right.tensor.dtype()) step = give(Input::two_apart, *moved, right);
  }
  if (!step) step = give(Input::two, x, y);
  if (!step) return push(x.tensor * y.tensor, a * y.elements);
  push(step->tensor, step->elements);
}

constexpr void Generator::scaled_add() {
  const Known x = real(), y = like(x, 256);
  if (x.tensor.spec() != y.tensor.spec()) return binary();
  if (random_.one_in(3)) {
    const Known a = tensor_of({}, x.tensor.dtype()), b = tensor_of({1}, x.tensor.dtype());
    if (random_.one_in(2))
      return push(ops::scaled_add(x.tensor, y.tensor, a.tensor, b.tensor), x.elements * a.elements + y.elements * b.elements);
    return push(ops::scaled_add(x.tensor, y.tensor, {.a = 0.5, .b = b.tensor}),
                x.elements * number_elements(0.5) + y.elements * b.elements);
  }
  const double a = number(), b = number();
  Tensor other = y.tensor;
  if (!features_.gradients && random_.one_in(3)) other = other.cast(other.dtype() == tw::float32 ? features_.half : tw::float32);
  const Elements result = x.elements * number_elements(a) + y.elements * number_elements(b);
  push(ops::scaled_add(x.tensor, other, {.a = a, .b = b}), other == y.tensor ? result : result.rounded());
}

constexpr void Generator::compare() {
  const auto is_exact = [&](const Known& k) {
    return k.exact() && !(k.is_bool() && features_.gradients) && (!features_.gradients || k.elements.slope <= 8);
  };
  Known x = exact_numbers();
  if (!features_.gradients && random_.one_in(8)) x = condition();
  Known y = partner(x, is_exact);
  bool by_number = x.is_bool() || random_.one_in(4);
  if (by_number) y.elements = x.is_real() ? number_elements(1) : Elements{0, 2, 0, 0};
  const auto moved = apart(x, y.elements);
  if (!moved) return unary();
  const Tensor a = moved->tensor;
  const double number = x.is_bool() ? 1 : x.is_int() ? random_.below(3) : static_cast<double>(1 + random_.below(12)) / 8;
  const auto step = step_of_op([](auto test) { return test.input == Input::compared; },
                               [&]<class Test>(Test) -> std::optional<op_tests::Step> {
                                 if constexpr (Test::input == Input::compared)
                                   return {{by_number ? Test::call(a, number) : Test::call(a, y.tensor), {}}};
                                 else return std::nullopt;
                               });
  push(step->tensor, step->elements);
}

/// Bools: those that are there, or a comparison or a logical op.
constexpr Known Generator::condition() {
  for (int tries = 0;; ++tries) {
    if (const auto x = find([](const Known& k) { return k.is_bool(); }); x && random_.one_in(2)) return *x;
    const std::size_t before = known_.size();
    if (tries < 3) {
      const auto x = apart(exact_real());
      if (x)
        push(random_.one_in(2) ? ops::greater(x->tensor, 0)
                               : ops::less(x->tensor, 0.5 * power_of_two(x->elements.grain < 3 ? 1 : 0)),
             {});
    } else {
      tw::List<double> values{1, 0, 1};
      push(ops::logical_not(ir_.constant(values, {3}, tw::boolean)), {});
    }
    if (known_.size() > before) return known_.back();
  }
}

/// By bools: logical ops, and elements of one of two tensors.
constexpr void Generator::choose() {
  const Known c = condition();
  const auto fits = [&](const Known& k) {
    const auto common = tw::broadcast(c.tensor.shape(), k.tensor.shape());
    return common && common->nelms() <= 2048;
  };
  switch (random_.below(6)) {
    case 0: {
      const auto other = find([&](const Known& k) { return k.exact() && !features_.gradients && fits(k); });
      if (!other) return push(ops::logical_not(c.tensor), {});
      return push(random_.one_in(2) ? ops::logical_and(c.tensor, other->tensor) : other->tensor | c.tensor, {});
    }
    case 1: return push(!c.tensor, {});
    default: break;
  }
  const auto x = find([&](const Known& k) { return fits(k) && (!features_.gradients || k.is_real()); });
  if (!x) return push(ops::logical_or(c.tensor, c.tensor), {});
  if (random_.one_in(4)) return push(x->tensor[c.tensor], hull(x->elements, {0, 0, 0, 0}));
  if (x->is_real() && random_.one_in(4)) {
    const double otherwise = number();
    return push(ops::where(c.tensor, x->tensor, otherwise), hull(x->elements, number_elements(otherwise)));
  }
  const Known y = partner(*x, fits);
  const auto common = tw::broadcast(x->tensor.shape(), y.tensor.shape());
  if (!common || !tw::broadcast(*common, c.tensor.shape())) return push(!c.tensor, {});
  const Tensor mask = features_.gradients || random_.one_in(2) ? c.tensor
                                                               : c.tensor.cast(random_.one_in(2) ? tw::int32 : features_.half);
  push(ops::where(mask, x->tensor, y.tensor), hull(x->elements, y.elements));
}

/// Infinities and NaN: put into a tensor, and found.
constexpr void Generator::classify() {
  if (features_.gradients) return choose();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Known x = numbers();
  Tensor special = x.tensor;
  if (x.is_real() && !random_.one_in(4)) {
    const double values[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
    const Known c = condition();
    const auto common = tw::broadcast(c.tensor.shape(), x.tensor.shape());
    if (common && common->nelms() <= 2048) special = ops::where(c.tensor, x.tensor, values[random_.below(3)]);
    switch (random_.below(5)) {  // what hands it on
      case 0: special = -special; break;
      case 1: special = ops::abs(special); break;
      case 2: special = ops::relu(special); break;
      case 3: special = ops::maximum(special, 1); break;
      default: break;
    }
  }
  if (!random_.one_in(4)) {
    const auto step = step_of_op([](auto test) { return test.input == Input::special; },
                                 [&](auto test) { return test.random({special}, random_, false); });
    return push(step->tensor, step->elements);
  }
  push(ops::where(ops::isfinite(special), x.is_real() ? special : x.tensor, x.is_real() ? 0.5 : 1),
       hull(hull(x.elements, -x.elements), x.is_real() ? Elements{0.5, 1, 3, 0} : Elements{1, 1, 0, 0}));
}

}  // namespace random_programs
